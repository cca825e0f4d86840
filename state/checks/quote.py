"""Arguments by reference: a value copied from a user's turn is stored as a place in that turn.

So the turn stays the only copy: nothing else in records, channels or bodies repeats what a user typed, and
erasing the turn erases the argument with it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from pydantic import JsonValue, ValidationError

from state.checks.pasted import pasted
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

    A part of a sentence may say the opposite of the whole; a question states nothing; what was pasted, stands in
    quotation marks, in an element of markup, behind a mark of quoting or after a colon is somebody else's.
    """
    before, text, after = turn[: quote.start], turn[quote.start : quote.end], turn[quote.end :]
    begins = re.search(r"(?:^|[.!?\n])[ \t]*$", before) is not None
    ends = re.match(r"[ \t]*(?:$|\n|[.!](?:\s|$))", after) is not None or text.endswith((".", "!"))
    asks = any(mark in text + after[:1] for mark in "?¿？")
    return begins and ends and not asks and not _of_others(before, text, after, turn, quote)


def _of_others(before: str, text: str, after: str, turn: str, quote: Quote) -> bool:
    """Whether a part of a turn is marked as somebody else's. A mark whose end is not clear reaches to the end of the
    turn, and a colon within a line to the end of its paragraph."""
    line = before.rpartition("\n")[2]
    return (
        _ANNOUNCES_ALL.search(before) is not None
        or _ANNOUNCES.search(_PARAGRAPH.split(before)[-1]) is not None
        or line.lstrip().startswith((">", "|"))
        or _SET_IN.match(line) is not None
        or any(before.count(mark) % 2 for mark in '"`')
        or any(mark in text for mark in '"`' + _OPENING + _CLOSING)
        or any(before.count(mark) > len(re.findall(f"[{ends}]", before)) for mark, ends in _PAIRS.items())
        or (_OPENS_SINGLE.search(before) is not None and _CLOSES_SINGLE.search(after) is not None)
        or Counter(_OPENS_ELEMENT.findall(before)) - Counter(_CLOSES_ELEMENT.findall(before)) != Counter()
        or pasted(turn, quote.start, quote.end)
    )


_PAIRS = {"“": "”", "«": "»", "„": "“”", "‚": "‘’", "‹": "›", "「": "」", "『": "』"}
_OPENING, _CLOSING = "“«„‹「『", "”»›」』"
# One quotation mark in the middle of a word, or behind it, is an apostrophe.
_OPENS_SINGLE, _CLOSES_SINGLE = re.compile(r"(?<![^\s(])['‘](?=\S)"), re.compile(r"['’](?![^\s.,;:!?)])")
_ANNOUNCES_ALL, _ANNOUNCES = re.compile(r":[ \t]*$", re.MULTILINE), re.compile(r":[ \t]")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SET_IN = re.compile(r" {4}|\t")
_OPENS_ELEMENT = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")
_CLOSES_ELEMENT = re.compile(r"</([A-Za-z][\w-]*)\s*>")


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
