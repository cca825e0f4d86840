"""Asking a person about pending calls, one after the other."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graph.cli.ending import pending_call
from graph.cli.exits import WrongUse
from graph.cli.screen import Screen
from graph.cli.spoken import Spoken
from graph.result import PendingCall, RunResult
from state.canonical import named_once

if TYPE_CHECKING:
    from graph.app import App
    from graph.conversation import Answer, Edit

_LATER = {"later", "l"}
_ARGUMENTS = "all arguments as JSON: "


def edit_of(text: str) -> "Edit":
    """The edit with these arguments. Raises WrongUse for what is no JSON object."""
    try:
        arguments: Any = json.loads(text, object_pairs_hook=named_once)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise WrongUse(
            f"got the arguments {text!r:.60}; allowed: a JSON object with all arguments of the call, each once"
        )
    return {"decision": "edit", "arguments": arguments}


def asked_for(
    screen: Screen, app: "App", result: RunResult, calls: Sequence[PendingCall], lines: Spoken
) -> "dict[str, Answer]":
    """The answers to these calls. One that is put off, or not answered before the input ends, has none."""
    answers: dict[str, Answer] = {}
    for call in calls:
        if not screen.json_wanted:
            screen.out.print(pending_call(app, result, call))
        words: dict[str, str] = {short: word for word in call.decisions for short in (word, word[0])}
        question = f"{', '.join(call.decisions)}{' or ' if call.decisions else ''}later? "
        # Nothing but one of these words is an answer: least of all the next question.
        while (said := lines.next(question)) is not None and said.casefold() not in _LATER:
            answer = _answer(words.get(said.casefold()), screen, lines)
            if answer is not None:
                answers[call.call_id] = answer
                break
            if said.casefold() not in words:
                allowed = ", ".join((*call.decisions, "later"))
                screen.error(f"got {said!r:.40}; allowed: {allowed}; the call is still pending")
        if said is None:
            break
    return answers


def _answer(word: str | None, screen: Screen, lines: Spoken) -> "Answer | None":
    """The answer that a word begins. Arguments that cannot be read answer nothing: the question comes again."""
    match word:
        case "approve" | "reject":
            return word
        case "edit" if (text := lines.next(_ARGUMENTS)) is not None:
            try:
                return edit_of(text)
            except WrongUse as wrong:
                screen.error(str(wrong))
    return None
