"""Bugs in what is told beside the evidence: events, and sources that disagree."""

from typing import Any

import pytest
from sqlalchemy import true

from evals.scores import Measure
from graph.stores.events import SqlEventQueue
from nodes.pack import notices, utility
from nodes.pack.conflict import Disputed
from state.context import DropReason
from tests.evals.bug import Caught, SeededBug, entering

TOLD: list[SeededBug] = []
bug = entering(TOLD)


def _never(patch: pytest.MonkeyPatch, reason: DropReason) -> None:
    """No event is left out for this reason any more."""
    real = notices._left_out

    def left_out(*given: Any) -> DropReason | None:
        found = real(*given)
        return None if found is reason else found

    patch.setattr(notices, "_left_out", left_out)


@bug(
    "events not looked at again",
    Caught("incident_that_is_over_is_not_told_as_open", Measure.SUCCESS),
    Caught("notice_that_gives_orders", Measure.SUCCESS),
)
def _(patch: pytest.MonkeyPatch) -> None:
    """What was so when it was queued is told, whether it still is or ever was."""
    _never(patch, DropReason.NO_LONGER_SO)


@bug("events of any tenant", Caught("notice_of_another_organisation", Measure.ISOLATION))
def _(patch: pytest.MonkeyPatch) -> None:
    """Every event is told to everybody, and nobody looks whether it is theirs."""
    patch.setattr("graph.stores.events._told_to", true)
    _never(patch, DropReason.NO_LONGER_SO)


@bug("events of colleagues", Caught("notice_for_a_colleague", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What is for one person is told to all of the organisation."""
    patch.setattr("graph.stores.events._told_to", true)


@bug("events not settled", Caught("incident_that_began_is_told_once", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What a request told stays in the queue, and is told by every request."""
    patch.setattr(SqlEventQueue, "settle", lambda *_: None)


@bug("old events are news", Caught("notice_that_is_no_news_any_more", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What happened long ago is told as if it had just happened."""
    _never(patch, DropReason.EXPIRED)


@bug("events not coalesced", Caught("the_same_told_three_times", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What several producers say of one thing is told as often as they say it."""
    _never(patch, DropReason.TOLD_BY_NEWER)


@bug("one source crowds out another", Caught("second_document_behind_many_sections", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """The document that has more sections on a matter takes every place."""
    real = utility.choose

    def crowded(candidates: Any, weights: Any, *given: Any) -> Any:
        return real(candidates, weights.model_copy(update={"diversity": 0.0}), *given)

    patch.setattr("nodes.pack.choose", crowded)


@bug("conflicts not looked for", Caught("document_against_the_policy_record", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """Sources that state the same fact otherwise stand side by side, and nothing says so."""
    patch.setattr("nodes.pack.disputed", lambda *_: Disputed((), frozenset()))
