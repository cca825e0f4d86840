"""Asking a person about pending calls, one after the other."""

from typing import TYPE_CHECKING

from graph.cli.ending import pending_call
from graph.cli.screen import Screen
from graph.cli.spoken import Spoken
from graph.result import RunResult

if TYPE_CHECKING:
    from graph.app import App
    from graph.conversation import Answer

_QUESTION = "approve, reject or later? "
_SAID: "dict[str, Answer]" = {"approve": "approve", "a": "approve", "reject": "reject", "r": "reject"}
_LATER = {"later", "l"}


def asked_for(screen: Screen, app: "App", result: RunResult, lines: Spoken) -> "dict[str, Answer]":
    """The answers to the calls that wait. One that is put off, or not answered before the input ends, has none."""
    answers: dict[str, Answer] = {}
    for call in result.pending:
        if not screen.json_wanted:
            screen.out.print(pending_call(app, result, call))
        # Nothing but one of these words is an answer: least of all the next question.
        while (said := lines.next(_QUESTION)) is not None and said.casefold() not in _LATER:
            answer = _SAID.get(said.casefold())
            if answer is not None:
                answers[call.call_id] = answer
                break
        if said is None:
            break
    return answers
