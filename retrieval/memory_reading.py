"""Stored memories as they are checked, read leniently: rubbish is told apart, never an error (H14)."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from retrieval.words import query_words, word_forms
from state.checks.kept import lets_go
from state.memory import KNOWN, MemoryRecord

_MOST_HELD = 50_000  # records that one process holds as read: about 100 MB
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
NEVER_US = np.iinfo(np.int64).max
UNREADABLE_US = np.iinfo(np.int64).min


_Read = tuple[str, Mapping[str, Any], MemoryRecord | None, tuple[str, ...]]  # id, what is stored, what it says, words


@dataclass(frozen=True)
class Subject:
    """What lies of one subject, the newest first, then by id: what the checks look at as one array each, in the same
    order, so that ten thousand records are checked at once.

    `values` is what was stored, `records` what it says, None for what is no record, `words` its words. Times are
    microseconds since 1970. `topics` has a number for each topic of which one record stands, else -1. `places` says by
    word in which records it stands, `lengths` of how many words each is made.
    """

    ids: tuple[str, ...]
    values: tuple[Mapping[str, Any], ...]
    words: tuple[tuple[str, ...], ...]
    records: tuple[MemoryRecord | None, ...]
    purposes: NDArray[np.object_]
    expires_us: NDArray[np.int64]
    review_us: NDArray[np.int64]
    replaced: NDArray[np.bool_]
    said_by_somebody: NDArray[np.bool_]
    readable: NDArray[np.bool_]
    facts: NDArray[np.bool_]
    made_us: NDArray[np.int64]
    authorities: NDArray[np.int64]
    topics: NDArray[np.int64]
    lengths: NDArray[np.int64]
    places: Mapping[str, NDArray[np.int64]]

    def shares(self, words: Iterable[str]) -> NDArray[np.float64]:
        """How much of each record's words is among these, between 0 and 1."""
        found = [self.places[word] for word in words if word in self.places]
        if not found:
            return np.zeros(len(self.ids))
        return np.bincount(np.concatenate(found), minlength=len(self.ids)) / self.lengths


def subject_of(stored: Iterable[tuple[str, Mapping[str, Any]]], before: Subject | None = None) -> Subject:
    """What was stored of one subject under these ids, as the checks see it. What is as it was `before` is not read
    anew."""
    known = {} if before is None else {key: place for place, key in enumerate(before.ids)}
    forms_of = lru_cache(maxsize=None)(word_forms)  # for this reading alone: it holds words of the subject's
    read: list[_Read] = []
    for key, value in stored:
        place = known.get(key)
        if before is not None and place is not None and before.values[place] == value:
            read.append((key, before.values[place], before.records[place], before.words[place]))
            continue
        text = value.get("text")
        words = tuple(query_words(text, forms_of)) if isinstance(text, str) else ()
        read.append((key, value, _record(value), words))
    read.sort(key=lambda one: (-_made(one[2]), one[0]))
    values, records = [one[1] for one in read], [one[2] for one in read]
    words_of = tuple(one[3] for one in read)
    places: dict[str, list[int]] = {}
    for place, own in enumerate(words_of):
        for word in own:
            places.setdefault(word, []).append(place)
    number_of = {about: number for number, about in enumerate({record.about for record in records if record})}
    reviews = [record.review_at if record else None for record in records]
    return Subject(
        ids=tuple(one[0] for one in read),
        values=tuple(values),
        words=words_of,
        records=tuple(records),
        purposes=np.array(
            [purpose if isinstance(purpose := value.get("purpose"), str) else "" for value in values], object
        ),
        expires_us=np.array([_moment_us(value.get("expires_at")) for value in values], np.int64),
        review_us=np.array([NEVER_US if at is None else in_us(at) for at in reviews], np.int64),
        replaced=np.array([value.get("superseded_by") is not None for value in values], bool),
        said_by_somebody=np.array(
            [value.get("source") in KNOWN and bool(value.get("source_ref")) for value in values], bool
        ),
        readable=np.array([record is not None for record in records], bool),
        facts=np.array([record is not None and record.is_fact for record in records], bool),
        made_us=np.array([_made(record) for record in records], np.int64),
        authorities=np.array([-1 if record is None else record.authority for record in records], np.int64),
        topics=np.array(
            [number_of[record.about] if record and record.about and not record.beside else -1 for record in records],
            np.int64,
        ),
        lengths=np.array([max(1, len(own)) for own in words_of], np.int64),
        places={word: np.array(held, np.int64) for word, held in places.items()},
    )


class Shelf:
    """What was read of whom, in this process, newest use last. Forgetting clears it."""

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, str], tuple[str, Subject]] = OrderedDict()
        self._lock = Lock()
        lets_go(self)

    def held(self, whose: tuple[str, str], state: str, read: Callable[[Subject | None], Subject]) -> Subject:
        """What was read in this state, else what `read` brings now, which is given what was read before. `state` was
        asked for before: what is written while it reads changes the state again. What was never written through us has
        no state and is read each time."""
        with self._lock:
            before = self._read.pop(whose, None)
            if state and before is not None and before[0] == state:
                self._read[whose] = before
                return before[1]
        found = read(None if before is None else before[1])
        with self._lock:
            if state and len(found.ids) <= _MOST_HELD:
                self._read[whose] = (state, found)
                while sum(len(held.ids) for _, held in self._read.values()) > _MOST_HELD:
                    self._read.popitem(last=False)
        return found

    def let_go(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._read.clear()


def read_as(value: Mapping[str, Any], tenant: str, subject: str) -> MemoryRecord | None:
    """The record of this subject that a stored value is; None for anything else."""
    return _record(value) if (value.get("tenant"), value.get("subject")) == (tenant, subject) else None


def in_us(moment: datetime) -> int:
    """An aware moment in microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def _record(value: Mapping[str, Any]) -> MemoryRecord | None:
    try:
        return MemoryRecord.model_validate(value)
    except ValidationError:
        return None


def _made(record: MemoryRecord | None) -> int:
    return 0 if record is None else in_us(record.created_at)


def _moment_us(value: object) -> int:
    """An aware time from a stored text; UNREADABLE_US for anything else, a naive time included."""
    if not isinstance(value, str):
        return UNREADABLE_US
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return UNREADABLE_US
    return in_us(found) if found.tzinfo is not None else UNREADABLE_US
