"""Whether the user's own words choose a value that a trusted field shows, computed anew by code (X4).

A model picks ids from lists; a hijacked one picks another. So an id counts where the user's words describe its row in a
way that fits no other row as well: by what its trusted fields say, as the largest or oldest, or as one of all. A twin,
or a decoy that the words fit too, leaves the choice open, and then a person makes it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from pydantic import JsonValue

from state.checks.dates import moment
from state.checks.gathered import every_one, has_most
from state.checks.known import Cell, Row, leaves
from state.checks.meaning import Meaning, meaning, number, plain, words_of
from state.labels import Label

Choice = Literal["described", "extreme", "all", "titled"]
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_COUNTS = {
    word: number
    for number, words in enumerate(("two dos both", "three tres", "four cuatro", "five cinco", "six seis"), 2)
    for word in words.split()
}
_FEW = frozenset(map(str, range(2, 11)))  # a greater number beside a superlative is a year or a size
_LONGEST_TITLE = 120  # characters
_Mention = tuple[str, str]


class _Thing(NamedTuple):
    """One thing that rows show: its trusted cells, what of them the words mention, and mention whole."""

    cells: tuple[Cell, ...]
    mentioned: frozenset[_Mention]
    whole: frozenset[_Mention]
    named: bool
    listed: bool
    titles: frozenset[str]


@dataclass(frozen=True)
class Selection:
    """The choices that a user's words make among the rows that a request showed.

    `stems` begin the words that name the effect: a thing that is called so is not named by them. What `left_out`
    mentions is not chosen.
    """

    words: Meaning
    rows: Sequence[Row]
    own_names: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    left_out: Meaning | None = None
    _things: dict[tuple[str, str], dict[str, _Thing]] = field(default_factory=dict, compare=False, repr=False)

    def choice(self, value: JsonValue, row: Row, cell: Cell) -> Choice | None:
        """How the words choose this value, which stands in this cell; None where they do not, or not it alone."""
        things = self._of(row, cell)
        one = things.get(_key(value))
        if one is None or self._is_left_out(one):
            return None
        others = [thing for key, thing in things.items() if key != _key(value)]
        if not one.listed:
            # Who steers a read can leave things out: that decides which is the one, not that each of all is meant.
            return self._all(cell, one, others)
        orders = self._orders(things.values())
        if any(self._extreme(order, value, row, cell) for order in orders):
            return "extreme"
        if isinstance(value, str) and has_most(value, cell.field, row, self.rows, self.words.text):
            return "extreme"
        if one.mentioned and _unlike(one, others) and (one.named or not orders):
            return "described"
        return self._all(cell, one, others) or self._titled(one, others)

    def _is_left_out(self, one: _Thing) -> bool:
        """Whether the words leave a thing out: by what its trusted fields say, or by a title that somebody gave it."""
        if self.left_out is None or not self.left_out.words:
            return False
        leaf_of = (leaf for cell in one.cells for leaf in leaves(cell.value) if isinstance(leaf, str | int | float))
        return any(_said(leaf, self.left_out, self.stems)[0] for leaf in leaf_of) or any(
            _said(title, self.left_out, self.stems)[1] for title in one.titles
        )

    def _titled(self, one: _Thing, others: Sequence[_Thing]) -> Choice | None:
        """The words say a whole title that somebody gave it, and nothing else shown has any of that title."""
        said = [title for title in one.titles if self.words.holds(title)]
        rival = any(title in plain(text) for title in said for other in others for text in other.titles)
        return "titled" if said and not rival else None

    def _extreme(self, order: tuple[str, int, str], value: JsonValue, row: Row, cell: Cell) -> bool:
        """Whether a value is the most or the least of what the sentence with the superlative narrows down to."""
        name, sign, word = order
        for sentence in _SENTENCE.split(self.words.text):
            said = meaning(sentence, self.words.today)
            if said.holds(word):
                things = Selection(said, self.rows, self.own_names, self.stems)._of(row, cell)
                one = things.pop(_key(value), None)
                if one is not None and _extreme((name, sign), one, list(things.values()), _how_many(sentence, word)):
                    return True
        return False

    def points_at(self, row: Row) -> bool:
        """Whether the words mention something that a trusted field of a row says."""
        return any(self._mention(cell)[0] for cell in row.cells if cell.label is not Label.UNTRUSTED)

    def _all(self, cell: Cell, one: _Thing, others: Sequence[_Thing]) -> Choice | None:
        """All of a kind are meant: of those that the words narrow down to, where they do."""
        kind = cell.field.identifies
        if kind is None or not every_one(kind, self.words.text):
            return None
        if self.left_out is not None and self.left_out.words and not any(map(self._is_left_out, others)):
            return None  # all but what? Nothing that was shown
        return "all" if not any(one.whole < other.whole for other in others) else None

    def _orders(self, things: Iterable[_Thing]) -> list[tuple[str, int, str]]:
        """The fields that a superlative of the words orders by, 1 the most, -1 the least, and the word."""
        found: dict[tuple[str, int, str], None] = {}
        fields = {cell.field.name: cell.field for thing in things for cell in thing.cells}
        for name, field_of_it in fields.items():
            for words, sign in ((field_of_it.most, 1), (field_of_it.least, -1)):
                found |= {(name, sign, word): None for word in words if self.words.holds(word)}
        return list(found)

    def _of(self, row: Row, cell: Cell) -> dict[str, _Thing]:
        """Every thing that the same kind of field shows, by the value that identifies it."""
        kind = cell.field.identifies
        name = ("kind", kind) if kind else (row.tool, cell.field.name)
        if name not in self._things:
            gathered: dict[str, list[tuple[Row, Cell]]] = {}
            for one in self.rows:
                for other in one.cells:
                    same = other.field.identifies == kind if kind else (one.tool, other.field.name) == name
                    if same and other.label is not Label.UNTRUSTED:
                        for leaf in leaves(other.value):
                            gathered.setdefault(_key(leaf), []).append((one, other))
            # The principal is no candidate: who else stands in a row is meant.
            self._things[name] = {
                key: self._thing(key, found) for key, found in gathered.items() if key not in self.own_names
            }
        return self._things[name]

    def _thing(self, key: str, found: Sequence[tuple[Row, Cell]]) -> _Thing:
        own = Cell(found[0][1].field, key, found[0][1].label)
        several = any(isinstance(cell.value, list | dict) for _, cell in found)
        rows = [row for row, _ in found]
        # A list in one cell names many things: what stands beside it describes all of them.
        beside = [] if several else [cell for row in rows for cell in row.cells if cell.label is not Label.UNTRUSTED]
        cells = (own, *(cell for cell in beside if cell.field.name != own.field.name))
        texts = (
            plain(cell.value)
            for row in rows
            for cell in row.cells
            if cell.label is Label.UNTRUSTED and isinstance(cell.value, str) and not several
        )
        titles = frozenset(text for text in texts if len(text) <= _LONGEST_TITLE and len(words_of(text)) > 1)
        said = [self._mention(cell) for cell in cells]
        mentioned = frozenset(mention for mentions, _ in said for mention in mentions)
        whole = frozenset(mention for mentions, all_of_it in said if all_of_it for mention in mentions)
        named, listed = any(all_of_it for _, all_of_it in said), not all(row.steered for row in rows)
        return _Thing(cells, mentioned, whole, named, listed, titles)

    def _mention(self, cell: Cell) -> tuple[frozenset[_Mention], bool]:
        """What of a cell stands in the words, and whether all of it does."""
        if isinstance(cell.value, str):
            return _said(cell.value, self.words, self.stems)
        found = [
            _said(leaf, self.words, self.stems) for leaf in leaves(cell.value) if isinstance(leaf, str | int | float)
        ]
        return frozenset().union(*(mentions for mentions, _ in found)), any(whole for _, whole in found)


@lru_cache(maxsize=32_768)
def _said(leaf: str | int | float, words: Meaning, stems: tuple[str, ...]) -> tuple[frozenset[_Mention], bool]:
    """What of one value the words mention, and whether all of it. Rows are the same from decision to decision."""
    if isinstance(leaf, bool):
        return frozenset(), False
    if isinstance(leaf, int | float):
        said = number(leaf) in words.numbers
        return frozenset({("number", str(number(leaf)))} if said else ()), said
    when = moment(leaf)
    if when is not None:
        mentions: set[_Mention] = set()
        if words.time.says_day(when[0]) and (words.time.days or words.time.weekdays):
            mentions.add(("day", when[0].isoformat()))
            if when[1] is not None and when[1] in words.time.hours:
                mentions.add(("hour", when[1].isoformat()))
        return frozenset(mentions), False
    parts = words_of(leaf)
    run = _longest_run(parts, words.sequence)
    found = frozenset(("word", word) for word in run if not word.startswith(stems))
    return found, (bool(parts) and len(run) == len(parts)) or words.says(leaf)


def _unlike(one: _Thing, others: Sequence[_Thing]) -> bool:
    """Whether what the words say of a thing fits no other as well, and names no other whole."""
    for other in others:
        if one.mentioned <= other.mentioned:
            return False
        if other.mentioned and other.mentioned < one.mentioned and other.named and not one.named:
            return False
    return True


def _how_many(sentence: str, superlative: str) -> int:
    """How many a superlative asks for: `the three largest`, `the top 3`; one where it says no number."""
    word = re.escape(plain(superlative))
    found = re.search(rf"\b(?:(\w+) {word}|top (\w+))\b", plain(sentence))
    said = next((one for one in found.groups() if one), "") if found else ""
    return _COUNTS.get(said) or (int(said) if said in _FEW else 1)


def _extreme(order: tuple[str, int], one: _Thing, others: Sequence[_Thing], many: int) -> bool:
    """Whether a thing is among the so many with the most or least of all that the words narrow down to."""
    name, sign = order
    rivals = [other for other in others if other.whole >= one.whole]
    if any(other.whole > one.whole for other in others):
        return False
    own = _rank(one, name)
    if own is None:
        return False
    ranks = [_rank(rival, name) for rival in rivals]
    # One whose place is not known might stand before it, and so might a twin.
    return sum(rank is None or sign * own <= sign * rank for rank in ranks) < many


def _rank(thing: _Thing, name: str) -> Decimal | None:
    """A thing's place by a field: its number, or its moment in seconds."""
    for cell in thing.cells:
        if cell.field.name == name and not isinstance(cell.value, list | dict | bool):
            value = number(cell.value)
            if value is not None:
                return value
            when = moment(str(cell.value))
            if when is not None:
                day, hour = when
                return Decimal(day.toordinal() * 86_400 + (hour.hour * 3_600 + hour.minute * 60 if hour else 0))
    return None


def _key(value: JsonValue) -> str:
    exact = number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return str(exact) if exact is not None else plain(str(value))


def _longest_run(parts: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The longest part of a name that the words say in one go: scattered words name nothing."""
    best: tuple[str, ...] = ()
    for start in range(len(parts)):
        for place, word in enumerate(words):
            length = 0
            while (
                start + length < len(parts)
                and place + length < len(words)
                and parts[start + length] == words[place + length]
            ):
                length += 1
            if word == parts[start] and length > len(best):
                best = tuple(parts[start : start + length])
    return best
