"""What a turn asks for, by the form of the sentence alone: a list, what the asker has, a way to do things."""

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from graph.models.vocabulary import (
    AMONG,
    ASKING,
    AUXILIARY,
    CONDITION,
    COURTESY,
    DOING,
    DUTY,
    HACER,
    HAPPENING,
    HAVING,
    INTERROGATIVE,
    MEANING,
    POSSESSIVE,
    WAY,
    WHICH,
)
from graph.models.words import is_content, is_spanish, spoken

_CLAUSE = re.compile(r"[^.!?,;:\n]+")
_ID = re.compile(r"(?<![\w-])(?=[\w-]*[^\W\d_])[\w-]*\w-\d+(?![\w-])")


def is_question(turn: str) -> bool:
    """Whether a turn asks something: by its mark, or by how it opens. "Had to leave" and "Will follow" ask nothing."""
    first = next(clauses(turn), ["", ""])
    opens = first[0] in INTERROGATIVE
    told = first[0] in AUXILIARY and (first[1:2] == ["to"] or any(map(is_content, first[1:2])))
    return "?" in turn or "¿" in turn or (opens and not told)


def clauses(turn: str) -> Iterator[list[str]]:
    """The folded words of each clause, without what courtesy puts before them."""
    for clause in _CLAUSE.findall(turn):
        words = spoken(clause)
        while words and words[0] in COURTESY and words[:2] != ["por", "que"]:
            words = words[1:]
        if words:
            yield words


def asks_which(turn: str) -> bool:
    """Whether a turn asks for one or several of a kind, for a value, or to be shown something."""
    return any(_kind(words) is not None for words in clauses(turn))


def listed(turn: str) -> str | None:
    """The plural noun of which a turn asks for the members or the number: the keys of "which old keys do I have"."""
    for words in clauses(turn):
        noun = (_kind(words) or [""])[-1]
        if noun.endswith("s") and not noun.endswith(("ss", "us", "is")):
            return noun
    return None


def _kind(words: list[str]) -> list[str] | None:
    """The words for what is asked for, which may be none; None where nothing of the kind is asked."""
    shown = words[0] in ASKING
    rest = words[1:] if shown else words
    rest = rest[1:] if shown and rest and rest[0] in ("me", "us") else rest
    which = next((count for count in (2, 1) if _is_which(rest[:count])), 0)
    if not shown and not which:
        return None
    among = list(takewhile(AMONG.__contains__, rest[which:]))
    return list(takewhile(is_content, rest[which + len(among) :]))


def _is_which(words: list[str]) -> bool:
    return words in (["how", "many"], ["how", "much"]) or (len(words) == 1 and words[0] in WHICH)


def asks_how(turn: str) -> bool:
    """Whether a turn asks what is to be done, what happens in a case, or what a word means."""
    cases = CONDITION | MEANING | HAPPENING
    return asks_to_do(turn) or any(words[0] in WHICH and not cases.isdisjoint(words[1:]) for words in clauses(turn))


def asks_to_do(turn: str) -> bool:
    """Whether a turn asks for the way to do something, or what is to be done."""
    for words in clauses(turn):
        if words[0] == "como" or (words[0] == "how" and words[1:2] and words[1] in WAY):
            return True
        if words[0] in WHICH and not (HACER.isdisjoint(words[1:]) and DOING.isdisjoint(pairwise(words))):
            return True
    return False


def speaks_of_own(turn: str) -> bool:
    """Whether a turn speaks of what its author has or is."""
    for words in clauses(turn):
        words = _without_duty(words)
        pairs = list(pairwise(words))
        if not POSSESSIVE.isdisjoint(words) or not HAVING.isdisjoint(pairs):
            return True
        # "me quedan", "me falta": in Spanish what one has is often said so.
        if is_spanish(turn) and any(one == "me" and is_content(other) for one, other in pairs):
            return True
    return False


def _without_duty(words: list[str]) -> list[str]:
    return [one for one, after in pairwise([*words, ""]) if (one, after) not in DUTY]


def begins_with_own(turn: str) -> bool:
    """Whether the first thing that a clause speaks of is its author's: "is my loan late", not "is a book of mine"."""
    for words in clauses(turn):
        first = next((place for place, word in enumerate(words) if is_content(word)), 0)
        if first and words[first - 1] in POSSESSIVE:
            return True
    return False


def ids(turn: str) -> set[str]:
    """The words of a turn that are written as ids are: letters, a hyphen, a number."""
    return set(_ID.findall(turn))
