"""Where an argument value comes from: the items of the request that show it (X4)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import JsonValue

from state.context import Trust


class Shown(NamedTuple):
    """A text that the request showed, with who made it, and the source that its item names."""

    item_id: str
    trust: Trust
    text: str
    source: str = ""


class Origin(NamedTuple):
    """The items that show a value, best trust first. Empty: the value comes from nowhere."""

    item_ids: tuple[str, ...]
    trust: Trust | None


BY_TURN = frozenset({"turn://earlier", "turn://named"})  # the user's words, each line of another turn
_HANDOVER = "state://handover"
_NAMED_TURN = re.compile(r"^turn \d+:", re.MULTILINE)
_TURN_OF_CALL = re.compile(r"\bturn \d+\b")
_ORDER = (Trust.POLICY, Trust.SYSTEM, Trust.USER, Trust.UNTRUSTED)


def origin(value: JsonValue, shown: Iterable[Shown]) -> Origin:
    """The items in which a value stands as a whole word, and the best trust among them. An empty one is nowhere."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(str(value))}(?![\w-])")
    found = [item for item in shown if str(value).strip() and pattern.search(item.text)]
    found.sort(key=lambda item: _ORDER.index(item.trust))
    return Origin(tuple(item.item_id for item in found), found[0].trust if found else None)


def bare(item: Shown) -> Shown:
    """An item without the words by which our own blocks say which turn a line is of: they say no number."""
    if item.source in BY_TURN:
        return item._replace(text=_NAMED_TURN.sub(" ", item.text))
    return item._replace(text=_TURN_OF_CALL.sub(" ", item.text)) if item.source == _HANDOVER else item
