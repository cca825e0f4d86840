"""Strategies of packing (B3): what each shows of older results, and the laws that hold under all of them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.pack.budget import Window
from nodes.pack.strategy import STRATEGIES, UnknownStrategy
from state.checks.known import known
from state.checks.origin import Shown
from state.checks.sources import Sources
from state.checks.trace import traced
from state.context import ContextManifest, Kind, Trust
from state.contract import Effect, OutputField, ToolContract
from state.labels import Label
from state.policy import Policy
from state.render import blocks
from state.task import TurnDone
from tests.desk import POLICY
from tests.fakes import NOW
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts
from tests.nodes.test_pack_compact import Turn, look, refund

NARROW = Window(window_tokens=6_000, reserved_output_tokens=1_000)


def by(strategy: str, **more: Any) -> Policy:
    return POLICY.model_copy(update={"strategy": strategy, **more})


def forms_of(turn: Turn, strategy: str) -> str:
    """One letter for each call, oldest first: Whole, Summarised, Index row, gone (-)."""
    manifest = turn.manifest(by(strategy), NARROW)
    request = Packing(turn.parts).replayed(manifest).messages[1].content
    listed = {
        row["artifact_ref"].rpartition("/c")[2]
        for block in blocks(request)
        if block.tag == "index"
        for row in json.loads(block.text)["rows"]
    }
    masked = {one.item_id: one.reason.value for one in manifest.masked}
    out = {one.item_id for one in manifest.dropped}
    letters = {"summarised": "S"}
    return "".join(
        ("I" if str(n) in listed else "-") if f"{n}-c{n}" in out else letters.get(masked.get(f"{n}-c{n}", ""), "W")
        for n in range(turn.laps)
    )


def ten_looks() -> Turn:
    turn = Turn()
    for number in range(10):
        look(turn, f"B{number}", **{f"part_{part}": "x" * 130 for part in range(3)})
    return turn


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("utility", "IIIIIIIIWW"),
        ("category_shares", "IIIIIIIIWW"),
        ("fixed_reservations", "IIIIIIIIIW"),
        ("sliding_window", "-------WWW"),
        ("external_memory", "IIIIIIIIIW"),
    ],
)
def test_older_results_are_shown_as_the_strategy_says(strategy: str, expected: str) -> None:
    assert forms_of(ten_looks(), strategy) == expected


def test_a_policy_that_names_no_strategy_is_refused_when_the_node_is_made() -> None:
    with pytest.raises(UnknownStrategy, match="got the strategy 'newest'; allowed: utility, category_shares"):
        Packing(Parts(), policy=by("newest"))


def test_of_what_is_left_out_effects_are_listed_before_reads() -> None:
    turn = refund(Turn(), "A9")
    for number in range(24):
        look(turn, f"B{number}", **{f"part_{part}": "x" * 130 for part in range(3)})
    shown = forms_of(turn, "utility")
    assert shown[0] == "I"  # the oldest of all
    assert shown[1] == "-"


@pytest.mark.parametrize(("strategy", "kept"), [("utility", [1, 2, 3, 4]), ("category_shares", [3, 4])])
def test_earlier_turns_keep_to_their_part(strategy: str, kept: list[int]) -> None:
    parts, head, turns = Parts(), None, []
    for index in range(1, 5):
        head = parts.filed(parent=head, index=index, turn_ref=parts.put(f"{index} " + "w" * 300), turn_index=index)
        turns.append(TurnDone(index=index, record=head))
    request, task = parts.request(parent=head, turn_index=5), parts.task(turns=tuple(turns))
    window = Window(window_tokens=4_600, reserved_output_tokens=100)
    manifest = Packing(parts, window, policy=by(strategy)).manifest(request=request, task=task)
    found = [item.provenance.origin_turn for item in manifest.items if item.item_id.startswith("turn-")]
    assert found == kept


@pytest.mark.parametrize(
    ("strategy", "entered"), [("utility", 3), ("category_shares", 2), ("fixed_reservations", 1), ("sliding_window", 3)]
)
def test_what_was_retrieved_keeps_to_its_part(strategy: str, entered: int) -> None:
    packing = Packing(Parts(), Window(window_tokens=4_600, reserved_output_tokens=100), policy=by(strategy))
    offers = [packing.candidate(name, f"{name} " * 400) for name in "abc"]
    manifest = packing.manifest(offers)
    assert [item.kind for item in manifest.items].count(Kind.EVIDENCE) == entered


CALLS = st.lists(
    st.tuples(st.sampled_from(["look", "refund"]), st.integers(1, 9), st.integers(0, 600)), min_size=1, max_size=14
)


@settings(max_examples=60, deadline=None)
@given(calls=CALLS, strategy=st.sampled_from(sorted(STRATEGIES)), room=st.integers(2_000, 8_000))
def test_under_every_strategy_the_budget_holds_and_a_call_has_one_result_at_most(
    calls: list[tuple[str, int, int]], strategy: str, room: int
) -> None:
    turn = Turn()
    for kind, order, size in calls:
        look(turn, f"B{order}", more="x" * size) if kind == "look" else refund(turn, f"B{order}")
    packing = Packing(turn.parts, Window(window_tokens=room, reserved_output_tokens=100), policy=by(strategy))
    candidates = [packing.candidate(name, name * 300) for name in "ab"]
    request, task = turn.parts.request(parent=turn.head), turn.parts.task(laps_in_turn=turn.laps)
    packed = packing.run(candidates, request=request, task=task)
    if packed.failure == "does_not_fit":
        return
    assert packed.ref is not None
    manifest = ContextManifest.model_validate_json(turn.parts.get(packed.ref))
    assert manifest.total_input_tokens <= room - 100
    assert sum(item.token_count for item in manifest.items) <= manifest.budget_tokens
    shown = [item.item_id for item in manifest.items if item.source.startswith("toolrun://")]
    gone = [one.item_id for one in manifest.dropped if one.source.startswith("toolrun://")]
    assert sorted(shown + gone) == sorted(f"{n}-c{n}" for n in range(len(calls)))
    assert shown[-1] == f"{len(calls) - 1}-c{len(calls) - 1}"
    listed = [item for item in manifest.items if item.source.startswith("index://")]
    assert bool(listed) <= bool(gone)


INDEXED = sorted(set(STRATEGIES) - {"sliding_window"})


@settings(max_examples=40, deadline=None)
@given(
    changes=st.sets(st.integers(0, 15), max_size=4),
    size=st.integers(0, 900),
    strategy=st.sampled_from(INDEXED),
)
def test_what_was_changed_is_shown_or_listed_however_much_was_read_since(
    changes: set[int], size: int, strategy: str
) -> None:
    turn = Turn()
    for number in range(16):
        refund(turn, f"C{number}") if number in changes else look(turn, f"B{number}", more="x" * size)
    manifest = turn.manifest(by(strategy), Window(window_tokens=8_000, reserved_output_tokens=100))
    content = Packing(turn.parts).replayed(manifest).messages[1].content
    assert all(f'toolrun://req-0/c{number}"' in content for number in changes)


CONTRACT = ToolContract(
    name="lookup",
    description="",
    effect=Effect.READ,
    parameters={"type": "object", "properties": {"order": {"type": "string"}}, "additionalProperties": False},
    roles=(),
    resources={"order": "order"},
    output=(OutputField(name="order", trust="system", identifies="order"),),
)
READER = CONTRACT.model_copy(update={"name": "read_result", "resources": {"artifact_ref": "result"}})


def test_a_row_of_the_index_gives_its_values_the_label_of_the_result_and_its_name_the_label_of_a_name() -> None:
    body = {"tool": "lookup", "truncated": True, "rows": [{"order": "B7", "artifact_ref": "toolrun://req-0/c7"}]}
    shown = tuple(
        Shown("index-lookup", trust, json.dumps(body), "index://lookup") for trust in (Trust.SYSTEM, Trust.UNTRUSTED)
    )

    def label(one: Shown, tool: ToolContract, argument: str, value: str) -> tuple[Label, object]:
        rows = known((one,), {"lookup": CONTRACT})
        (found,) = traced(tool, {argument: value}, Sources((one,), rows, NOW.date()))
        return found.label, found.chosen

    assert label(shown[0], CONTRACT, "order", "B7") == (Label.SERVER, None)
    assert label(shown[0], READER, "artifact_ref", "toolrun://req-0/c7") == (Label.SERVER, None)
    assert label(shown[0], READER, "artifact_ref", "toolrun://req-0/c8") == (Label.NOWHERE, None)
    assert label(shown[1], READER, "artifact_ref", "toolrun://req-0/c7") == (Label.UNTRUSTED, None)
    assert all(row.steered for row in known(shown[:1], {"lookup": CONTRACT}) if row.cells[0].field.name == "order")
