"""Compaction of a turn's results (C3, C4, C6, C7): by rule first, then by share; a call keeps one result."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from nodes.pack.budget import Window
from state.context import CONFLICT, ContextManifest, MaskReason
from state.contract import Effect, OutputField
from state.policy import Policy
from state.render import blocks
from tests.desk import POLICY
from tests.nodes.packing import WIDE, Packing
from tests.nodes.parts import Parts, act, observation

LOOK: dict[str, JsonValue] = {"order": "A1"}
NAMED = {"outcome", "artifact_ref", "tool", "note", "newer", "error"}


class Turn:
    """A turn of laps with one call each, oldest first."""

    def __init__(self) -> None:
        self.parts, self.laps = Parts(), 0
        self.head: str | None = None

    def call(self, tool: str, arguments: dict[str, JsonValue], fields: dict[str, Any], **seen: Any) -> "Turn":
        number = self.laps
        body = {"tool": tool, **fields, "artifact_ref": f"toolrun://req-0/c{number}"}
        trusted = tuple(name for name in fields if name != "memo")
        found = observation(
            f"c{number}",
            tool,
            self.parts.put(json.dumps(body)),
            **{"trusted_fields": trusted, "arguments_digest": json.dumps(arguments, sort_keys=True), **seen},
        )
        proposal = self.parts.proposal(act((f"c{number}", tool, arguments)))
        self.head = self.parts.filed(
            parent=self.head, index=number, proposal_ref=proposal, observations=(found,), turn_index=1
        )
        self.laps += 1
        return self

    def manifest(self, policy: Policy = POLICY, window: Window = WIDE) -> ContextManifest:
        request, task = self.parts.request(parent=self.head), self.parts.task(laps_in_turn=self.laps)
        return Packing(self.parts, window, policy=policy).manifest(request=request, task=task)

    def shown(self, **given: Any) -> dict[str, Any]:
        """What each call's block says."""
        manifest = self.manifest(**given)
        content = Packing(self.parts).replayed(manifest).messages[1].content
        found = [block for block in blocks(content) if block.tag == "observation"]
        return {block.attributes["id"]: json.loads(block.text) for block in found}


def look(turn: Turn, order: str = "A1", **fields: Any) -> Turn:
    seen = {name: fields.pop(name) for name in ("outcome", "code") if name in fields}
    return turn.call("lookup", {"order": order}, {"order": order, "state": "shipped", **fields}, **seen)


def refund(turn: Turn, order: str = "A1", outcome: str = "ok") -> Turn:
    return turn.call("refund", {"order": order, "amount": 5}, {"order": order}, effect=Effect.WRITE, outcome=outcome)


def reasons(manifest: ContextManifest) -> dict[str, str]:
    return {one.item_id: one.reason.value for one in manifest.masked}


TABLE: dict[str, tuple[Any, dict[str, str]]] = {
    "the latest is whole": (lambda turn: look(turn), {}),
    "an older one is whole while there is room": (lambda turn: look(look(turn), "A2"), {}),
    "what was read again": (lambda turn: look(look(turn)), {"0-c0": "repeated"}),
    "a read of another is not repeated": (lambda turn: look(look(turn, "A2"), "A1"), {}),
    "what an effect changed": (lambda turn: refund(look(turn)), {"0-c0": "changed_since"}),
    "what an effect may have changed": (lambda turn: refund(look(turn), outcome="unknown"), {"0-c0": "changed_since"}),
    "an effect that failed changed nothing": (lambda turn: refund(look(turn), outcome="error"), {}),
    "an effect on another": (lambda turn: refund(look(turn), "A2"), {}),
    "an effect before it": (lambda turn: look(refund(turn)), {}),
    "an effect is no read": (lambda turn: look(refund(refund(turn)), "A2"), {}),
    "nothing was found": (lambda turn: look(look(turn, outcome="empty"), "A2"), {"0-c0": "empty"}),
    "nothing was found, just now": (lambda turn: look(turn, outcome="empty"), {}),
    "a failure that lasts": (lambda turn: look(look(turn, outcome="error", code="busy"), "A2"), {}),
    "not knowing that lasts": (lambda turn: look(refund(turn, outcome="unknown"), "A2"), {}),
    "a failure that was mended": (
        lambda turn: look(look(look(turn, outcome="error", code="busy")), "A2"),
        {"0-c0": "repeated"},
    ),
    "a failure that came again": (
        lambda turn: look(look(turn, outcome="error", code="busy"), outcome="error", code="busy"),
        {},
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_is_shown_in_another_form_is_decided_by_the_table(name: str) -> None:
    tell, expected = TABLE[name]
    manifest = tell(Turn()).manifest()
    assert reasons(manifest) == expected


def test_what_is_named_only_keeps_its_place_and_says_where_all_of_it_is() -> None:
    turn = look(look(Turn()))
    shown = turn.shown()
    assert list(shown) == ["0-c0", "1-c1"]
    assert shown["0-c0"] == {
        "tool": "lookup",
        "outcome": "ok",
        "artifact_ref": "toolrun://req-0/c0",
        "note": "the same was read again later",
        "newer": "toolrun://req-0/c1",
    }
    (masked,) = turn.manifest().masked
    assert "shipped" in turn.parts.get(masked.original_ref)


def test_a_stale_copy_shows_nothing_of_what_it_said() -> None:
    shown = refund(look(Turn(), memo="call me")).shown()
    assert shown["0-c0"].keys() <= NAMED
    assert "0-c0-text" not in shown  # what third parties wrote goes with it
    assert "shipped" not in json.dumps(shown["0-c0"])


@pytest.mark.parametrize("share", [0.45, 0.000_1])
@pytest.mark.parametrize(("changed", "sides"), [(False, 2), (True, 0)])
def test_what_is_no_longer_so_is_no_side_of_a_conflict_shown_or_not(share: float, changed: bool, sides: int) -> None:
    turn = look(Turn())
    desk = turn.parts.desk
    output = (*desk.contracts["lookup"].output, OutputField(name="state", trust="system", states="refund_limit"))
    desk.contracts["lookup"] = desk.contracts["lookup"].model_copy(update={"output": output})
    manifest = look(refund(turn, "A1" if changed else "A2"), "A3", state=200).manifest(with_share(share))
    told = [item for item in manifest.items if item.source.startswith(f"{CONFLICT}://")]
    assert [len(item.provenance.derived_from) for item in told] == ([sides] if sides else [])


def with_share(share: float) -> Policy:
    return POLICY.model_copy(update={"observation_share": share})


def test_within_the_share_the_newest_are_whole_then_summarised_then_left_out() -> None:
    turn = Turn()
    for number in range(8):
        look(turn, f"B{number}", memo="y" * 400, **{f"part_{part}": "x" * 400 for part in range(6)})
    assert reasons(turn.manifest(with_share(0.45))) == {}
    manifest = turn.manifest(with_share(0.089))
    out, masked = {one.item_id for one in manifest.dropped}, reasons(manifest)
    forms = ["out" if name in out else masked.get(name, "whole") for name in (f"{n}-c{n}" for n in range(8))]
    assert forms == sorted(forms, key=("out", "summarised", "whole").index)
    assert set(forms) == {"out", "summarised", "whole"}
    manifest = turn.manifest(with_share(0.000_1))
    assert {one.reason.value for one in manifest.dropped} == {"over_share"}
    assert [item.item_id for item in manifest.items if item.kind == "tool" and "c" in item.item_id][-2:] == [
        "7-c7",
        "7-c7-text",
    ]  # the latest is never masked


def test_a_summary_says_when_it_was_read_and_keeps_the_record_systems_fields() -> None:
    turn = Turn()
    for number in range(8):
        look(turn, f"B{number}", state="x" * 400, memo="y" * 400)
    policy = with_share(0.03)
    (name, *_) = (one.item_id for one in turn.manifest(policy).masked if one.reason is MaskReason.SUMMARISED)
    told = turn.shown(policy=policy)[name]
    assert told["summary_of"] == "what was read at turn 1"
    assert told["order"].startswith("B")
    assert told["state"] == "x" * 120 + " [...]"
    assert "y" not in told["state"]
    assert "memo" not in told


CALL = st.tuples(
    st.sampled_from(["look", "refund"]),
    st.sampled_from(["A1", "A2"]),
    st.sampled_from(["ok", "empty", "error", "unknown"]),
)


@settings(max_examples=60, deadline=None)
@given(calls=st.lists(CALL, min_size=1, max_size=8), share=st.sampled_from([0.000_1, 0.005, 0.02, 0.45]))
def test_every_call_that_is_shown_has_one_result_in_its_place(calls: list[tuple[str, str, str]], share: float) -> None:
    turn = Turn()
    for kind, order, outcome in calls:
        if kind == "look":
            look(turn, order, outcome=outcome)
        else:
            refund(turn, order, outcome)
    names = [f"{n}-c{n}" for n in range(len(calls))]
    manifest = turn.manifest(with_share(share))
    out = {one.item_id for one in manifest.dropped}
    assert list(turn.shown(policy=with_share(share))) == [name for name in names if name not in out]
    assert names[-1] not in out | set(reasons(manifest))
    if share == 0.45:
        assert not out


def test_a_long_turn_stays_within_its_budget_however_long_it_is() -> None:
    turn, window = Turn(), Window(window_tokens=9_000, reserved_output_tokens=1_000)
    sizes = []
    for number in range(60):
        look(turn, f"B{number}", state="x" * 900)
        sizes.append(turn.manifest(window=window).total_input_tokens)
    assert max(sizes) <= 8_000
