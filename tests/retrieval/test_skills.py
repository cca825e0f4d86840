"""A body is given where the request shares telling words with a skill, and nowhere else."""

import pytest

from retrieval.skills import SkillChoice
from state.skill import Skill

OTHERS = (
    "Read the order of a customer.",
    "Change the order of a customer.",
    "Send the customer a message about the order.",
    "List the orders.",
    *(f"another text of the desk about an order, number {number}" for number in range(12)),
)


def skill(name: str, description: str) -> Skill:
    return Skill(name=name, description=description, body="b", files={"SKILL.md": b"b"})


CHOICE = SkillChoice(
    (
        skill("late-parcel", "Trace a parcel of an order that is late or lost in the post. Paquete perdido, tarde."),
        skill("gift-card", "Move the balance of a gift card of a customer to an order."),
    ),
    OTHERS,
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("My parcel is late, where is it?", ["late-parcel"]),
        ("LOST PARCELS?", ["late-parcel"]),
        ("Mi paquete llega tarde", ["late-parcel"]),
        ("What is the balance of my gift card?", ["gift-card"]),
        ("The parcel with the gift card of mine is lost, late!", ["late-parcel", "gift-card"]),
        ("What about the order of the customer?", []),
        ("parcel parcel parcels", []),
        ("", []),
    ],
)
def test_two_telling_words_make_a_match(question: str, names: list[str]) -> None:
    assert [one.name for one in CHOICE.matching(question, 2)] == names


def test_no_more_are_given_than_asked_for() -> None:
    question = "The parcel with the gift card of mine is lost, late!"
    assert [one.name for one in CHOICE.matching(question, 1)] == ["late-parcel"]
    assert CHOICE.matching(question, 0) == ()
    assert SkillChoice((), OTHERS).matching(question, 2) == ()
