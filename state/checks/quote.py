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


def unquoted(arguments: Mapping[str, JsonValue], read: Callable[[str], str]) -> dict[str, JsonValue]:
    """The arguments with every Quote read back. `read` gives the text behind an address."""
    return {name: _unquote(value, read) for name, value in arguments.items()}


def _unquote(value: JsonValue, read: Callable[[str], str]) -> JsonValue:
    if isinstance(value, list):
        return [_unquote(inner, read) for inner in value]
    if isinstance(value, dict):
        try:
            quote = Quote.model_validate(value)
        except ValidationError:
            return {name: _unquote(inner, read) for name, inner in value.items()}
        return read(quote.ref)[quote.start : quote.end]
    return value
