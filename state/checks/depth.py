"""How deep JSON data may be nested: what is stored once has to be read again by every parser behind it."""

from collections.abc import Mapping
from typing import Any

MOST_DEPTH = 32


def too_deep(value: Any) -> bool:
    """Whether objects and lists are nested more than MOST_DEPTH deep, or contain themselves.

    Asked level by level, each object once a level: no depth is too much for the question.
    """
    level, depth = [value], 0
    while level:
        held = {
            id(inner): inner
            for one in level
            if isinstance(one, Mapping | list | tuple)
            for inner in (one.values() if isinstance(one, Mapping) else one)
            if isinstance(inner, Mapping | list | tuple)
        }
        level, depth = list(held.values()), depth + 1
        if depth > MOST_DEPTH:
            return True
    return False
