"""Skills in a request: names in the prefix, a matching body as the operator's, what is too long left out by name."""

from state.context import Kind, Trust
from state.render import blocks
from state.skill import READ_SKILL_FILE, Skill
from state.work import DecisionKind, Form
from tests.nodes.packing import Packing, ids, reasons
from tests.nodes.parts import Parts


def skill(name: str, description: str, body: str = "First look, then answer.") -> Skill:
    return Skill(name=name, description=description, body=body, files={"SKILL.md": b"m"})


LATE = skill("late-parcel", "Traces a <parcel> that is late.", "Look at the <shipment> first.")
GIFT = skill("gift-card", "Moves the balance of a gift card.")
READS = {"tools": ("refund", READ_SKILL_FILE), "skills_limit": 1}


def packing(parts: Parts, *skills: Skill) -> Packing:
    parts.desk.contracts[READ_SKILL_FILE] = parts.desk.contracts["lookup"].model_copy(update={"name": READ_SKILL_FILE})
    return Packing(parts, skills=skills)


def asking(parts: Parts, question: str) -> dict[str, object]:
    return {"request": parts.request().model_copy(update={"turn_ref": parts.put(question)})}


def test_names_stand_sorted_at_the_end_of_the_prefix_where_files_can_be_read(parts: Parts) -> None:
    here = packing(parts, LATE, GIFT)
    found = here.manifest(decided=READS)
    assert ids(found)[:5] == ["role", READ_SKILL_FILE, "refund", "gift-card", "late-parcel"]
    (instruction, _) = here.replayed(found).messages
    assert instruction.content.endswith(
        f'<skill name="gift-card" version="{GIFT.version}">\nMoves the balance of a gift card.\n</skill>\n\n'
        f'<skill name="late-parcel" version="{LATE.version}">\nTraces a &lt;parcel&gt; that is late.\n</skill>'
    )
    turned = packing(parts, GIFT, LATE).manifest(decided=READS, **asking(parts, "My parcel is late"))
    assert turned.prefix_hash == found.prefix_hash
    assert not {"gift-card", "late-parcel"} & {*ids(here.manifest(decided={"skills_limit": 1}))}


def test_the_body_of_a_match_is_the_operators_and_stands_behind_the_examples(parts: Parts) -> None:
    here = packing(parts, LATE, GIFT)
    found = here.manifest(decided=READS | {"examples_limit": 1}, **asking(parts, "My parcel is late"))
    names = ids(found)
    assert [name for name in names if name.endswith("-body")] == ["late-parcel-body"]
    (example,) = [name for name in names if name.startswith("act-")]
    assert names.index("late-parcel-body") == names.index(example) + 1
    item = next(one for one in found.items if one.item_id == "late-parcel-body")
    assert (item.kind, item.trust, item.source, item.version) == (
        Kind.INSTRUCTION,
        Trust.POLICY,
        "skill_body://late-parcel",
        LATE.version,
    )
    shown = [one for one in blocks(here.replayed(found).messages[1].content) if one.tag == "skill_body"]
    assert [one.text for one in shown] == ["Look at the <shipment> first."]


def test_without_a_match_or_a_limit_no_body_is_shown(parts: Parts) -> None:
    here = packing(parts, LATE, GIFT)
    late = asking(parts, "My parcel is late")
    for found in (here.manifest(decided=READS), here.manifest(decided=READS | {"skills_limit": 0}, **late)):
        assert not [name for name in ids(found) if name.endswith("-body")]


def test_a_body_too_long_for_the_request_is_left_out_by_name(parts: Parts) -> None:
    long = LATE.model_copy(update={"body": "x" * 30_000})
    found = packing(parts, long).manifest(decided=READS, **asking(parts, "My parcel is late"))
    assert "late-parcel-body" not in ids(found)
    assert reasons(found)["late-parcel-body"] == "over_share"


def test_a_plan_lap_takes_a_body_since_a_person_reviewed_it(parts: Parts) -> None:
    decided = READS | {"kind": DecisionKind.PLAN, "tools": (), "forms": (Form.PLAN,)}
    found = packing(parts, LATE).manifest(decided=decided, **asking(parts, "My parcel is late"))
    assert "late-parcel-body" in ids(found)
    assert all(item.trust is not Trust.UNTRUSTED for item in found.items)
