"""An amount follows from what was said only by a step that the words name, out of two things that they mention (X4)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.checks.amounts import derived

DERIVED: dict[str, tuple[str, str, list[str], list[str]]] = {
    "a percentage of what is held": ("10% of the rent", "70", ["10"], ["700"]),
    "a price raised by a percentage": ("raise the rent by 10 percent", "770", ["10"], ["700"]),
    "a percentage and a fee": ("10% of the rent + a fee of 5", "75", ["10", "5"], ["700"]),
    "a price lowered by a percentage": ("the rent less 10%", "630", ["10"], ["700"]),
    "more than what is held": ("5 more than last time", "25", ["5"], ["20"]),
    "a difference": ("the difference between 30 and 12", "18", ["30", "12"], []),
    "what was paid, less something": ("what he paid minus 12", "88", ["12"], ["100"]),
    "a share": ("split 90 between 3", "30", ["90", "3"], []),
    "half": ("half of the rent", "350", [], ["700"]),
    "twice": ("twice the rent", "1400", [], ["700"]),
    "what was paid beyond a share": (
        "dinner with a friend was 30; he paid too much for his share, return the difference",
        "5",
        ["30"],
        ["20"],
    ),
    "what was paid beyond a share of three": (
        "the three of us split 90 evenly, send her the difference",
        "10",
        ["90"],
        ["40"],
    ),
    "what was paid beyond the share of a dinner with two": (
        "dinner with two friends was 90, their share is equal: send the difference",
        "10",
        ["90"],
        ["40"],
    ),
    "a sum in Spanish": ("el alquiler más 20", "720", ["20"], ["700"]),
}
NOT_DERIVED: dict[str, tuple[str, str, list[str], list[str]]] = {
    "one number with itself, added": ("pay bob 5", "15", ["5"], []),
    "one number with itself, raised": ("pay bob 5 more", "10", ["5"], []),
    "one number with itself, as a percentage": ("pay bob 5000", "255000", ["5000"], []),
    "two numbers without a step": ("pay bob 5 and ana 7", "12", ["5", "7"], []),
    "another step than the one named": ("the difference between 30 and 12", "42", ["30", "12"], []),
    "a product": ("pay bob 5000 more than 50", "250000", ["5000", "50"], []),
    "two steps on end": ("5 more than last time", "30", ["5"], ["20"]),
    "a share among nobody knows how many": (
        "30 for dinner; he paid his share, return the difference",
        "5",
        ["30"],
        ["20"],
    ),
    "a share among two or three": (
        "the three of us, with a friend, shared 30; return the difference",
        "5",
        ["30"],
        ["20"],
    ),
    "a share without the difference": ("dinner with a friend was 30, he paid his share", "5", ["30"], ["20"]),
    "a difference without the share": ("dinner with a friend was 30, return the difference", "5", ["30"], ["20"]),
    "a share of what is held": ("with a friend, shared 30, the difference", "25", ["30"], ["10"]),
    "a share of one said number beside another": (
        "with a friend, shared 30 and 20, the difference",
        "5",
        ["30", "20"],
        [],
    ),
    "negative": ("5 less than last time", "-15", ["5"], ["20"]),
    "nothing": ("the difference between 5 and 5", "0", ["5"], ["5"]),
    "a sum of percentages": ("10% more than the rent", "710", ["10"], ["700"]),
    "what is held alone": ("more than the rent and the fee", "720", [], ["700", "20"]),
    "too many numbers": ("1 more", "3", [str(n) for n in range(1, 14)], []),
}


def made(text: str, amount: str, said: list[str], held: list[str]) -> bool:
    return derived(Decimal(amount), map(Decimal, said), map(Decimal, held), text)


@pytest.mark.parametrize(("text", "amount", "said", "held"), DERIVED.values(), ids=DERIVED.keys())
def test_an_amount_is_derived(text: str, amount: str, said: list[str], held: list[str]) -> None:
    assert made(text, amount, said, held)


@pytest.mark.parametrize(("text", "amount", "said", "held"), NOT_DERIVED.values(), ids=NOT_DERIVED.keys())
def test_an_amount_is_not_derived(text: str, amount: str, said: list[str], held: list[str]) -> None:
    assert not made(text, amount, said, held)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.decimals(min_value=0, max_value=10**9))
def test_of_one_number_and_no_word_for_a_part_nothing_follows(amount: Decimal, said: Decimal) -> None:
    assert not derived(amount, [said], [], "pay, minus or plus, split, 10 percent more or less")
