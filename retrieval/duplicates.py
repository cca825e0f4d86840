"""Near-duplicates among what was found: of texts that say the same, the one with the better standing stays (S5).

Compared are only chunks that one access found, so no text that it may not read has a part in what it is shown.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from retrieval.fuse import Fused, order
from state.knowledge import HINT, Chunk

SHINGLE_WORDS = 5
ALIKE = 0.8  # of two texts' shingles are in both: of a hundred words two may be more in one of them
SHORTEST_WORDS = 20  # shorter texts are the same word by word, or two texts

# A word more that turns a sentence round.
_NEGATIONS = {
    *("no", "not", "never", "none", "nor", "without", "cannot", "except", "unless", "only"),
    *("isn", "aren", "don", "doesn", "didn", "won", "can", "t"),
    *("nunca", "jamás", "sin", "ni", "tampoco", "nada", "nadie", "ningún", "ninguna", "ninguno"),
    *("excepto", "salvo", "solo", "sólo"),
}


@dataclass(frozen=True)
class Text:
    """A chunk's text as words, whatever its case, accents' form, punctuation and marks."""

    chunk: Chunk

    @cached_property
    def words(self) -> tuple[str, ...]:
        return _words(self.chunk.text)

    @cached_property
    def subject(self) -> tuple[object, ...]:
        """What the text is about: the same sentence under another title is another statement."""
        return (*map(_words, (self.chunk.title, *self.chunk.headings)), self.chunk.product, self.chunk.language)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        return frozenset(zip(*(self.words[start:] for start in range(SHINGLE_WORDS)), strict=False))


def collapse(found: Sequence[Fused], k: int) -> tuple[tuple[Fused, ...], tuple[Chunk, ...]]:
    """The k best of what was found, most relevant first, without near-duplicates; and those that were left out.

    Of two that say the same the one of higher authority stays, then the one in force since later, then the more
    relevant; it keeps the better relevance of the two, since both have the text. What comes behind the k-th distinct
    text is not looked at.
    """
    kept: list[tuple[Fused, Text]] = []
    left_out: list[Chunk] = []
    for one in found:
        if len(kept) >= k:
            break
        text = Text(one.chunk)
        place = next((place for place, (_, other) in enumerate(kept) if alike(text, other)), None)
        if place is None:
            kept.append((one, text))
            continue
        before, _ = kept[place]
        if _standing(one.chunk) > _standing(before.chunk):
            kept[place] = (_as_relevant(one, before), text)
            left_out.append(before.chunk)
        else:
            left_out.append(one.chunk)
    return tuple(sorted((one for one, _ in kept), key=order)), tuple(left_out)


def alike(one: Text, other: Text) -> bool:
    """Whether two texts say the same: word by word, or one is the other with a few words more.

    A word in the place of another makes two texts, and so does a figure or a negation more: "on Linux" for "on
    Windows", 30 days for 14. So do another title, heading, product or language.
    """
    if one.subject != other.subject:
        return False
    if one.words == other.words:
        return True
    shorter, longer = sorted((one, other), key=lambda text: len(text.words))
    if len(shorter.words) < SHORTEST_WORDS or not shorter.counts <= longer.counts:
        return False
    more = longer.counts - shorter.counts
    if any(word in _NEGATIONS or any(letter.isdigit() for letter in word) for word in more):
        return False
    both = len(shorter.shingles & longer.shingles)
    return both >= ALIKE * len(shorter.shingles | longer.shingles)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _as_relevant(one: Fused, as_: Fused) -> Fused:
    """A copy with the relevance of the one that was found before it, and with the hint that was due to, if it was."""
    scores = {name: score for name, score in one.scores.items() if name != HINT}
    scores |= {name: score for name, score in as_.scores.items() if name == HINT}
    return one.model_copy(update={"relevance": as_.relevance, "scores": scores})


def _standing(chunk: Chunk) -> tuple[float, float]:
    return chunk.authority, chunk.effective_from.timestamp()
