"""How a lap ended: read off its typed values, never off words."""

from typing import assert_never

from state.context import Packed
from state.request import Attempt
from state.tools import Observation
from state.value import Value
from state.verdict import Denied, NeedsApproval, Verdict
from state.work import (
    Act,
    Answer,
    Clarify,
    Decision,
    DecisionKind,
    Escalate,
    LapOutcome,
    Plan,
    Proposal,
    Search,
    SearchTools,
)


class Lap(Value):
    """The typed values of one lap, as far as it got. `edited` says that it was written into from outside."""

    decision: Decision | None
    packed: Packed | None
    attempts: tuple[Attempt, ...]
    proposal: Proposal | None
    verdicts: tuple[Verdict, ...] | None
    observations: tuple[Observation, ...]
    edited: bool = False


def judged(lap: Lap) -> LapOutcome:
    """The outcome of a lap. One that stopped half-way, because a new message came, was abandoned; so is an edited
    one: what it came to is nobody's word."""
    if lap.edited:
        return LapOutcome.ABANDONED
    if lap.packed is not None and lap.packed.failure is not None:
        return LapOutcome.DOES_NOT_FIT if lap.packed.failure == "does_not_fit" else LapOutcome.INSUFFICIENT
    if lap.proposal is None:
        failed = bool(lap.attempts) and lap.attempts[-1].outcome.name != "proposal"
        return LapOutcome.MODEL_FAILED if failed else LapOutcome.ABANDONED
    if lap.decision is None or lap.verdicts is None:
        return LapOutcome.ABANDONED
    if lap.decision.kind is DecisionKind.CLOSE:
        return LapOutcome.CLOSED
    denied = any(isinstance(verdict, Denied) for verdict in lap.verdicts)
    match lap.proposal:
        case Act():
            return _acted(lap, lap.verdicts)
        case Answer():
            return LapOutcome.DENIED if denied else LapOutcome.ANSWERED
        case Plan():
            if denied:
                return LapOutcome.DENIED
            return LapOutcome.PLANNED if lap.decision.kind is DecisionKind.PLAN else LapOutcome.PLAN_REQUESTED
        case Search() | SearchTools():
            return LapOutcome.SEARCHED
        case Clarify():
            return LapOutcome.DENIED if denied else LapOutcome.ASKED
        case Escalate():
            return LapOutcome.DENIED if denied else LapOutcome.ESCALATED
        case _:
            assert_never(lap.proposal)


def _acted(lap: Lap, verdicts: tuple[Verdict, ...]) -> LapOutcome:
    settled = sum(isinstance(verdict, Denied) for verdict in verdicts) + len(lap.observations)
    if any(isinstance(verdict, NeedsApproval) for verdict in verdicts) or settled < len(verdicts):
        return LapOutcome.ABANDONED
    if any(seen.outcome in ("ok", "empty") for seen in lap.observations):
        return LapOutcome.OBSERVED
    if lap.observations:
        return LapOutcome.CALL_FAILED
    by_person = any(isinstance(verdict, Denied) and verdict.rule == "rejected_by_person" for verdict in verdicts)
    return LapOutcome.REJECTED if by_person else LapOutcome.DENIED


def searched(proposal: Proposal | None, outcome: LapOutcome) -> tuple[str, ...]:
    """The queries of a Search that counts."""
    return proposal.queries if isinstance(proposal, Search) and outcome is LapOutcome.SEARCHED else ()


def tools_searched(proposal: Proposal | None, outcome: LapOutcome) -> tuple[str, ...]:
    """The query of a SearchTools that counts."""
    return (proposal.query,) if isinstance(proposal, SearchTools) and outcome is LapOutcome.SEARCHED else ()
