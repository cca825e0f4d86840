"""What JSON data may be to be stored: once stored it has to be read again by every parser behind it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

MOST_DEPTH = 32
MOST_PARTS = 20_000
_LEAST, _MOST = -(2**63), 2**64 - 1  # integers that a checkpoint carries


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


def not_carried(value: Any, most_depth: int = MOST_DEPTH) -> str | None:
    """Why a value that somebody gave cannot be stored and read back; None where it can.

    It is gone through part by part, as often as each stands in it: neither a ring nor what holds itself a thousandfold
    makes the question long. The reason continues a sentence whose subject is plural, and repeats nothing of the value.
    """
    waiting, parts = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        parts += 1
        if parts > MOST_PARTS:
            return f"have more than {MOST_PARTS:,} parts"
        match one:
            case str():
                if not one.isascii() and any("\ud800" <= sign <= "\udfff" for sign in one):
                    return "hold half a character"
            case bool() | None:
                pass
            case int() | float():
                if not (_LEAST <= one <= _MOST if isinstance(one, int) else isfinite(one)):
                    return "hold a number that is not finite, or has more than 64 bits"
            case Mapping() | list() | tuple():
                if depth == most_depth:
                    return f"are nested more than {most_depth} deep"
                inner = (*one.keys(), *one.values()) if isinstance(one, Mapping) else one
                if isinstance(one, Mapping) and not all(isinstance(name, str) for name in one):
                    return "are not JSON"
                waiting += [(each, depth + 1) for each in inner[: MOST_PARTS + 1]]
            case _:
                return "are not JSON"
    return None
