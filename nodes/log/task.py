"""The task state after a lap: one rewrite per decision, by code (S2)."""

from nodes.log.outcome import Lap
from state.run import RequestContext
from state.verdict import Allowed, Denied
from state.work import (
    KEPT,
    Act,
    ActionDone,
    LapOutcome,
    Plan,
    Retrieved,
    Status,
    TaskState,
)

_ENDS = {
    LapOutcome.ANSWERED: Status.ANSWERED,
    LapOutcome.ASKED: Status.NEEDS_INPUT,
    LapOutcome.ESCALATED: Status.ESCALATED,
}
# A plan whose step was refused or failed is over: what follows is a report, not the next step.
_BREAKS = (LapOutcome.DENIED, LapOutcome.REJECTED, LapOutcome.CALL_FAILED)


def rewritten(
    task: TaskState,
    lap: Lap,
    outcome: LapOutcome,
    request: RequestContext,
    queries: tuple[str, ...],
    found: Retrieved | None,
) -> TaskState:
    """The next task state. `queries` are addresses of new searches, `found` the retrieval of this lap."""
    done = _actions(lap, request)
    known = {retrieved.key for retrieved in task.retrieved}
    refused = sum(isinstance(verdict, Denied) and verdict.approval is None for verdict in lap.verdicts or ())
    return task.model_copy(
        update={
            "next_index": task.next_index + 1,
            "laps_in_turn": task.laps_in_turn + 1,
            "last_kind": lap.decision.kind if lap.decision else task.last_kind,
            "last_toolset": lap.decision.toolset if lap.decision else task.last_toolset,
            "last_outcome": outcome,
            "steps": _steps(task, lap, outcome, done),
            "actions": (*task.actions, *done)[-KEPT:],
            "query_refs": tuple(dict.fromkeys((*task.query_refs, *queries))),
            "retrieved": (*task.retrieved, found) if found and found.key not in known else task.retrieved,
            "denials_in_turn": task.denials_in_turn + refused,
            "missing": lap.packed.missing if lap.packed else (),
            "status": _status(task, outcome, request),
        }
    )


def _status(task: TaskState, outcome: LapOutcome, request: RequestContext) -> Status | None:
    found = any(done.turn == request.turn_index and done.outcome == "ok" for done in task.actions)
    match outcome:
        case LapOutcome.CLOSED:
            return Status.PARTIAL if found else Status.ESCALATED
        case LapOutcome.MODEL_FAILED if not found:
            return Status.FAILED  # nothing to make a partial answer of
        case _:
            return _ENDS.get(outcome)


def _actions(lap: Lap, request: RequestContext) -> tuple[ActionDone, ...]:
    if not isinstance(lap.proposal, Act) or lap.decision is None:
        return ()
    seen = {observation.call_id: observation for observation in lap.observations}
    refused = {verdict.call_id: verdict for verdict in lap.verdicts or () if isinstance(verdict, Denied)}
    allowed = {verdict.call_id for verdict in lap.verdicts or () if isinstance(verdict, Allowed)}
    made = []
    for call in lap.proposal.calls:
        observation, verdict = seen.get(call.call_id), refused.get(call.call_id)
        outcome: str
        arguments: str | None
        if observation is not None:
            outcome, arguments, at = observation.outcome, observation.arguments_digest, observation.at
        elif verdict is not None:
            # A refused call leaves no digest: a short hash of a foreign id could be guessed back (M6).
            outcome, arguments, at = "rejected" if verdict.approval else "denied", None, request.now
        elif call.call_id in allowed:
            # Abandoned between verdict and record: whether the call was made is for the ledger to say.
            outcome, arguments, at = "unknown", None, request.now
        else:
            continue
        made.append(
            ActionDone.model_validate(
                {
                    "turn": request.turn_index,
                    "decision": lap.decision.index,
                    "tool": call.tool,
                    "call_id": call.call_id,
                    "arguments_digest": arguments,
                    "outcome": outcome,
                    "at": at,
                }
            )
        )
    return tuple(made)


def _steps(task: TaskState, lap: Lap, outcome: LapOutcome, done: tuple[ActionDone, ...]) -> tuple[str, ...]:
    if outcome is LapOutcome.PLANNED and isinstance(lap.proposal, Plan):
        return lap.proposal.steps
    if outcome in _BREAKS:
        return ()
    steps = list(task.steps)
    for action in done:
        if steps and action.tool == steps[0] and action.outcome in ("ok", "empty"):
            steps.pop(0)
    return tuple(steps)
