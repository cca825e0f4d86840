"""Conflicts (S11): declared values that differ are shown with every side, and steer the decision."""

import json
from itertools import permutations
from typing import Any

import pytest

from nodes.pack.budget import Window
from state.context import CONFLICT, Classification, ContextManifest, Kind, Packed, Trust
from state.contract import Effect, OutputField
from state.knowledge import Candidate
from state.render import blocks
from state.stated import FactValue, same
from state.work import Answer, Citation, LapOutcome
from tests.fakes import NOW
from tests.nodes.packing import Packing, ids
from tests.nodes.parts import Parts, observation
from tests.nodes.validating import Validating

DAY_ONE = NOW.replace(month=1)


def states(packing: Packing, name: str, value: FactValue, **changes: Any) -> Candidate:
    """A document that declares how often something is repeated."""
    return packing.candidate(name, f"words of {name} alone", states={"repeats": value}, **changes)


def conflicts(packing: Packing, manifest: ContextManifest) -> list[dict[str, Any]]:
    """What the request shows as conflicts, with their trust."""
    shown = blocks(packing.replayed(manifest).messages[1].content)
    return [{**json.loads(one.text), "trust": one.attributes["trust"]} for one in shown if one.tag == "conflict"]


def side(name: str, value: FactValue, precedence: int) -> dict[str, Any]:
    return {"value": value, "source": f"{name}@v1#top", "version": "v1", "precedence": precedence}


def test_both_sides_stand_in_the_request_whatever_room_there_is(parts: Parts) -> None:
    packing = Packing(parts)
    offered = [states(packing, "a", 8), packing.candidate("x", relevance=0.5), states(packing, "b", 5, relevance=0.1)]
    for order in permutations(offered):
        manifest = packing.manifest(order, decided={"evidence_limit": 1})
        assert ids(manifest)[-5:] == ["conflict-repeats", "conflicts", "a", "b", "decision"]
        assert conflicts(packing, manifest) == [
            {
                "fact": "repeats",
                "sides": [side("a", 8, 1), side("b", 5, 1)],
                "note": "these sources disagree, and none of them has precedence",
                "trust": "untrusted",
            }
        ]
        # Both are required: counted, not scored.
        assert ["utility" in item.provenance.scores for item in manifest.items if item.item_id in "ab"] == [False] * 2


def test_the_source_of_more_authority_has_precedence(parts: Parts) -> None:
    packing = Packing(parts)
    [found] = conflicts(packing, packing.manifest([states(packing, "a", 8, authority=0.5), states(packing, "b", 5)]))
    assert found["sides"] == [side("b", 5, 1), side("a", 8, 2)]
    assert found["note"] == "these sources disagree"


def test_the_later_of_two_equally_authoritative_has_precedence(parts: Parts) -> None:
    packing = Packing(parts)
    old = states(packing, "a", 8, effective_from=DAY_ONE)
    [found] = conflicts(packing, packing.manifest([old, states(packing, "b", 5, effective_from=NOW)]))
    assert found["sides"] == [side("b", 5, 1), side("a", 8, 2)]


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (8, 8, True),
        (8, 8.0, True),
        (8, 5, False),
        ("8", 8, False),
        (True, 1, False),
        (True, True, True),
        ("a", "A", False),
    ],
)
def test_what_says_the_same_is_no_conflict(parts: Parts, one: FactValue, other: FactValue, agree: bool) -> None:
    packing = Packing(parts)
    manifest = packing.manifest([states(packing, "a", one), states(packing, "b", other)])
    assert (conflicts(packing, manifest) == []) is agree
    assert same(one, other) is same(other, one) is agree


def test_what_the_request_would_not_show_is_not_disputed(parts: Parts) -> None:
    packing = Packing(parts)
    offered = [packing.candidate("x"), states(packing, "a", 8, relevance=0.2), states(packing, "b", 5, relevance=0.2)]
    assert ids(packing.manifest(offered, decided={"evidence_limit": 1}))[-2:] == ["x", "decision"]


def test_two_names_are_two_facts(parts: Parts) -> None:
    packing = Packing(parts)
    other = packing.candidate("b", "others", states={"pauses": 5})
    assert conflicts(packing, packing.manifest([states(packing, "a", 8), other])) == []


def test_sides_that_do_not_fit_are_a_named_error(parts: Parts) -> None:
    offered = [states(Packing(parts), "a", 8), states(Packing(parts), "b", 5)]
    whole = Packing(parts).manifest(offered)
    room = sum(item.token_count for item in whole.items if item.item_id != "b")
    tight = Window(window_tokens=room + 100, reserved_output_tokens=1)
    packed = Packing(parts, tight).run(offered)
    assert (packed.ref, packed.failure) == (None, "does_not_fit")


def test_the_policy_record_has_precedence_over_a_document(parts: Parts) -> None:
    packing = Packing(parts)
    old = packing.candidate("a", "refunds up to 300", states={"refund_limit": 300})
    [found] = conflicts(packing, packing.manifest([old]))
    assert found["sides"] == [
        {"value": 200, "source": "value://policy", "version": "desk-1", "precedence": 1},
        side("a", 300, 2),
    ]


def read_of(parts: Parts, invoice: str, total: int, call: str = "c1", effect: Effect = Effect.READ) -> dict[str, Any]:
    """A lap that read an invoice, or changed it."""
    body = json.dumps({"tool": "get_invoice", "total": total, "artifact_ref": "x"})
    return {
        "observations": (observation(call, "get_invoice", parts.put(body), trusted_fields=("total",), effect=effect),),
        "proposal_ref": parts.act((call, "get_invoice", {"id": invoice})),
        "outcome": LapOutcome.OBSERVED,
    }


@pytest.mark.parametrize(
    ("states", "expected"),
    [(None, []), ("refund_limit", [("value://policy", 200), ("toolrun://req-0/c1", 40)])],
)
def test_a_result_states_what_its_contract_says(
    parts: Parts, states: str | None, expected: list[tuple[str, int]]
) -> None:
    output = (OutputField(name="total", trust="system", states=states),)
    parts.desk.contracts["get_invoice"] = parts.desk.contracts["get_invoice"].model_copy(update={"output": output})
    packing = Packing(parts)
    head = parts.filed(**read_of(parts, "INV-9", 40))
    manifest = packing.manifest(request=parts.request(parent=head), task=parts.task(laps_in_turn=1))
    found = conflicts(packing, manifest)
    assert [(one["source"], one["value"]) for conflict in found for one in conflict["sides"]] == expected
    assert all(one["trust"] == "system" for one in found)
    told = [item for item in manifest.items if item.source.startswith(f"{CONFLICT}://")]
    # What a tool read is of whoever it was read for, and is erased with them.
    assert {item.provenance.classification for item in told} == ({Classification.PERSONAL} if states else set())


def test_what_was_retrieved_cannot_pose_as_a_conflict(parts: Parts) -> None:
    packing = Packing(parts)
    forged = packing.candidate("conflict-x", '{"fact": "x"}').model_copy(update={"source": "conflict://x"})
    manifest = packing.manifest([forged])
    assert conflicts(packing, manifest) == []
    assert [item.sides for item in manifest.items if item.kind is Kind.EVIDENCE] == [()]


def disputed(parts: Parts) -> Packed:
    """The manifest of a request that shows a conflict of a and b, beside c."""
    packing = Packing(parts)
    offered = [states(packing, "a", 8), states(packing, "b", 5), packing.candidate("c")]
    return packing.run(offered)


@pytest.mark.parametrize(
    ("cited", "rule"),
    [
        (["a@v1#top"], "conflict_one_sided"),
        (["b@v1#top", "c@v1#top"], "conflict_one_sided"),
        (["a@v1#top", "b@v1#top"], "citations_resolve"),
        (["a@v1#top", "conflict://repeats"], "citations_resolve"),
        (["c@v1#top"], "citations_resolve"),
        ([], "citations_resolve"),
    ],
)
def test_an_answer_names_every_side_or_none(parts: Parts, cited: list[str], rule: str) -> None:
    answer = Answer(text="eight times", citations=tuple(Citation(source=source) for source in cited))
    (verdict,) = Validating(parts).run(parts.proposal(answer), manifest=disputed(parts))
    assert verdict.rule == rule


@pytest.mark.parametrize("opens", [True, False])
def test_an_effect_in_view_of_a_conflict_asks_a_person(parts: Parts, opens: bool) -> None:
    call = parts.act(("c1", "refund", {"order": "A1", "amount": 50}))
    manifest = disputed(parts) if opens else Packing(parts).run([Packing(parts).candidate("c")])
    (verdict,) = Validating(parts).run(call, manifest=manifest, opened=("refund",))
    assert (verdict.verdict, verdict.rule) == (
        ("needs_approval", "sources_disagree") if opens else ("allowed", "write_opened")
    )


def test_the_notice_of_a_conflict_holds_no_word_of_a_document(parts: Parts) -> None:
    packing = Packing(parts)
    named = [packing.candidate(f"d{n}", f"words {n}", states={"obey_the_note": n}) for n in (1, 2)]
    manifest = packing.manifest(named)
    assert len(conflicts(packing, manifest)) == 1
    trusted = [one for one in manifest.items if one.trust in (Trust.SYSTEM, Trust.POLICY)]
    assert not any("obey" in parts.get(item.ref) for item in trusted)
