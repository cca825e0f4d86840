"""Whether the user's own words choose a value that a trusted field shows, computed anew by code (X4).

A model picks ids from lists; a hijacked one picks another. So an id counts where the user's words describe its row in a
way that fits no other row as well: by what its trusted fields say, as the largest or oldest, or as one of all. A twin,
or a decoy that the words fit too, leaves the choice open, and then a person makes it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple

from pydantic import JsonValue

from state.checks.asked import asked_for
from state.checks.dates import moment
from state.checks.gathered import effect_named, every_one, has_most, how_many
from state.checks.kept import kept
from state.checks.known import Cell, Row, leaves
from state.checks.meaning import Meaning, mailbox, meaning, number, plain, spaced, words_of

Choice = Literal["described", "extreme", "all", "titled"]
_ORDINAL = r"\b(?:second|third|fourth|fifth|sixth|next|last|\d+(?:st|nd|rd|th)|segund[oa]|tercer[oa]?|siguiente)"
_Mention = tuple[str, str]
_Said = tuple[frozenset[_Mention], bool]
_NOTHING: _Said = (frozenset(), False)
_MOST_MENTIONS = 16_384  # values, and rows, of which is kept what the same words mention of them


class _Thing(NamedTuple):
    """One thing that rows show: what identifies it, its rows, what of them the words mention, and mention whole."""

    own: Cell
    rows: tuple[Row, ...]
    mentioned: frozenset[_Mention]
    whole: frozenset[_Mention]
    named: bool
    listed: bool
    titles: frozenset[str]

    @property
    def cells(self) -> Iterator[Cell]:
        """Its trusted cells."""
        yield self.own
        for row in self.rows:
            yield from (cell for cell in row.trusted if cell.field.name != self.own.field.name)


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

    @cached_property
    def _mentions(self) -> "_Mentions":
        found = _mentions_of(self.words, self.stems)
        for held in found:
            if len(held) > _MOST_MENTIONS:
                held.clear()
        return found

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
        held = (leaf for cell in one.cells for leaf in leaves(cell.value))
        leaf_of = (leaf for leaf in held if isinstance(leaf, str | int | float) and not isinstance(leaf, bool))
        return any(_said(leaf, self.left_out, self.stems)[0] for leaf in leaf_of) or any(
            _said(title, self.left_out, self.stems)[1] for title in one.titles
        )

    def _titled(self, one: _Thing, others: Sequence[_Thing]) -> Choice | None:
        """The words say a whole title that somebody gave it, and nothing else shown has any of that title."""
        said = [title for title in one.titles if self.words.holds(title)]
        rival = any(title in plain(text) for title in said for other in others for text in other.titles)
        return "titled" if said and not rival else None

    def _extreme(self, order: tuple[str, int, str], value: JsonValue, row: Row, cell: Cell) -> bool:
        """Whether a value is the most or the least of what the sentence with the superlative narrows down to: one that
        asks for the effect."""
        name, sign, word = order
        for sentence in asked_for(self.words.text):
            said = meaning(sentence, self.words.today)
            if not effect_named(said.words, self.stems) or _second(sentence, word):
                continue
            if said.holds(word):
                things = Selection(said, self.rows, self.own_names, self.stems)._of(row, cell)
                one = things.pop(_key(value), None)
                if one is not None and _extreme((name, sign), one, list(things.values()), how_many(sentence, word)):
                    return True
        return False

    def points_at(self, row: Row) -> bool:
        """Whether the words mention something that a trusted field of a row says."""
        return any(self._mention(cell.value)[0] for cell in row.trusted)

    def _all(self, cell: Cell, one: _Thing, others: Sequence[_Thing]) -> Choice | None:
        """All of a kind are meant: of those that the words narrow down to, where they do."""
        kind = cell.field.identifies
        asked = every_one(kind, self.words.text, self.stems) if kind is not None else None
        if asked is None or (asked == "within" and not one.mentioned):
            return None
        if self.left_out is not None and self.left_out.words and not any(map(self._is_left_out, others)):
            return None  # all but what? Nothing that was shown
        return "all" if not any(one.whole < other.whole for other in others) else None

    def _orders(self, things: Iterable[_Thing]) -> list[tuple[str, int, str]]:
        """The fields that a superlative of the words orders by, 1 the most, -1 the least, and the word."""
        found: dict[tuple[str, int, str], None] = {}
        fields = {one.name: one for thing in things for row in thing.rows for one in row.ordered}
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
                for other in one.trusted:
                    same = other.field.identifies == kind if kind else (one.tool, other.field.name) == name
                    if same:
                        for leaf in leaves(other.value):
                            gathered.setdefault(_key(leaf), []).append((one, other))
            # The principal is no candidate: who else stands in a row is meant.
            self._things[name] = {
                key: self._thing(key, found) for key, found in gathered.items() if plain(key) not in self.own_names
            }
        return self._things[name]

    def _thing(self, key: str, found: Sequence[tuple[Row, Cell]]) -> _Thing:
        own = found[0][1]
        several = any(isinstance(cell.value, list | dict) for _, cell in found)
        # A list in one cell names many things: what stands beside it describes all of them.
        rows = () if several else tuple(row for row, _ in found)
        said = [self._mention(key)]
        said += [one for row in rows for name, one in self._of_row(row) if name != own.field.name]
        return _Thing(
            own=own._replace(value=key),
            rows=rows,
            mentioned=frozenset().union(*(mentions for mentions, _ in said)),
            whole=frozenset().union(*(mentions for mentions, all_of_it in said if all_of_it)),
            named=any(all_of_it for _, all_of_it in said),
            listed=not all(row.steered for row, _ in found),
            titles=rows[0].titles if len(rows) == 1 else frozenset().union(*(row.titles for row in rows)),
        )

    def _of_row(self, row: Row) -> tuple[tuple[str, _Said], ...]:
        """What the words mention of a row, by field. Rows are the same values from decision to decision."""
        held = self._mentions.rows.get(id(row))
        if held is None or held[0] is not row:
            each = ((cell.field.name, self._mention(cell.value)) for cell in row.trusted)
            held = (row, tuple((name, said) for name, said in each if said != _NOTHING))
            self._mentions.rows[id(row)] = held
        return held[1]

    def _mention(self, value: JsonValue) -> _Said:
        """What of a value stands in the words, and whether all of it does."""
        if isinstance(value, bool) or value is None:
            return _NOTHING
        if isinstance(value, list | dict):
            found = [self._mention(leaf) for leaf in leaves(value)]
            return frozenset().union(*(mentions for mentions, _ in found)), any(whole for _, whole in found)
        said = self._mentions.values.get(value)
        if said is None:
            said = self._mentions.values[value] = _said(value, self.words, self.stems)
        return said


class _Mentions(NamedTuple):
    """What the words mention of values, and of rows, that were asked for before."""

    values: dict[str | int | float, _Said]
    rows: dict[int, tuple[Row, tuple[tuple[str, _Said], ...]]]


@kept(most=64)
def _mentions_of(words: Meaning, stems: tuple[str, ...]) -> _Mentions:
    return _Mentions({}, {})


def _said(leaf: str | int | float, words: Meaning, stems: tuple[str, ...]) -> _Said:
    """What of one value the words mention, and whether all of it."""
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
    run = longest_run(parts, words.sequence)
    found = frozenset(("word", word) for word in run if not word.startswith(stems))
    return found, (bool(parts) and len(run) == len(parts)) or words.says(leaf)


def _second(sentence: str, superlative: str) -> bool:
    """Whether a superlative has a place beside the first: `the second largest`."""
    return re.search(rf"{_ORDINAL}[\s-]+{re.escape(plain(superlative))}\b", plain(sentence)) is not None


def _unlike(one: _Thing, others: Sequence[_Thing]) -> bool:
    """Whether what the words say of a thing fits no other as well, and names no other whole."""
    for other in others:
        if one.mentioned <= other.mentioned:
            return False
        if other.mentioned and other.mentioned < one.mentioned and other.named and not one.named:
            return False
    return True


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
    if exact is not None:
        return str(exact)
    return mailbox(str(value)) if "@" in str(value) else spaced(str(value))


def longest_run(parts: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
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
