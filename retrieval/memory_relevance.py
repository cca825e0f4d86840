"""Which memories stand, and which of them bear on what is asked."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.memory_reading import Subject

Places = NDArray[np.int64]


class Ranked(NamedTuple):
    """A memory in its turn: the one that shares most with what is asked first, then the newest, then by id. `place` is
    where it stands in what lies of its subject."""

    against: float
    age: int
    memory_id: str
    subject: int
    place: int

    @property
    def share(self) -> float:
        """How much of its words is asked for, between 0 and 1."""
        return -self.against


def ranked(
    held: Subject, shares: NDArray[np.float64], among: NDArray[np.bool_], most: int, subject: int
) -> Iterator[Ranked]:
    """The most relevant of these, in order. What lies of a subject stands newest first, then by id."""
    places = np.flatnonzero(among)
    chosen = places[np.argsort(-shares[places], kind="stable")[:most]]
    for place in map(int, chosen):
        yield Ranked(-float(shares[place]), -int(held.made_us[place]), held.ids[place], subject, place)


def replaced_by_standing(held: Subject, current: Places) -> Places:
    """Of each topic one record stands: first by whose word counts more, then by date (H15). These are the others.
    Records without a topic, or of one that holds several, stand side by side.

    A writer marks what it replaces; this holds where two of them wrote at once.
    """
    topical = current[held.topics[current] >= 0]
    topics = held.topics[topical]
    # What lies of a subject stands newest first, then by id: of equals the first place.
    order = np.lexsort((topical, -held.made_us[topical], -held.authorities[topical], topics))
    replaced = topics[order][1:] == topics[order][:-1]
    found: Places = topical[order][1:][replaced]
    return found
