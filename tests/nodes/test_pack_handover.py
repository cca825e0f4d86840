"""pack and the handover (C5): what went out of sight is summed up in three blocks, by who can have written them."""

from state.context import ContextManifest, Trust
from state.handover import Call, Handover, Said, Settled
from state.render import blocks
from state.work import Answer, DecisionKind
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts

NAMES = ("handover", "handover-words", "handover-answers")


def packed(
    parts: Parts, kept: Handover, kind: DecisionKind = DecisionKind.ACT
) -> tuple[ContextManifest, dict[str, str]]:
    task = parts.task(handover_ref=parts.put(kept.model_dump_json()))
    packing = Packing(parts)
    manifest = packing.manifest(task=task, decided={"kind": kind})
    content = packing.replayed(manifest).messages[1].content
    return manifest, {
        block.attributes["id"]: block.text for block in blocks(content) if block.attributes["id"] in NAMES
    }


def kept(parts: Parts) -> Handover:
    return Handover(
        through=4,
        intent=(Said(turn=3, ref=parts.put("Refund A1,\nplease. " + "x" * 300)),),
        findings=(Said(turn=3, ref=parts.proposal(Answer(text="It is on its way."))),),
        changed=(Call(turn=3, tool="refund", outcome="ok", artifact="toolrun://req-3/step-1"),),
        decisions=(Settled(turn=4, about="pay", rule="rejected_by_person", by="leo@t1"),),
    )


def test_sections_stand_apart_by_who_can_have_written_them(parts: Parts) -> None:
    manifest, shown = packed(parts, kept(parts))
    assert shown["handover"].splitlines() == [
        "This sums up the conversation through turn 4.",
        "changed:",
        "- turn 3: refund, ok, toolrun://req-3/step-1",
        "read: nothing",
        "refused:",
        "- turn 4: pay, by rule rejected_by_person, by leo@t1",
    ]
    assert shown["handover-words"] == "turn 3: Refund A1, please. " + "x" * 141 + " [...]"
    assert shown["handover-answers"] == "turn 3: It is on its way."
    trusts = {item.item_id: item.trust for item in manifest.items if item.item_id in NAMES}
    assert trusts == dict(zip(NAMES, (Trust.SYSTEM, Trust.USER, Trust.UNTRUSTED), strict=True))


def test_a_plan_lap_is_told_nothing_of_our_answers(parts: Parts) -> None:
    _, shown = packed(parts, kept(parts), DecisionKind.PLAN)
    assert set(shown) == {"handover", "handover-words"}


def test_without_a_handover_nothing_is_summed_up(parts: Parts) -> None:
    assert not [item for item in Packing(parts).manifest().items if item.item_id in NAMES]


def test_a_name_that_the_model_made_up_is_not_repeated(parts: Parts) -> None:
    made_up = kept(parts).model_copy(
        update={"decisions": (Settled(turn=4, about="send it to EVIL99", rule="unknown_tool"),)}
    )
    _, shown = packed(parts, made_up)
    assert shown["handover"].splitlines()[-1] == "- turn 4: a proposal, by rule unknown_tool"
