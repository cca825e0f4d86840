"""Bugs in the working set itself: what a request no longer says of earlier turns, refusals, rights, or says thrice."""

from typing import Any

import pytest

from evals.scores import Measure
from nodes.pack import compact, trail, utility
from nodes.pack.drafts import Drafts
from nodes.pack.history import Handovers
from retrieval.examples import Examples
from state.context import Trust
from state.policy import Policy
from state.work import DecisionKind
from tests.evals.bug import Caught, SeededBug, entering

KEPT: list[SeededBug] = []
bug = entering(KEPT)


@bug("changes of earlier turns not told", Caught("change_of_an_earlier_turn_is_told", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """What was done in the turns before stands in no request, unless somebody said so in words."""
    patch.setattr("nodes.pack.outcomes", lambda *_: [])


@bug("no handover", Caught("turns_out_of_sight_are_handed_over", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """What went out of sight is gone."""
    patch.setattr(Handovers, "drafts", lambda *_: [])


@bug("identifiers of users not kept", Caught("key_named_in_a_turn_out_of_sight", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """An id that the user typed goes with its turn."""
    patch.setattr("nodes.resolve.handover.identifiers", lambda text: ())


@bug("results not masked", Caught("what_was_read_before_the_change", Measure.SUCCESS))
def _(patch: pytest.MonkeyPatch) -> None:
    """What was read before a change stands as if it were still so."""
    patch.setattr(compact, "RULES", tuple(rule for rule in compact.RULES if rule[1] is None))


@bug("refusals not told", Caught("refusal_is_told_to_the_next_decision", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """The next decision does not learn that a call was refused."""
    patch.setattr(trail, "_refusal", lambda *_: "")


@bug("question of ours not told", Caught("question_of_ours_is_told_to_the_next_turn", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """That a turn ended with a question of ours goes with our answers, which a plan lap does not hold."""
    real = Drafts.text

    def text(self: Any, item_id: str, kind: Any, source: str, trust: Trust, *given: Any, **more: Any) -> Any:
        asked = item_id.endswith("-asked-back")
        place = source.replace("state://", "answer://") if asked else source
        return real(self, item_id, kind, place, Trust.UNTRUSTED if asked else trust, *given, **more)

    patch.setattr(Drafts, "text", text)


@bug("capabilities not shown", Caught("plan_is_told_what_may_be_done", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """A plan lap is not told what the asker may have done."""
    patch.setattr("nodes.pack.capabilities", lambda *_: [])


@bug("examples in the domain's order", Caught("example_nearest_the_question", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """The first examples of a decision are shown, whatever is asked."""

    def first(self: Examples, kind: DecisionKind, question: str, policy: Policy, k: int) -> tuple[Any, ...]:
        return tuple(example for example in self._examples if example.kind is kind)[:k]

    patch.setattr(Examples, "choose", first)


@bug("repetition costs nothing", Caught("same_text_three_times", Measure.RECALL))
def _(patch: pytest.MonkeyPatch) -> None:
    """Copies of one text take the places of another."""
    real = utility.choose

    def repeated(candidates: Any, weights: Any, *given: Any) -> Any:
        return real(candidates, weights.model_copy(update={"redundancy": 0.0}), *given)

    patch.setattr("nodes.pack.choose", repeated)
