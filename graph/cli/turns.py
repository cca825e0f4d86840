"""`agent ask` and `agent resume`: one turn, told as it happens or given as one JSON object."""

import sys
from collections.abc import Callable, Mapping
from shlex import quote
from typing import TYPE_CHECKING

from pydantic import JsonValue
from rich.text import Text

from graph.cli.account import decision_account
from graph.cli.ending import ending
from graph.cli.exits import FAILED, HANDED_OVER, NEEDS_PERSON, OK, WrongUse
from graph.cli.opening import opened
from graph.cli.screen import Screen
from graph.result import DecisionShown, RunResult
from state.work import Status

if TYPE_CHECKING:
    from graph.app import App
    from graph.conversation import Answer, OnDecision
    from graph.progress import OnProgress

EXIT_CODES = {
    Status.ANSWERED: OK,
    Status.NEEDS_APPROVAL: NEEDS_PERSON,
    Status.NEEDS_INPUT: NEEDS_PERSON,
    Status.ESCALATED: HANDED_OVER,
    Status.PARTIAL: HANDED_OVER,
    Status.FAILED: FAILED,
}
STANDARD_INPUT = "-"
DECIDING = "Deciding"


def going_on(event: Mapping[str, JsonValue]) -> str:
    """Where a run is, in a few words."""
    kind = f" · {event['kind']}" if event["kind"] else ""
    return f"{DECIDING} · {event['decision']}{kind} · {event.get('node', event['event'])}"


def ask(screen: Screen, question: str, *, as_: str, thread: str | None, model: str | None) -> int:
    """Ask on a thread, and give the exit code. Raises what `App.ask` raises."""
    text = _standard_input() if question == STANDARD_INPUT else question
    with opened(screen, model) as app:
        named = app.ports.ids.new("thread") if thread is None else thread
        return _turn(
            screen,
            app,
            named,
            as_,
            model,
            lambda told, now: app.ask(text, as_=as_, thread=named, on_decision=told, on_progress=now),
        )


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise WrongUse(f"got a question that is no {error.encoding} text; allowed: text") from None


def resume(screen: Screen, thread: str, *, as_: str, answers: "Mapping[str, Answer]", model: str | None) -> int:
    """Answer pending calls and give the exit code. Raises what `App.resume` raises."""
    with opened(screen, model, filed=True) as app:
        return _turn(
            screen,
            app,
            thread,
            as_,
            model,
            lambda told, now: app.resume(thread, as_=as_, answers=answers, on_decision=told, on_progress=now),
        )


def _turn(
    screen: Screen,
    app: "App",
    thread: str,
    as_: str,
    model: str | None,
    run: "Callable[[OnDecision | None, OnProgress], RunResult]",
) -> int:
    told: set[int] = set()

    def tell(decision: DecisionShown) -> None:
        if not told:
            screen.out.print(Text(f"thread {thread} · {as_} · model {app.ports.model.name}\n", style="dim"))
        told.add(decision.index)
        screen.out.print(decision_account(decision))

    try:
        with screen.following(DECIDING) as now:
            result = run(None if screen.json_wanted else tell, lambda event: now(going_on(event)))
    except KeyboardInterrupt:
        look = f"agent show {quote(thread)} --as {quote(as_)}"
        raise KeyboardInterrupt(f"stopped; what was decided is kept: {look}") from None
    if screen.json_wanted:
        screen.text(result.model_dump_json(indent=2))
        return EXIT_CODES[result.status]
    for decision in result.decisions:
        if decision.record is None:
            tell(decision)
    screen.out.print(ending(app, result, as_=as_, model=model))
    return EXIT_CODES[result.status]
