"""Plays one case on its stage, turn by turn as a caller would, and keeps what could be seen of it."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from time import perf_counter

from langchain_core.messages import AIMessage

from evals.case import Look
from evals.fixture import Vector
from evals.observed import Crash, ToolRun
from evals.stage import Stage
from evals.steps import THREAD, done
from evals.turn import Turn
from graph.app import App
from graph.inspection.verify import verify
from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import proposing
from graph.models.scripted import Scripted
from graph.result import AnswerShown, DecisionShown, EffectShown
from state.events import Event
from state.request import Request
from state.run import Scope
from state.tools import ToolContext, ToolError
from state.value import Value
from state.work import Status

GREETING = "Good morning"
CRASHED = "crashed"


class TurnPlayed(Value):
    """How one turn went. `stopped_by` names the error that ended it, or `crashed`; then it has no status.

    `error` is what the caller was told of what went wrong.
    """

    turn: Turn
    status: Status | None = None
    answer: AnswerShown | None = None
    decisions: tuple[DecisionShown, ...] = ()
    stopped_by: str = ""
    error: str = ""
    ms: float


class Played(Value):
    """Everything that could be seen of a run: by its callers, in the record, and from outside.

    `unsaid` are the decisions at which the model was to be made to say something, and which did not come; `unfailed`
    are the tools, or the model, that were to fail and were not called, or not so often.
    `looks` says for each look at the world what was not as it should be. `unproved` is what of the record does not
    prove what was sent (M4). `unreadable` is why the thread could not be read afterwards, if so.
    """

    turns: tuple[TurnPlayed, ...]
    decisions: tuple[DecisionShown, ...] = ()
    effects: tuple[EffectShown, ...] = ()
    requests: tuple[Request, ...] = ()
    runs: tuple[ToolRun, ...] = ()
    looks: tuple[str, ...] = ()
    model_faults: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    unfailed: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()
    unreadable: str = ""


def play(stage: Stage) -> Played:
    """Play a case to its end. Errors of the engine do not leave here: they stand in what is given back."""
    played: list[TurnPlayed] = []
    turns = list(stage.case.all_turns)
    while True:
        with stage.open() as app:
            if not played:
                _say_earlier(app, stage)
                _happen(app, stage)
            while turns:
                played.append(_turn(app, stage, turns.pop(0)))
                if played[-1].stopped_by == CRASHED:
                    break
            else:
                return _seen(app, stage, tuple(played))


def _say_earlier(app: App, stage: Stage) -> None:
    """A turn before the first, in which the agent itself said what the case wants it to have said."""
    for injected in stage.case.fixture.injected:
        if injected.vector is Vector.ASSISTANT_TURN:
            said: list[AIMessage] = [proposing(("clarify", {"question": injected.text, "options": []}))]
            stage.model.playing = ChatModelAdapter(Scripted(lines=said), "scripted")
            app.ask(GREETING, as_=stage.case.actor.principal, thread=THREAD)
            stage.model.playing = None


def _happen(app: App, stage: Stage) -> None:
    """Queue what happened before the first turn, as a producer does."""
    for one in stage.case.fixture.events:
        at = stage.clock.now() - timedelta(hours=one.hours_old)
        tenant = one.tenant or stage.case.actor.principal.partition("@")[2]
        app.producing.put(Event(tenant=tenant, principal=one.principal, kind=one.kind, about=one.about, at=at))


def _turn(app: App, stage: Stage, turn: Turn) -> TurnPlayed:
    stage.clock.run(turn.after_s)
    stage.roles.update(turn.roles)
    started = perf_counter()
    stopped_by, error, result = "", "", None
    try:
        result = done(app, stage.case, turn)
    except Crash:
        stopped_by = CRASHED
    except Exception as fault:  # noqa: BLE001 - whatever the engine raises is a finding of this case
        stopped_by, error = type(fault).__name__, str(fault)
    ms = (perf_counter() - started) * 1000
    if result is None:
        return TurnPlayed(turn=turn, stopped_by=stopped_by, error=error, ms=ms)
    return TurnPlayed(
        turn=turn,
        status=result.status,
        answer=result.answer,
        decisions=result.decisions,
        error=result.error or "",
        ms=ms,
    )


def _seen(app: App, stage: Stage, turns: tuple[TurnPlayed, ...]) -> Played:
    case, watch = stage.case, stage.watch
    watch.over = True
    looks = tuple(line for look in case.final_state if (line := _looked(look, stage)))
    seen = Played(
        turns=turns,
        requests=tuple(watch.requests),
        runs=tuple(watch.runs),
        looks=looks,
        model_faults=tuple(watch.model_faults),
        unsaid=tuple(said.at for said in watch.unsaid),
        unfailed=tuple(watch.unfailed),
    )
    try:
        decisions, effects = _every_branch(app, case.actor.principal)
        unproved = tuple(_unproved(app, stage, decisions))
    except Exception as fault:  # noqa: BLE001 - as above
        return seen.model_copy(update={"unreadable": f"{type(fault).__name__}: {fault}"})
    return seen.model_copy(update={"decisions": decisions, "effects": effects, "unproved": unproved})


def _every_branch(app: App, as_: str) -> tuple[tuple[DecisionShown, ...], tuple[EffectShown, ...]]:
    """The decisions and effects of the thread as it stands, behind those of the branches that it left."""
    history, reading, scope = app.history(THREAD, as_=as_), app.reading(THREAD, as_=as_), app.owned(THREAD, as_=as_)
    current = {decision.record for decision in history.decisions}
    left = [name for name in app.ports.log.names(scope.tenant, THREAD) if name not in current]
    records = app.ports.log.get_all(scope.tenant, THREAD, left)
    decisions = sorted(map(reading.decision, left, records), key=lambda decision: decision.index)
    return (*decisions, *history.decisions), (*reading.effects(records), *history.effects)


def _unproved(app: App, stage: Stage, decisions: Sequence[DecisionShown]) -> Iterator[str]:
    """What is not sound behind the thread, and requests that no record knows. A case that rewrites the store asked for
    the first."""
    as_ = stage.case.actor.principal
    rewritten = any(turn.rewrite for turn in stage.case.turns)
    if not rewritten:
        yield from (f"{fault.what} {fault.how}" for fault in verify(app, THREAD, as_=as_).faults)
    filed = {attempt.request_hash for decision in decisions for attempt in decision.attempts}
    lost = sum(request.hash() not in filed for request in stage.watch.requests)
    # A model that breaks its port's contract ends the lap before anything is filed: that is no fault of the record.
    if lost and not stage.watch.model_faults:
        yield f"{lost} requests were sent that no record knows"


def _looked(look: Look, stage: Stage) -> str:
    """What a direct read of the world shows otherwise; empty where all is as it should be."""
    domain = stage.parts.domain
    tool = next((tool for tool in domain.tools if tool.contract.name == look.tool), None)
    principal = domain.principal(look.as_ or stage.case.actor.principal)
    if tool is None or principal is None:
        return f"{look.tool} as {look.as_}: no such tool or principal"
    scope = Scope(principal=principal, actor=principal, thread=THREAD)
    try:
        shown = tool.run(ToolContext(scope=scope, now=stage.clock.now(), idempotency_key="look"), **look.arguments)
    except ToolError as error:
        shown = {"error": error.code}
    row = shown[0] if isinstance(shown, list) and shown else shown
    found = dict(row) if isinstance(row, dict) else {}
    wrong = {name: found.get(name) for name, value in look.shows.items() if found.get(name) != value}
    return f"{look.tool} shows {wrong}, not {look.shows}" if wrong else ""
