"""The queue of events (S3): what was told when, and what each thread made of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, RowMapping, and_, bindparam, delete, exists, or_, select

from graph.stores.engine import batched, insert_or_ignore, transaction
from graph.stores.schema import events, settled_events
from state.context import DropReason
from state.events import Event, Queued, Settled, Told
from state.run import Scope

_FIELDS = tuple(Event.model_fields)


class SqlEventQueue:
    """The port EventQueue on SQL. A row is committed when `put` returns; who is told is asked in SQL, so that another
    tenant's events are never read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        own, done = events.c, settled_events.c
        self._insert = insert_or_ignore(engine, events).on_conflict_do_nothing().returning(own.seq)
        self._known = select(own.seq).where(own.tenant == bindparam("of_tenant"), own.key == bindparam("of_key"))
        settled = exists().where(done.tenant == own.tenant, done.seq == own.seq, done.thread == bindparam("of_thread"))
        self._pending = select(events).where(_told_to(), ~settled).order_by(own.seq).limit(bindparam("most"))
        joined = events.outerjoin(
            settled_events,
            and_(done.tenant == own.tenant, done.seq == own.seq, done.thread == bindparam("of_thread")),
        )
        shown = (events, done.thread.label("on_thread"), done.decision, done.dropped)
        self._record = select(*shown).select_from(joined).where(_told_to()).order_by(own.seq)
        self._settle = insert_or_ignore(engine, settled_events).on_conflict_do_nothing()

    def put(self, event: Event) -> int:
        """Queue an event; its number. One of a key that the tenant's queue has is queued already."""
        with self._engine.connect() as connection:
            made = connection.execute(self._insert, event.model_dump()).scalar_one_or_none()
            if made is None:
                made = connection.execute(self._known, {"of_tenant": event.tenant, "of_key": event.key}).scalar_one()
        return int(made)

    def pending(self, scope: Scope, most: int) -> tuple[Queued, ...]:
        """The oldest events that the scope's thread may be told and has not settled."""
        with self._engine.connect() as connection:
            rows = connection.execute(self._pending, {**_of(scope), "most": most}).mappings().all()
        return tuple(map(_queued, rows))

    def settle(self, scope: Scope, settled: Sequence[Settled], decision: int, at: datetime) -> None:
        """Note what became of events on the scope's thread, all or none; what was noted before stays."""
        rows = [
            {
                "tenant": scope.tenant,
                "thread": scope.thread,
                "seq": one.event_id,
                "decision": decision,
                "dropped": None if one.dropped is None else one.dropped.value,
                "at": at,
            }
            for one in settled
        ]
        if rows:
            with self._engine.connect() as connection, transaction(connection):
                connection.execute(self._settle, rows)

    def record(self, scope: Scope) -> tuple[Told, ...]:
        """Every event that the scope's thread may be told, oldest first, with what became of it there."""
        with self._engine.connect() as connection:
            rows = connection.execute(self._record, _of(scope)).mappings().all()
        return tuple(
            Told(
                queued=_queued(row),
                thread=row["on_thread"],
                decision=row["decision"],
                dropped=None if row["dropped"] is None else DropReason(row["dropped"]),
            )
            for row in rows
        )

    def of(self, tenant: str, threads: Sequence[str], principal: str | None = None) -> tuple[int, ...]:
        """The numbers of the events that are for these threads alone, or for a principal alone."""
        found: set[int] = set()
        own = events.c
        conditions: list[ColumnElement[bool]] = [own.thread.in_(names) for names in batched(threads)]
        if principal is not None:
            conditions.append(own.principal == principal)
        with self._engine.connect() as connection:
            for condition in conditions:
                found |= set(connection.scalars(select(own.seq).where(own.tenant == tenant, condition)))
        return tuple(sorted(found))

    def erase(self, tenant: str, threads: Sequence[str], principal: str | None = None) -> int:
        """Erase what `of` names, and what these threads were told; how many events went."""
        numbers = self.of(tenant, threads, principal)
        done = settled_events.c
        with self._engine.connect() as connection, transaction(connection):
            for names in batched(threads):
                connection.execute(delete(settled_events).where(done.tenant == tenant, done.thread.in_(names)))
            for part in batched([str(number) for number in numbers]):
                connection.execute(delete(events).where(events.c.seq.in_([int(number) for number in part])))
        return len(numbers)


def _told_to() -> ColumnElement[bool]:
    """Who may be told: of the tenant, everybody, or this principal; on every thread of theirs, or on this one."""
    own = events.c
    return and_(
        own.tenant == bindparam("of_tenant"),
        or_(own.principal.is_(None), own.principal == bindparam("of_principal")),
        or_(own.thread.is_(None), own.thread == bindparam("of_thread")),
    )


def _of(scope: Scope) -> dict[str, Any]:
    return {"of_tenant": scope.tenant, "of_principal": scope.principal.name, "of_thread": scope.thread}


def _queued(row: RowMapping) -> Queued:
    return Queued(event_id=row["seq"], event=Event(**{name: row[name] for name in _FIELDS}))
