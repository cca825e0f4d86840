"""Scoped memory on LangGraph's Store: four checks before a record is used, in order (S6, H14)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from langgraph.store.base import BaseStore, SearchItem
from pydantic import ValidationError

from state.context import DropReason
from state.memory import MemoryRecord, MemorySource
from state.ports import Recalled
from state.run import Scope

ROOT = "memory"
PAGE = 500
FACTS = (MemorySource.USER_STATED, MemorySource.SYSTEM_RECORD)
KNOWN = (*FACTS, MemorySource.MODEL_INFERRED)


class StoreMemory:
    """Implements state.ports.MemoryStore; records lie under ("memory", tenant, subject)."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def add(self, memory: MemoryRecord) -> None:
        """Write a record, or replace the one of the same id and subject. Its times are aware by its type."""
        value = memory.model_dump(mode="json")
        self._store.put(namespace(memory.tenant, memory.subject), memory.memory_id, value, index=False)

    def recall(self, scope: Scope, purpose: str, now: datetime) -> Recalled:
        """The records of the scope's tenant and subjects for a purpose, facts apart from hypotheses, newest first.

        The four checks, in order: subject and tenant; purpose; still current (out at exactly `expires_at`); source
        known. A record that fails the first is someone else's and appears nowhere (M6); the others are excluded by id
        with the reason. Stored rubbish is excluded too, never an error.
        """
        kept: list[MemoryRecord] = []
        excluded: list[tuple[str, DropReason]] = []
        for subject in dict.fromkeys(scope.principal.subjects):
            for memory_id, value in self._own(scope.tenant, subject):
                checked = check(value, purpose, now)
                if isinstance(checked, MemoryRecord):
                    kept.append(checked)
                else:
                    excluded.append((memory_id, checked))
        kept.sort(key=lambda memory: memory.memory_id)
        kept.sort(key=lambda memory: memory.created_at, reverse=True)
        return Recalled(
            facts=tuple(memory for memory in kept if memory.source in FACTS),
            hypotheses=tuple(memory for memory in kept if memory.source not in FACTS),
            excluded=tuple(sorted(excluded)),
        )

    def of(self, tenant: str, subject: str) -> tuple[tuple[str, MemoryRecord | None], ...]:
        """All that lies in one subject's place and below it, by id, whatever it says; None for what is no record of it.

        What nobody can read, or names no subject, is found by where it lies.
        """
        return tuple((item.key, _read(item.value, tenant, subject)) for item in self._lying(tenant, subject))

    def subjects(self) -> tuple[tuple[str, str], ...]:
        """Everyone of whom something is kept, as tenant and subject."""
        found: list[tuple[str, ...]] = []
        while page := self._store.list_namespaces(prefix=(ROOT,), max_depth=3, limit=PAGE, offset=len(found)):
            found += page
        return tuple((_name(place[1]), _name(place[2])) for place in found if len(place) == 3)

    def remove(self, tenant: str, subject: str, memory_ids: Iterable[str]) -> None:
        """Delete what lies in one subject's place and below it under these ids. What is not there is passed over."""
        ids = frozenset(memory_ids)
        for item in list(self._lying(tenant, subject)):
            if item.key in ids:
                self._store.delete(item.namespace, item.key)

    def _own(self, tenant: str, subject: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The raw records of one subject; the first check."""
        place = namespace(tenant, subject)
        for item in self._lying(tenant, subject):
            if item.namespace == place and _of(item.value, tenant, subject):
                yield item.key, item.value

    def _lying(self, tenant: str, subject: str) -> Iterator[SearchItem]:
        """Whatever lies in one subject's place, and below it."""
        place = namespace(tenant, subject)
        offset = 0
        while items := self._store.search(place, limit=PAGE, offset=offset):
            # A store's search goes by prefix: asked for u1 it may also bring u10.
            yield from (item for item in items if item.namespace[: len(place)] == place)
            offset += len(items)


def check(value: Mapping[str, Any], purpose: str, now: datetime) -> MemoryRecord | DropReason:
    """The second to fourth check on a stored record of the right subject: the record, or why it is left out."""
    if value.get("purpose") != purpose:
        return DropReason.OTHER_PURPOSE
    expires_at = _moment(value.get("expires_at"))
    if expires_at is None:
        return DropReason.INVALID_EXPIRY
    if now >= expires_at:
        return DropReason.EXPIRED
    if value.get("source") not in KNOWN or not value.get("source_ref"):
        return DropReason.UNKNOWN_SOURCE
    try:
        return MemoryRecord.model_validate(value)
    except ValidationError:
        return DropReason.MALFORMED


def namespace(tenant: str, subject: str) -> tuple[str, str, str]:
    """Where a subject's records lie. Raises ValueError for an empty name."""
    if not tenant or not subject:
        raise ValueError(f"tenant {tenant!r} and subject {subject!r} must both be given; none may be empty")
    return (ROOT, _label(tenant), _label(subject))


def _label(name: str) -> str:
    # The Store joins labels with dots and refuses labels that hold one.
    return name.replace("%", "%25").replace(".", "%2E")


def _name(label: str) -> str:
    return label.replace("%2E", ".").replace("%25", "%")


def _of(value: Mapping[str, Any], tenant: str, subject: str) -> bool:
    return (value.get("tenant"), value.get("subject")) == (tenant, subject)


def _read(value: Mapping[str, Any], tenant: str, subject: str) -> MemoryRecord | None:
    try:
        return MemoryRecord.model_validate(value) if _of(value, tenant, subject) else None
    except ValidationError:
        return None


def _moment(value: object) -> datetime | None:
    """An aware time from a stored text; None for anything else, a naive time included."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
