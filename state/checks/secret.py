"""Texts without the secrets that stand in them, also where they are split by what nobody sees (X7)."""

from collections.abc import Callable, Mapping
from unicodedata import category, normalize

from pydantic import JsonValue

from state.checks.hidden import visible

_NOT_SEEN = ("Cf", "Mn", "Me")  # what joins, directs, or is drawn over a letter


def concealed(value: JsonValue, masked: Callable[[str], str]) -> JsonValue:
    """A value in which every text is masked, names of fields included. `masked` gives a text without its secrets."""
    match value:
        case str():
            return _text(value, masked)
        case Mapping():
            return {_text(name, masked): concealed(inner, masked) for name, inner in value.items()}
        case list():
            return [concealed(inner, masked) for inner in value]
        case _:
            return value


def holds_secret(value: JsonValue, masked: Callable[[str], str]) -> bool:
    """Whether masking would change a text in it: a known secret, or what looks like one, names of fields included."""
    return concealed(value, masked) != value


def _text(text: str, masked: Callable[[str], str]) -> str:
    told = masked(text)
    bare = "".join(sign for sign in normalize("NFKD", visible(told)) if category(sign) not in _NOT_SEEN)
    found = masked(bare)
    return told if found == bare else found
