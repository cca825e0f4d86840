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


_ORDER = (Trust.POLICY, Trust.SYSTEM, Trust.USER, Trust.UNTRUSTED)


def origin(value: JsonValue, shown: Iterable[Shown]) -> Origin:
    """The items in which a value stands as a whole word, and the best trust among them. An empty one is nowhere."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(str(value))}(?![\w-])")
    found = [item for item in shown if str(value).strip() and pattern.search(item.text)]
    found.sort(key=lambda item: _ORDER.index(item.trust))
    return Origin(tuple(item.item_id for item in found), found[0].trust if found else None)
