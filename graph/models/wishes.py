"""Telling a wish ("change this") from a question or a report, by the form of the sentence alone."""

import re
from typing import NamedTuple

from graph.models.vocabulary import (
    AFTER_A_NOUN,
    ASKING,
    COURTESY,
    DETERMINER,
    INTERROGATIVE,
    OPENINGS,
    PLEASE,
    POSSESSIVE,
)
from graph.models.words import is_content, spoken, stem

_CLAUSE = re.compile(r"[^.!?,;:\n]+")


class Wish(NamedTuple):
    """A wish's verb, folded, and whether its object follows: "close the door" is plain, "status please" is not."""

    verb: str
    plain: bool


def wish(turn: str) -> Wish | None:
    """The wish that a turn opens with, or utters politely further on."""
    opens = True
    for clause in _CLAUSE.findall(turn):
        polite, rest = _without_opening(spoken(clause))
        if (polite or (opens and not _asks(turn, rest))) and _imperative(rest):
            return Wish(rest[0], not (DETERMINER | POSSESSIVE).isdisjoint(rest[1:2]))
        opens = opens and not rest
    return None


def wished_verb(turn: str) -> str | None:
    """The stem of the verb of a turn's wish; None without a wish."""
    found = wish(turn)
    return stem(found.verb) if found else None


def _without_opening(words: list[str]) -> tuple[bool, list[str]]:
    """The words after greetings and a polite opening, and whether a polite opening stood there."""
    opened = False
    while words:
        opening = next((opening for opening in OPENINGS if tuple(words[: len(opening)]) == opening), None)
        if opening is None and words[0] not in COURTESY:
            break
        opened = opened or opening is not None or words[0] in PLEASE
        words = words[len(opening) if opening else 1 :]
    return opened, words


def _asks(turn: str, words: list[str]) -> bool:
    return "?" in turn or "¿" in turn or bool(words and words[0] in INTERROGATIVE)


def _imperative(words: list[str]) -> bool:
    if not words or not is_content(words[0]) or words[0] in ASKING:
        return False
    return len(words) == 1 or words[1] not in AFTER_A_NOUN
