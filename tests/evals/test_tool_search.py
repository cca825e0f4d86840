"""The measure of tool search, on a sample that can be counted by hand."""

import pytest

from evals.tool_search.measure import Found, Labelled, measured
from tests.fakes import CharCounter
from tests.nodes.test_pack_tool_search import TOOLS

PARCEL = Labelled(question="Where is my parcel?", tools=("track_parcel",))
ROOM = Labelled(question="Somewhere to sit", tools=("book_room",), looks_for=("book a meeting room",))
LOST = Labelled(question="Somewhere to sit", tools=("send_mail",))


def of(*questions: Labelled, most: int = 1) -> Found:
    return measured(TOOLS, questions, most, CharCounter())


@pytest.mark.parametrize(
    ("questions", "at_once", "after_search"),
    [((PARCEL,), 1.0, 1.0), ((ROOM,), 0.0, 1.0), ((PARCEL, ROOM), 0.5, 1.0), ((LOST,), 0.0, 0.0)],
)
def test_a_tool_is_offered_at_once_or_after_a_search_or_not(
    questions: tuple[Labelled, ...], at_once: float, after_search: float
) -> None:
    found = of(*questions)
    assert (found.at_once, found.after_search, found.wanted) == (at_once, after_search, len(questions))


def test_a_part_costs_less_than_all_and_a_search_costs_a_request_more() -> None:
    parcel, room = of(PARCEL), of(ROOM)
    assert parcel.tokens_part < parcel.tokens_all
    assert parcel.tokens_with_searches == parcel.tokens_part
    assert room.tokens_with_searches > room.tokens_part
    # With room for all of them nothing is left out, and the form to look for others is not shown.
    assert of(PARCEL, most=5).tokens_part == of(PARCEL, most=5).tokens_all == parcel.tokens_all


def test_a_label_that_names_no_tool_is_refused() -> None:
    with pytest.raises(ValueError, match="got the tools fly"):
        of(Labelled(question="Up!", tools=("fly",)))
