"""Names that mean nothing: whatever works with them rests on no word that somebody wrote down."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from graph.models.words import is_content, stem

_ONSETS = ("b", "br", "d", "dr", "f", "fl", "g", "gr", "k", "kl", "m", "n", "p", "pl", "r", "t", "tr", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("b", "k", "l", "m", "n", "p", "r", "t", "x", "z")


@dataclass(frozen=True)
class Names:
    """The words of one random domain. `things` are nouns, `deeds` verbs, `states` values; `letters` start ids."""

    seed: int
    things: tuple[str, ...] = field(init=False)
    deeds: tuple[str, ...] = field(init=False)
    states: tuple[str, ...] = field(init=False)
    letters: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        words = _distinct(rng)
        for name, many in (("things", 6), ("deeds", 4), ("states", 3)):
            object.__setattr__(self, name, tuple(next(words) for _ in range(many)))
        object.__setattr__(self, "letters", tuple(rng.sample("BCDFGHJKLMNPQRSTVWXZ", 2)))


def _distinct(rng: random.Random) -> Iterator[str]:
    """Words of two or three syllables that differ in their first four letters and are no function words."""
    beginnings: set[str] = set()
    while True:
        syllables = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 3)))]
        word = "".join(syllables) + rng.choice(_CODAS)
        if word[:4] not in beginnings and is_content(word) and stem(word) == word:
            beginnings.add(word[:4])
            yield word
