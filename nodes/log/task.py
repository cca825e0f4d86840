"""The task state after a lap: one rewrite per decision, by code (S2)."""

from nodes.log.outcome import Lap
from state.contract import Effect
from state.run import RequestContext
from state.task import (
    KEPT,
    ActionDone,
    OpenQuestion,
    Phase,
    Rejection,
    Retrieved,
    TaskState,
)
from state.verdict import Allowed, Denied
from state.work import Act, DecisionKind, LapOutcome, Plan, Status

_ENDS = {
    LapOutcome.ANSWERED: Status.ANSWERED,
    LapOutcome.ASKED: Status.NEEDS_INPUT,
    LapOutcome.ESCALATED: Status.ESCALATED,
}
_PHASES = {
    DecisionKind.GATHER: Phase.GATHERING,
    DecisionKind.PLAN: Phase.PLANNING,
    DecisionKind.ACT: Phase.ACTING,
}
_NEWEST_READS = 8  # that stay, however much was changed
# A plan whose step was refused or failed is over: what follows is a report, not the next step.
_BREAKS = (LapOutcome.DENIED, LapOutcome.REJECTED, LapOutcome.CALL_FAILED)


def rewritten(
    task: TaskState,
    lap: Lap,
    outcome: LapOutcome,
    request: RequestContext,
    queries: tuple[str, ...],
    found: Retrieved | None,
    proposal_ref: str | None,
    tool_queries: tuple[str, ...] = (),
) -> TaskState:
    """The next task state. `queries` are addresses of new searches, `tool_queries` of those for tools, `found` is the
    retrieval of this lap."""
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
            "phase": _phase(lap, outcome),
            "actions": _kept((*task.actions, *done)),
            "rejections": (*task.rejections, *_rejections(lap, request))[-KEPT:],
            "questions": _questions(task, outcome, request, proposal_ref),
            "query_refs": tuple(dict.fromkeys((*task.query_refs, *queries))),
            "tool_query_refs": tuple(dict.fromkeys((*task.tool_query_refs, *tool_queries))),
            "retrieved": (*task.retrieved, found) if found and found.key not in known else task.retrieved,
            "denials_in_turn": task.denials_in_turn + refused,
            "missing": lap.packed.missing if lap.packed else (),
            "prefixes": _prefixes(task, lap),
            "status": _status(task, outcome, request),
        }
    )


def _prefixes(task: TaskState, lap: Lap) -> dict[str, str]:
    if lap.decision is None or lap.packed is None or lap.packed.prefix_hash is None:
        return task.prefixes
    return {**task.prefixes, lap.decision.name: lap.packed.prefix_hash}


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
        effect, at, artifact = None, request.now, None
        if observation is not None:
            outcome, effect, at = observation.outcome, observation.effect, observation.at
            artifact = observation.artifact_ref
        elif verdict is not None:
            outcome = "rejected" if verdict.approval else "denied"
        elif call.call_id in allowed:
            # Abandoned between verdict and record: whether the call was made is for the ledger to say.
            outcome = "unknown"
        else:
            continue
        made.append(
            ActionDone.model_validate(
                {
                    "turn": request.turn_index,
                    "tool": call.tool,
                    "call_id": call.call_id,
                    "effect": effect,
                    "outcome": outcome,
                    "at": at,
                    "artifact": artifact,
                }
            )
        )
    return tuple(made)


def _kept(actions: tuple[ActionDone, ...]) -> tuple[ActionDone, ...]:
    """The newest actions; what changed something outlives what only read, but for the newest of that."""
    over = max(0, len(actions) - KEPT)
    read = [place for place, done in enumerate(actions) if done.effect in (None, Effect.READ)]
    gone = {*read[:-_NEWEST_READS][:over]}
    return tuple(done for place, done in enumerate(actions) if place not in gone)[-KEPT:]


def _rejections(lap: Lap, request: RequestContext) -> tuple[Rejection, ...]:
    """What was not taken, with the rule and our own reason: no value of the call is repeated (M6)."""
    if lap.decision is None:
        return ()
    tools = {call.call_id: call.tool for call in lap.proposal.calls} if isinstance(lap.proposal, Act) else {}
    return tuple(
        Rejection(
            turn=request.turn_index,
            decision=lap.decision.index,
            about=tools.get(verdict.call_id, verdict.call_id),
            rule=verdict.rule,
            reason=verdict.reason,
            by=verdict.approval.by if verdict.approval else None,
        )
        for verdict in lap.verdicts or ()
        if isinstance(verdict, Denied)
    )


def _questions(
    task: TaskState, outcome: LapOutcome, request: RequestContext, proposal_ref: str | None
) -> tuple[OpenQuestion, ...]:
    """What was asked back stays open until a turn ends with an answer."""
    if outcome is LapOutcome.ANSWERED:
        return ()
    if outcome is LapOutcome.ASKED and proposal_ref is not None:
        return (*task.questions, OpenQuestion(turn=request.turn_index, ref=proposal_ref))[-KEPT:]
    return task.questions


def _phase(lap: Lap, outcome: LapOutcome) -> Phase:
    if outcome in (*_ENDS, LapOutcome.CLOSED):
        return Phase.OVER
    if outcome is LapOutcome.PLANNED:
        return Phase.ACTING
    if outcome is LapOutcome.PLAN_REQUESTED:
        return Phase.PLANNING
    return _PHASES.get(lap.decision.kind, Phase.CONCLUDING) if lap.decision else Phase.BEGUN


def _steps(task: TaskState, lap: Lap, outcome: LapOutcome, done: tuple[ActionDone, ...]) -> tuple[str, ...]:
    if outcome is LapOutcome.PLANNED and isinstance(lap.proposal, Plan):
        return lap.proposal.steps
    if outcome in _BREAKS or lap.edited:
        return ()
    steps = list(task.steps)
    for action in done:
        if steps and action.tool == steps[0] and action.outcome in ("ok", "empty"):
            steps.pop(0)
    return tuple(steps)
