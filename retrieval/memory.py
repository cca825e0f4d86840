"""Scoped memory on LangGraph's Store: four checks before a record is used, in order (S6, H14)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from langgraph.store.base import BaseStore, PutOp, SearchItem
from numpy.typing import NDArray

from retrieval.memory_reading import UNREADABLE_US, Shelf, Subject, in_us, read_as, subject_of
from retrieval.memory_relevance import Ranked, ranked, replaced_by_standing
from retrieval.words import query_words
from state.canonical import digest
from state.context import DropReason
from state.memory import MemoryRecord
from state.memory_ports import Recalled
from state.run import Scope

ROOT, STATES = "memory", "memory_states"
PAGE = 10_000
LISTED = 20  # of what is let in, and of what is excluded: the rest is counted
PASSED = 0
_CODE = {reason: code for code, reason in enumerate(DropReason, start=PASSED + 1)}
_REASONS = {code: reason for reason, code in _CODE.items()}


class StoreMemory:
    """Implements state.ports.MemoryStore; records lie under ("memory", tenant, subject).

    Beside a subject's records stands its state, which every write changes: what this process read of it holds until
    then, whichever process writes.
    """

    def __init__(self, store: BaseStore) -> None:
        self._store = store
        self._shelf = Shelf()

    def add(self, *memories: MemoryRecord) -> None:
        """Write records, or replace those of the same id and subject, together. Their times are aware by their type."""
        puts = [
            PutOp(namespace(memory.tenant, memory.subject), memory.memory_id, memory.model_dump(mode="json"), False)
            for memory in memories
        ]
        for tenant, subject in dict.fromkeys((memory.tenant, memory.subject) for memory in memories):
            puts.append(self._changed(tenant, subject, [str(put.value) for put in puts]))
        self._store.batch(puts)

    def recall(self, scope: Scope, purpose: str, now: datetime, asked: str = "") -> Recalled:
        """The records of the scope's tenant and subjects for a purpose, facts apart from hypotheses, the most relevant
        to what is `asked` first, then the newest; at most LISTED of each.

        The four checks, in order: subject and tenant; purpose; still current (out at exactly `expires_at`, past its
        review, or where another of its topic stands); source known. A record that fails the first is someone else's and
        appears nowhere (M6); the others are counted by reason, and the most relevant listed by id with theirs. Stored
        rubbish is excluded too, never an error.
        """
        wanted = query_words(asked)
        held = [self._known(scope.tenant, subject) for subject in dict.fromkeys(scope.principal.subjects)]
        facts: list[Ranked] = []
        guesses: list[Ranked] = []
        out: list[tuple[Ranked, DropReason]] = []
        counts: Counter[DropReason] = Counter()
        for number, one in enumerate(held):
            shares, why = one.shares(wanted), _why(one, purpose, now)
            for turns, places in ((facts, (why == PASSED) & one.facts), (guesses, (why == PASSED) & ~one.facts)):
                turns += ranked(one, shares, places, 2 * LISTED, number)
                counts[DropReason.OVER_LIMIT] += int(places.sum())
            out += [(turn, _REASONS[why[turn.place]]) for turn in ranked(one, shares, why != PASSED, LISTED, number)]
            counts.update({_REASONS[code]: int((why == code).sum()) for code in set(map(int, why)) - {PASSED}})
        kept = (sorted(facts)[:LISTED], sorted(guesses)[:LISTED])
        counts[DropReason.OVER_LIMIT] -= sum(map(len, kept))
        out += [(turn, DropReason.OVER_LIMIT) for turns in (facts, guesses) for turn in sorted(turns)[LISTED:]]
        return Recalled(
            facts=tuple(_records(held, kept[0])),
            hypotheses=tuple(_records(held, kept[1])),
            excluded=tuple(sorted((turn.memory_id, reason) for turn, reason in sorted(out)[:LISTED])),
            excluded_by_reason={reason: count for reason, count in sorted(counts.items()) if count},
            relevance={turn.memory_id: turn.share for turns in kept for turn in turns},
        )

    def current(self, scope: Scope, purpose: str, now: datetime) -> frozenset[str]:
        """The ids of all that pass the four checks now."""
        held = (self._known(scope.tenant, subject) for subject in dict.fromkeys(scope.principal.subjects))
        return frozenset(one.ids[place] for one in held for place in np.flatnonzero(_why(one, purpose, now) == PASSED))

    def seed(self, memories: Iterable[MemoryRecord]) -> None:
        """Write records that a domain starts with, anew at each opening; what was replaced since stays replaced."""
        given = tuple(memories)
        whose = {(one.tenant, one.subject) for one in given}
        held = {(*of, name): kept for of in whose for name, kept in self.of(*of)}
        before = [(one, held.get((one.tenant, one.subject, one.memory_id))) for one in given]
        if fresh := [one for one, kept in before if kept is None or (kept != one and kept.superseded_by is None)]:
            self.add(*fresh)

    def of(self, tenant: str, subject: str) -> tuple[tuple[str, MemoryRecord | None], ...]:
        """All that lies in one subject's place and below it, by id, whatever it says; None for what is no record of it.

        What nobody can read, or names no subject, is found by where it lies.
        """
        return tuple((item.key, read_as(item.value, tenant, subject)) for item in self._lying(tenant, subject))

    def subjects(self) -> tuple[tuple[str, str], ...]:
        """Everyone of whom something is kept, as tenant and subject."""
        found: list[tuple[str, ...]] = []
        while page := self._store.list_namespaces(prefix=(ROOT,), max_depth=3, limit=PAGE, offset=len(found)):
            found += page
        return tuple((_name(place[1]), _name(place[2])) for place in found if len(place) == 3)

    def remove(self, tenant: str, subject: str, memory_ids: Iterable[str]) -> None:
        """Delete what lies in one subject's place and below it under these ids. What is not there is passed over."""
        ids = frozenset(memory_ids)
        gone = [PutOp(item.namespace, item.key, None) for item in self._lying(tenant, subject) if item.key in ids]
        if gone:
            self._store.batch([*gone, self._changed(tenant, subject, sorted(ids))])
        self._shelf.let_go()

    def _changed(self, tenant: str, subject: str, by: list[str]) -> PutOp:
        """What writes a subject's next state: made of the one before and of the change, so that no change is lost where
        two processes write at once."""
        place, key = _state(tenant, subject)
        return PutOp(place, key, {"state": digest([self._state_of(tenant, subject), *by])}, False)

    def _state_of(self, tenant: str, subject: str) -> str:
        place, key = _state(tenant, subject)
        held = self._store.get(place, key)
        return "" if held is None else str(held.value.get("state"))

    def _known(self, tenant: str, subject: str) -> Subject:
        """The records of one subject as they were read last; read again where its state is another one."""
        state = self._state_of(tenant, subject)
        return self._shelf.held((tenant, subject), state, lambda before: subject_of(self._own(tenant, subject), before))

    def _own(self, tenant: str, subject: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The raw records of one subject; the first check."""
        place = namespace(tenant, subject)
        for item in self._lying(tenant, subject):
            if item.namespace == place and (item.value.get("tenant"), item.value.get("subject")) == (tenant, subject):
                yield item.key, item.value

    def _lying(self, tenant: str, subject: str) -> Iterator[SearchItem]:
        """Whatever lies in one subject's place, and below it."""
        place = namespace(tenant, subject)
        offset = 0
        while items := self._store.search(place, limit=PAGE, offset=offset):
            # A store's search goes by prefix: asked for u1 it may also bring u10.
            yield from (item for item in items if item.namespace[: len(place)] == place)
            offset += len(items)


def check(held: Subject, purpose: str, now: datetime) -> NDArray[np.int8]:
    """The second to fourth check on what lies of the right subject: PASSED, or a code of why it is left out."""
    at = in_us(now)
    failed = (
        (held.purposes != purpose, DropReason.OTHER_PURPOSE),
        (held.expires_us == UNREADABLE_US, DropReason.INVALID_EXPIRY),
        (held.expires_us <= at, DropReason.EXPIRED),
        (held.replaced, DropReason.SUPERSEDED),
        (~held.said_by_somebody, DropReason.UNKNOWN_SOURCE),
        (~held.readable, DropReason.MALFORMED),
        (held.review_us <= at, DropReason.REVIEW_DUE),
    )
    return np.select([where for where, _ in failed], [_CODE[reason] for _, reason in failed], PASSED).astype(np.int8)


def _why(held: Subject, purpose: str, now: datetime) -> NDArray[np.int8]:
    """As `check`; and of each topic one record stands."""
    why = check(held, purpose, now)
    why[replaced_by_standing(held, np.flatnonzero(why == PASSED))] = _CODE[DropReason.SUPERSEDED]
    return why


def _records(held: Sequence[Subject], turns: Iterable[Ranked]) -> Iterator[MemoryRecord]:
    found = (held[turn.subject].records[turn.place] for turn in turns)
    return (record for record in found if record is not None)


def namespace(tenant: str, subject: str) -> tuple[str, str, str]:
    """Where a subject's records lie. Raises ValueError for an empty name."""
    if not tenant or not subject:
        raise ValueError(f"tenant {tenant!r} and subject {subject!r} must both be given; none may be empty")
    return (ROOT, _label(tenant), _label(subject))


def _state(tenant: str, subject: str) -> tuple[tuple[str, str], str]:
    _, of, whose = namespace(tenant, subject)
    return (STATES, of), whose


def _label(name: str) -> str:
    # The Store joins labels with dots and refuses labels that hold one.
    return name.replace("%", "%25").replace(".", "%2E")


def _name(label: str) -> str:
    return label.replace("%2E", ".").replace("%25", "%")
