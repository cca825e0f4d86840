"""Arguments by reference: a value copied from a user's turn is stored as a place in that turn.

So the turn stays the only copy: nothing else in records, channels or bodies repeats what a user typed, and
erasing the turn erases the argument with it.
"""

import re
from collections.abc import Callable, Mapping

from pydantic import JsonValue, ValidationError

from state.work import Quote


def quoted(arguments: Mapping[str, JsonValue], turns: Mapping[str, str]) -> dict[str, JsonValue]:
    """Arguments with every string that stands as a whole word in a turn replaced by a Quote of it.

    `turns` maps addresses to texts, best first. Raises ValueError for an argument that already has a Quote's
    shape: only this function makes quotes, a model that writes one points at a body it was not shown.
    """
    return {name: _quote(value, turns) for name, value in arguments.items()}


def _quote(value: JsonValue, turns: Mapping[str, str]) -> JsonValue:
    if isinstance(value, dict):
        if "quote" in value and "ref" in value:
            raise ValueError("an argument may not have the shape of a stored quote")
        return {name: _quote(inner, turns) for name, inner in value.items()}
    if isinstance(value, list):
        return [_quote(inner, turns) for inner in value]
    if isinstance(value, str) and value:
        for ref, text in turns.items():
            found = re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text)
            if found:
                return Quote(quote="turn", ref=ref, start=found.start(), end=found.end()).model_dump()
    return value


def states_whole(turn: str, quote: Quote) -> bool:
    """Whether a quote is one or several whole sentences by which the turn's author states something.

    A part of a sentence may say the opposite of the whole; a question states nothing; what stands in quotation marks,
    behind a mark of quoting or after a colon is somebody else's.
    """
    before, text, after = turn[: quote.start], turn[quote.start : quote.end], turn[quote.end :]
    begins = re.search(r"(?:^|[.!?\n])[ \t]*$", before) is not None
    ends = re.match(r"[ \t]*(?:$|\n|[.!](?:\s|$))", after) is not None or text.endswith((".", "!"))
    line = before.rpartition("\n")[2].lstrip()
    announced = before.rstrip().endswith(":")
    quoting = (
        announced or line.startswith((">", "|")) or any(before.count(mark) % 2 for mark in ('"', "`")) or _open(before)
    )
    return begins and ends and not quoting and not any(mark in text + after[:1] for mark in '?¿"`“”«»')


def _open(before: str) -> bool:
    return any(before.count(opening) > before.count(closing) for opening, closing in ("“”", "«»"))


def unquoted(arguments: Mapping[str, JsonValue], read: Callable[[str], str]) -> dict[str, JsonValue]:
    """The arguments with every Quote read back. `read` gives the text behind an address."""
    return {name: _unquote(value, read) for name, value in arguments.items()}


def _unquote(value: JsonValue, read: Callable[[str], str]) -> JsonValue:
    if isinstance(value, list):
        return [_unquote(inner, read) for inner in value]
    if isinstance(value, dict):
        if not is_quote(value):
            return {name: _unquote(inner, read) for name, inner in value.items()}
        quote = Quote.model_validate(value)
        return read(quote.ref)[quote.start : quote.end]
    return value


def is_quote(value: JsonValue) -> bool:
    """Whether a stored argument is a place in a turn."""
    try:
        Quote.model_validate(value)
    except ValidationError:
        return False
    return True
