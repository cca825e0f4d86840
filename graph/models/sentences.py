"""Finding the sentences of documents that bear on a question. A sentence is copied or left out, never changed."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from graph.models.reading import Quoted
from graph.models.vocabulary import DETERMINER, SUGGESTING
from graph.models.words import is_content, spoken, terms

_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_NOT_PROSE = re.compile(r"\s*(#|\||>|---|===)")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)\s+(?=[A-ZÁÉÍÓÚÑ¿¡0-9`\"“(*])")
_AT_LEAST = 2  # words that a sentence must share with the question: one alone, any text about anything shares


class Found(NamedTuple):
    """A sentence with where it stands. `enough`: it can answer, not only follow an answer: it shares so much itself, or
    its document does that no sentence of which shares so much alone.
    """

    text: str
    source: str
    score: float
    place: int
    enough: bool
    suggests: bool


def sentences(text: str) -> Iterator[str]:
    """The prose sentences of a Markdown text; headings, tables, quotes and code are none."""
    paragraph: list[str] = []
    for line in [*_FENCE.sub("\n\n", text).splitlines(), ""]:
        starts_item = _BULLET.match(line)
        if not line.strip() or _NOT_PROSE.match(line) or starts_item:
            yield from _split(" ".join(paragraph))
            paragraph = []
        if line.strip() and not _NOT_PROSE.match(line):
            paragraph.append((line[starts_item.end() :] if starts_item else line).strip())
    yield from _split(" ".join(paragraph))


def _split(paragraph: str) -> Iterator[str]:
    yield from (sentence for sentence in _END.split(paragraph.strip()) if sentence)


def bearing_on(
    question: Collection[str], values: Collection[str], documents: Iterable[Quoted], named: Collection[str] = ()
) -> list[Found]:
    """The sentences that share a term with a question or with observed values, best first, each text once.

    Rare terms weigh more, observed values double: they are what the answer is about. The words of a source's name
    lift its sentences, but let none in, save those of the `named` sources, for which the question asks by name: what
    such a document says is about it, also where it does not repeat its name.
    """
    pool = [(text, quoted.source) for quoted in documents for text in sentences(quoted.text)]
    held = [set(terms(text)) for text, _ in pool]
    wanted = set(question) | set(values)

    def weight(term: str) -> float:
        rarity = math.log(1 + len(pool) / sum(term in words for words in held))
        return rarity * (2 if term in values else 1)

    found: dict[str, Found] = {}
    asked_by: dict[str, set[str]] = {}
    for place, ((text, source), words) in enumerate(zip(pool, held, strict=True)):
        shared = words & wanted
        if source in named:
            score = sum(map(weight, sorted(shared))) + len(set(terms(source)) & wanted)
            found.setdefault(text, Found(text, source, score, place, True, _suggests(text)))
        elif shared:
            enough = len(shared) >= min(_AT_LEAST, len(wanted)) or not shared.isdisjoint(set(values) - set(question))
            score = sum(map(weight, sorted(shared))) + len(set(terms(source)) & set(values))
            found.setdefault(text, Found(text, source, score, place, enough, _suggests(text)))
            asked_by.setdefault(source, set()).update(shared.intersection(question))
    answering = {one.source for one in found.values() if one.enough}
    spread = {source for source, asked in asked_by.items() if len(asked) >= _AT_LEAST} - answering
    all_found = (one._replace(enough=True) if one.source in spread else one for one in found.values())
    return sorted(all_found, key=lambda one: (-one.score, one.place))


def _suggests(sentence: str) -> bool:
    """Whether a sentence says what may be done: by a modal verb, or as an imperative with its object."""
    words = spoken(sentence)
    imperative = len(words) > 1 and is_content(words[0]) and words[1] in DETERMINER and not words[0].endswith("ing")
    return imperative or not SUGGESTING.isdisjoint(words)


def in_order(found: Sequence[Found]) -> list[Found]:
    """The sentences in the order in which the documents have them."""
    return sorted(found, key=lambda one: one.place)
