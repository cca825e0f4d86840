"""Patterns of schemas that a text cannot make run for ever: what matches in one way only, or in few ways.

Python's engine goes back over every choice it made, so one text of a model's can hold a process for hours where a
pattern leaves open how it is taken apart. Allowed is a plain dialect, and in it: an unbounded repetition only where the
next character says whether it goes on; of bounded ones, as many ways as can be tried. Checked once, at contracting.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

MOST_STEPS = 10_000  # per place of a text at which a match may begin
_PLAIN = "literals, classes, groups, alternatives, * + ? {m,n}, ^ at the beginning and $ at the end"
_ESCAPE = re.compile(r"\\(?:[dwsDWStnrfv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_TIMES = re.compile(r"\{([0-9]{1,5})(,([0-9]{1,5})?)?\}")
_BEYOND_ASCII = "éß天א٣\u2003😀"  # one of each kind of character that \w, \d and \s tell apart
Characters = frozenset[str]
_NONE: Characters = frozenset()


class PatternRefused(ValueError):
    """A pattern outside the dialect, or one that a text can make run for long. The text says which."""


class _Part(NamedTuple):
    """A part of a pattern: what it may begin with, whether it may be empty, how many characters it has at most (once
    around), and in how many ways it takes a text, given what may follow and whether it is repeated without bound."""

    first: Characters
    empty: bool
    size: int
    ways: Callable[[Characters, bool], int]


def check_pattern(pattern: str) -> None:
    """Raises PatternRefused for what may be slow, or is no pattern."""
    try:
        re.compile(pattern)
        whole = _Reading(pattern).whole()
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternRefused(f"it is no pattern: {error}") from None
    if whole.size * whole.ways(_NONE, False) > MOST_STEPS:
        raise PatternRefused(f"it may take more than {MOST_STEPS:,} steps; make its bounds narrower")


class _Reading:
    """One pattern, read from left to right."""

    def __init__(self, pattern: str) -> None:
        self._anchored = pattern.startswith("^")
        ends = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
        self._text, self._at = pattern[self._anchored : len(pattern) - ends], 0
        self._alphabet = frozenset(map(chr, range(128))) | set(_BEYOND_ASCII) | set(pattern)
        self._alphabet |= {chr(int(code, 16)) for code in re.findall(r"\\(?:u([0-9a-fA-F]{4}))", pattern)}
        self._alphabet |= {chr(int(code, 16)) for code in re.findall(r"\\x([0-9a-fA-F]{2})", pattern)}

    def whole(self) -> _Part:
        """The part that is the whole pattern."""
        found = self._alternatives(grouped=False)
        if self._at < len(self._text):
            raise PatternRefused("a ) closes no group")
        return found

    def _alternatives(self, *, grouped: bool) -> _Part:
        branches = [self._sequence()]
        while self._takes("|"):
            if not grouped and (self._anchored or self._at == len(self._text)):
                raise PatternRefused("put alternatives in a group, as in ^(?:a|b)$")
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else _either(branches)

    def _sequence(self) -> _Part:
        parts = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom()))
        return _after_another(parts)

    def _atom(self) -> _Part:
        if self._takes("("):
            if self._text.startswith("?", self._at) and not self._takes("?:"):
                raise PatternRefused(f"it looks around, or names a group; allowed: {_PLAIN}")
            part = self._alternatives(grouped=True)
            if not self._takes(")"):
                raise PatternRefused("a group is not closed")
            return part
        for form in (_ESCAPE, _CLASS):
            if found := form.match(self._text, self._at):
                self._at = found.end()
                return self._one_of(found[0])
        character = self._text[self._at]
        if character in "\\[]{}^$*+?":
            raise PatternRefused(f"got {self._text[self._at : self._at + 2]!r}; allowed: {_PLAIN}")
        self._at += 1
        return self._one_of(character)

    def _one_of(self, atom: str) -> _Part:
        matches = re.compile(atom).fullmatch
        first = frozenset(filter(matches, self._alphabet))
        return _Part(first, False, 1, lambda follow, looped: 1)

    def _repeated(self, part: _Part) -> _Part:
        if times := _TIMES.match(self._text, self._at):
            self._at = times.end()
            least = int(times[1])
            most = least if times[2] is None else None if times[3] is None else int(times[3])
        elif self._at < len(self._text) and self._text[self._at] in "*+?":
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self._text[self._at]]
            self._at += 1
        else:
            return part
        if self._at < len(self._text) and self._text[self._at] in "*+?{":
            raise PatternRefused(f"a repetition is repeated, lazy or possessive; allowed: {_PLAIN}")
        if part.empty and most != 1:
            raise PatternRefused("what may be empty is repeated")
        if most is None and not self._anchored:
            raise PatternRefused("it repeats without bound from any place of a text; begin it with ^, or use {m,n}")
        return _times(part, least, most)

    def _takes(self, what: str) -> bool:
        found = self._text.startswith(what, self._at)
        self._at += len(what) * found
        return found


def _after_another(parts: Sequence[_Part]) -> _Part:
    first, empty = _NONE, True
    for part in parts:
        first |= part.first if empty else _NONE
        empty = empty and part.empty

    def ways(follow: Characters, looped: bool) -> int:
        product = 1
        for part in reversed(parts):
            product *= part.ways(follow, looped)
            follow = part.first | (follow if part.empty else _NONE)
        return product

    return _Part(first, empty, sum(part.size for part in parts) or 1, ways)


def _either(branches: Sequence[_Part]) -> _Part:
    first = frozenset[str]().union(*(branch.first for branch in branches))
    empties = sum(branch.empty for branch in branches)

    def ways(follow: Characters, looped: bool) -> int:
        apart = sum(len(branch.first) for branch in branches) == len(first) and empties <= 1
        told = apart and not (empties and first & follow)
        most = max(branch.ways(follow, looped) for branch in branches)
        return most if told else _open(looped, most * len(branches))

    return _Part(first, empties > 0, max(branch.size for branch in branches), ways)


def _times(part: _Part, least: int, most: int | None) -> _Part:
    def ways(follow: Characters, looped: bool) -> int:
        inner = part.ways(part.first | follow if most != 1 else follow, looped or most is None)
        told = least == most or not (part.empty or part.first & follow)
        if most is None:
            return 1 if told else _open(True, 1)
        # An exponent beyond these steps is beyond them whatever its base.
        inside = inner ** min(most, MOST_STEPS.bit_length())
        return inside if told else _open(looped, inside * (most - least + 1))

    return _Part(part.first, part.empty or least == 0, part.size * max(most or 1, least, 1), ways)


def _open(looped: bool, ways: int) -> int:
    if looped:
        raise PatternRefused(
            "an unbounded repetition can take one text in several ways; let what repeats and what follows differ in "
            "their first character, or use {m,n}"
        )
    return ways
