"""Finding what documents say that bears on a question. A sentence is copied or left out, never changed."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from typing import NamedTuple

from graph.models.passages import Passage, passages
from graph.models.reading import Quoted
from graph.models.vocabulary import DETERMINER, SUGGESTING
from graph.models.words import is_content, spoken, terms, terms_and_numbers

AT_LEAST = 2  # words that must be shared with the question: one alone, any text about anything shares
_BY_PLACE = 0.5  # what a word counts for that stands in a heading or in a table's head only: all below shares it


class Found(NamedTuple):
    """A sentence or a table's row with where it stands. `shared` counts the words that it has with the question, its
    headings included. `enough`: it can answer, not only follow an answer: it shares so much itself, or its document
    does that no sentence of which shares so much alone.
    """

    text: str
    source: str
    score: float
    place: int
    shared: int
    enough: bool
    suggests: bool


class _Held(NamedTuple):
    """A passage as its words: its own, those of the headings above it, and those of its table's head."""

    passage: Passage
    source: str
    own: frozenset[str]
    headings: frozenset[str]
    columns: frozenset[str]

    @property
    def about(self) -> frozenset[str]:
        """The words that say what it is about, and that it shares with all that stands beside it."""
        return self.headings | self.columns

    def answers(self, wanted: Set[str], question: Set[str]) -> bool:
        """Whether it shares enough. A section is about a question by its headings; a row by its head and its cells."""
        own, least = self.own & wanted, _least(wanted)
        if not self.passage.cells:
            # What was observed says what the answer is about. Where nothing was, a heading also adds to a sentence.
            added = self.headings if wanted == question and own else frozenset[str]()
            return len(own | (added & wanted)) >= least or len(self.headings & question) >= _least(question)
        # A row without a word of its own is one of many: it answers where all of them do.
        return len(own | (self.about & wanted)) >= least and (bool(own) or self.about >= question)


def _least(words: Set[str]) -> int:
    return max(1, min(AT_LEAST, len(words)))


def bearing_on(
    question: Collection[str],
    values: Collection[str],
    documents: Iterable[Quoted],
    named: Collection[str] = (),
    known: Collection[str] = (),
) -> list[Found]:
    """What shares words with a question or with observed values, best first, each text once.

    Rare terms weigh more, observed values double: they are what the answer is about. The headings above a sentence are
    part of what it says. The words of a source's name lift its sentences, but let none in, save those of the `named`
    sources, for which the question asks by name: what such a document says is about it, also where it does not repeat
    its name. What shares only words of what is `known` already has nothing to add, nor has a row beside one that shares
    all that it does and more.
    """
    pool = [_held(passage, quoted.source) for quoted in documents for passage in passages(quoted.text)]
    held = Counter(term for one in pool for term in one.own)
    question, values = frozenset(question), frozenset(values)
    wanted = question | values
    rows = {(one.source, one.own & wanted) for one in pool if one.passage.cells}

    def weight(words: Iterable[str]) -> float:
        # Sorted: a sum of floats depends on its order, and a set's order on the process.
        return sum(math.log(1 + len(pool) / (held[term] or 1)) * (2 if term in values else 1) for term in sorted(words))

    found: dict[str, Found] = {}
    asked_by: dict[str, set[str]] = {}
    for place, one in enumerate(pool):
        own, about = one.own & wanted, (one.about & wanted) - one.own
        outdone = one.passage.cells and any(source == one.source and own < more for source, more in rows)
        if outdone or (own | about and (own | about).issubset(known)):
            continue
        enough = one.answers(wanted, question)
        if one.source in named or own or enough:
            by_name = wanted if one.source in named else values
            score = weight(own) + _BY_PLACE * weight(about) + len(set(terms(one.source)) & by_name)
            enough = enough or one.source in named or _shows(one, own, question)
            text, shared = one.passage.text, len(own | about)
            found.setdefault(text, Found(text, one.source, score, place, shared, enough, _suggests(one.passage)))
            asked_by.setdefault(one.source, set()).update(own.intersection(question))
    answering = {one.source for one in found.values() if one.enough}
    spread = {source for source, asked in asked_by.items() if len(asked) >= AT_LEAST} - answering
    all_found = (one._replace(enough=True) if one.source in spread else one for one in found.values())
    return sorted(all_found, key=lambda one: (-one.score, one.place))


def _held(passage: Passage, source: str) -> _Held:
    headings = terms(f"{passage.headings} {source.partition('#')[2]}")
    own = terms_and_numbers(passage.cells or passage.text)
    return _Held(passage, source, *map(frozenset, (own, headings, terms(passage.columns))))


def _shows(one: _Held, own: Collection[str], question: Collection[str]) -> bool:
    """Whether a sentence speaks of an observed value that the question did not name: it explains what was found."""
    return not one.passage.cells and not set(own).issubset(question)


def _suggests(passage: Passage) -> bool:
    """Whether a sentence says what may be done: by a modal verb, or as an imperative with its object. A row states."""
    words = spoken(passage.text)
    imperative = len(words) > 1 and is_content(words[0]) and words[1] in DETERMINER and not words[0].endswith("ing")
    return not passage.cells and (imperative or not SUGGESTING.isdisjoint(words))


def in_order(found: Sequence[Found]) -> list[Found]:
    """The sentences in the order in which the documents have them."""
    return sorted(found, key=lambda one: one.place)
