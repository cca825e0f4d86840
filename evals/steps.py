"""How each step of a case is done: as a caller does it, or past the app, as whoever holds its stores could."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command
from pydantic import JsonValue
from sqlalchemy import update

from evals.case import Case
from evals.observed import Crash
from evals.turn import Edit, Fork, Turn
from graph.app import App
from graph.conversation import Answer
from graph.result import PendingCall, RunResult
from graph.stores.engine import open_database
from graph.stores.schema import artifacts
from state.work import PROPOSAL, Act

THREAD = "case"
_ON: RunnableConfig = {"configurable": {"thread_id": THREAD}}
_PLACE = re.compile(r"\$\w+(\.\w+)*")


class NothingThere(LookupError):
    """What a step takes is not there: no call waits to be rewritten, no such state to go on from."""


def done(app: App, case: Case, turn: Turn) -> RunResult:
    """Do a step and say how the thread stands. Raises NothingThere, Crash for a process that dies, and what the engine
    raises."""
    as_ = turn.as_ or case.actor.principal
    if turn.dies_before is None:
        return _done(app, case, turn, as_)
    with _stopping(app, turn.dies_before):
        _done(app, case, turn, as_)
    state = app.graph.get_state(_ON)
    if state.next != (turn.dies_before,) or state.interrupts:
        raise NothingThere(f"the run did not come to {turn.dies_before}, before which the process was to die")
    raise Crash(turn.dies_before)


def _done(app: App, case: Case, turn: Turn, as_: str) -> RunResult:
    if turn.ask is not None:
        return app.ask(turn.ask, as_=as_, thread=THREAD)
    if turn.answers is not None:
        return app.resume(THREAD, as_=as_, answers=_answers(app, case, turn))
    if turn.rewrite is not None:
        _rewrite(app, case, turn.rewrite)
    elif turn.edit is not None:
        _edit(app, turn.edit)
    elif turn.fork is not None:
        app.graph.invoke(None, _before(app, turn.fork), context={"principal": as_})
    elif turn.go_on:
        app.graph.invoke(None, _ON, context={"principal": as_})
    else:
        waiting = _waiting(app, case)
        told = {"call": waiting[0].call_id, "approval": waiting[0].approval_id} if waiting else {}
        app.graph.invoke(Command(resume=_filled(turn.answer, told)), _ON, context={"principal": as_})
    return app.result(THREAD, as_=as_)


@contextmanager
def _stopping(app: App, before: str) -> Iterator[None]:
    """While this is open, runs end before a node, with all that came before it in the stores."""
    set_before, app.graph.interrupt_before_nodes = app.graph.interrupt_before_nodes, [before]
    try:
        yield
    finally:
        app.graph.interrupt_before_nodes = set_before


def _waiting(app: App, case: Case) -> tuple[PendingCall, ...]:
    return app.result(THREAD, as_=case.actor.principal).pending


def _answers(app: App, case: Case, turn: Turn) -> dict[str, Answer]:
    answer: Answer = "approve" if turn.approve is not None else "reject"
    meant = [call for call in _waiting(app, case) if call.tool == turn.answers]
    ids = [call.call_id for call in meant if turn.only.items() <= call.arguments.items()]
    # Answered by a call that is there no longer, it is for the engine to refuse.
    return dict.fromkeys(ids or ["call-of-before"], answer)


def _rewrite(app: App, case: Case, arguments: dict[str, JsonValue]) -> None:
    """Write other arguments into the stored proposal that waits, past every node and every channel."""
    tenant = app.identity.principal(case.actor.principal).tenant
    ref = app.graph.get_state(_ON).values.get("proposal")
    proposal = PROPOSAL.validate_json(app.ports.artifacts.get(tenant, ref)) if ref else None
    if not isinstance(proposal, Act):
        raise NothingThere("no call waits on this thread, so that none can be rewritten")
    calls = tuple(call.model_copy(update={"arguments": {**call.arguments, **arguments}}) for call in proposal.calls)
    with closing(open_database(app.settings.database)) as database, database.everyday.connect() as connection:
        row = (artifacts.c.tenant == tenant, artifacts.c.ref == ref)
        connection.execute(update(artifacts).where(*row).values(body=Act(calls=calls).model_dump_json().encode()))


def _edit(app: App, edit: Edit) -> None:
    state = app.graph.get_state(_ON).values
    app.graph.update_state(_ON, _filled(edit.channels, state), as_node=edit.after)


def _before(app: App, fork: Fork) -> RunnableConfig:
    """The newest state of the thread in which that node was next."""
    for state in app.graph.get_state_history(_ON):
        decision = state.values.get("decision") or {}
        place = f"{decision.get('kind')}/{decision.get('toolset')}"
        if state.next == (fork.before,) and fork.at in ("", place):
            return state.config
    raise NothingThere(f"the thread never stood before {fork.before} {f'of {fork.at}' if fork.at else ''}".rstrip())


def _filled(value: JsonValue, given: Mapping[str, JsonValue]) -> JsonValue:
    """The value with each `$a.b.0`, also as a name, replaced by what is given at that place."""
    match value:
        case str() if _PLACE.fullmatch(value):
            return _at(value[1:], given)
        case list():
            return [_filled(inner, given) for inner in value]
        case dict():
            return {str(_filled(name, given)): _filled(inner, given) for name, inner in value.items()}
        case _:
            return value


def _at(place: str, given: Mapping[str, JsonValue]) -> JsonValue:
    found: JsonValue = dict(given)
    for step in place.split("."):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise NothingThere(f"the thread has nothing at {place}")
    return found
