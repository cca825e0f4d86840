"""Examples for a decision (S4): of its kind, right under the policy, nearest the question; in a stable order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.examples import Examples
from state.domain import Example
from state.work import DecisionKind
from tests.desk import POLICY

ACT, PLAN = DecisionKind.ACT, DecisionKind.PLAN


def example(name: str, text: str, kind: DecisionKind = ACT, **holds_while: int) -> Example:
    return Example(example_id=name, version="1", kind=kind, text=text, holds_while=holds_while)  # type: ignore[arg-type]  # values of a policy


GIVEN = (
    example("late", "Right: refund the late order. Wrong: refund any order."),
    example("stolen", "Right: ask about the stolen parcel. Wrong: refund any order."),
    example("limit", "Right: ask above 200. Wrong: refund any amount.", refund_limit=200),
    example("old-limit", "Right: ask above 100, a stolen parcel. Wrong: refund any amount.", refund_limit=100),
    example("plan", "Right: one step for a stolen parcel.", PLAN),
)


def chosen(question: str, k: int, kind: DecisionKind = ACT, examples: Sequence[Example] = GIVEN) -> list[str]:
    return [one.example_id for one in Examples(examples).choose(kind, question, POLICY, k)]


@pytest.mark.parametrize(
    ("question", "k", "names"),
    [
        ("Somebody stole it: a parcel was stolen", 2, ["stolen", "late"]),
        ("STOLEN PARCELS?", 1, ["stolen"]),
        ("above 200 please", 1, ["limit"]),
        ("refund", 3, ["late", "stolen", "limit"]),
        ("¿qué?", 2, ["late", "stolen"]),
        ("anything", 0, []),
    ],
    ids=["nearest first", "case and plural", "a number", "a word of all", "nothing shared", "none wanted"],
)
def test_the_nearest_examples_of_the_kind_are_chosen(question: str, k: int, names: list[str]) -> None:
    assert chosen(question, k) == names


def test_an_example_that_is_wrong_under_the_policy_in_force_is_never_shown() -> None:
    assert "old-limit" not in chosen("stolen parcel above 100", 9)
    assert chosen("stolen parcel", 9, PLAN) == ["plan"]
    assert chosen("stolen parcel", 9, DecisionKind.ANSWER) == []


@given(question=st.text(max_size=40), order=st.permutations(GIVEN), k=st.integers(0, 5))
def test_the_order_in_which_a_domain_lists_them_decides_only_between_equally_near_ones(
    question: str, order: list[Example], k: int
) -> None:
    names = chosen(question, k, examples=order)
    assert len(names) == min(k, 3)
    if question.startswith("stolen"):
        assert names[:1] == ["stolen"][: min(k, 1)]
    assert set(chosen(question, 3, examples=order)) == set(chosen(question, 3))
