"""The record chain: append-only, verified on every read (L8)."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine, Row, bindparam, func, literal, select, tuple_
from sqlalchemy.exc import IntegrityError

from graph.stores.fence import FencedInsert
from graph.stores.schema import records
from state.canonical import canonical_json, digest
from state.ports import RecordDamaged, RecordMissing
from state.record import DecisionRecord

# A head comes from a channel, which can be written from outside: what cannot be a hash is not asked for.
_HASH = re.compile(r"[0-9a-f]{64}")
_PAGE = 500
_ECHOED = 100  # characters of a wrong hash that an error repeats


class SqlDecisionLog:
    """The port DecisionLog on SQL. A row is the record's canonical JSON under tenant, thread and hash."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        own = records.c
        of_thread = (own.tenant == bindparam("tenant"), own.thread == bindparam("thread"))
        self._append = FencedInsert(engine, records, ("tenant", "thread", "hash", "parent", "body"))
        self._get = select(own.hash, own.parent, own.body).where(*of_thread, own.hash == bindparam("record"))
        wanted = own.hash.in_(bindparam("wanted", expanding=True))
        self._get_all = select(own.hash, own.parent, own.body).where(*of_thread, wanted)
        self._names = select(own.hash).where(*of_thread).order_by(own.hash)
        later = tuple_(own.thread, own.hash) > tuple_(bindparam("after_thread"), bindparam("after_hash"))
        page = select(own.thread, own.hash, own.body).where(own.tenant == bindparam("tenant"), later)
        self._page = page.order_by(own.thread, own.hash).limit(_PAGE)
        self._size = select(func.count()).select_from(records).where(*of_thread)
        # Each step looks its parent up by the whole key, taken from the child's row: given as constants, tenant and
        # thread would tempt a planner without statistics to read the thread anew at every step. Steps are counted,
        # so the walk ends even if a row was tampered into a circle.
        row = (own.tenant, own.thread, own.hash, own.parent, own.body)
        walk = (
            select(*row, literal(1).label("step"))
            .where(*of_thread, own.hash == bindparam("record"))
            .cte("walk", recursive=True)
        )
        below = select(*row, walk.c.step + 1).where(
            own.tenant == walk.c.tenant,
            own.thread == walk.c.thread,
            own.hash == walk.c.parent,
            walk.c.step < bindparam("limit"),
        )
        walk = walk.union_all(below)
        self._chain = select(walk.c.hash, walk.c.parent, walk.c.body).order_by(walk.c.step)

    def append(self, record: DecisionRecord) -> str:
        """Store a record and return its hash; the same record again changes nothing.

        Raises RecordMissing when the parent is no stored record of the same tenant and thread; LeaseLost where a node
        files it whose run lost the thread.
        """
        if record.parent is not None and not _HASH.fullmatch(record.parent):
            raise _missing(record.thread, record.parent)
        body = canonical_json(record)
        row = {
            "tenant": record.tenant,
            "thread": record.thread,
            "hash": digest(body),
            "parent": record.parent,
            "body": body,
        }
        try:
            with self._engine.connect() as connection:
                self._append.put(connection, row)
        except IntegrityError:
            raise _missing(record.thread, record.parent or "") from None
        return str(row["hash"])

    def get(self, tenant: str, thread: str, record: str) -> DecisionRecord:
        """The record of a hash. Raises RecordMissing, RecordDamaged."""
        row = None
        if _HASH.fullmatch(record):
            with self._engine.connect() as connection:
                row = connection.execute(self._get, {"tenant": tenant, "thread": thread, "record": record}).first()
        if row is None:
            raise _missing(thread, record)
        return verified(row, tenant, thread)

    def get_all(self, tenant: str, thread: str, records: Sequence[str]) -> tuple[DecisionRecord, ...]:
        """The records of these hashes, in their order, read in one statement. Raises RecordMissing, RecordDamaged."""
        rows: dict[str, Row[Any, Any, Any]] = {}
        wanted = [record for record in records if _HASH.fullmatch(record)]
        if wanted:
            with self._engine.connect() as connection:
                keys = {"tenant": tenant, "thread": thread, "wanted": wanted}
                rows = {row.hash: row for row in connection.execute(self._get_all, keys)}
        for record in records:
            if record not in rows:
                raise _missing(thread, record)
        return tuple(verified(rows[record], tenant, thread) for record in records)

    def bodies(self, tenant: str, thread: str, records: Sequence[str]) -> dict[str, bytes]:
        """The bytes under these hashes, read in one statement and unverified; what is not there is left out."""
        wanted = [record for record in records if _HASH.fullmatch(record)]
        with self._engine.connect() as connection:
            rows = connection.execute(self._get_all, {"tenant": tenant, "thread": thread, "wanted": wanted})
            return {row.hash: row.body for row in rows if isinstance(row.body, bytes)}

    def chain(self, tenant: str, thread: str, head: str | None, limit: int | None = None) -> tuple[DecisionRecord, ...]:
        """The records from `head` back to the first, newest first, at most `limit`; none for head None.

        Raises RecordMissing when a link leads nowhere, RecordDamaged for a record that was changed.
        """
        if head is None or limit == 0:
            return ()
        if not _HASH.fullmatch(head):
            raise _missing(thread, head)
        keys = {"tenant": tenant, "thread": thread, "record": head}
        with self._engine.connect() as connection:
            steps = limit if limit is not None else connection.scalar(self._size, keys)
            rows = connection.execute(self._chain, {**keys, "limit": steps}).all()
        found: list[DecisionRecord] = []
        expected: str | None = head
        for row in rows:
            found.append(verified(row, tenant, thread))
            expected = found[-1].parent
        if expected is not None and len(found) != limit:
            raise _missing(thread, expected)
        return tuple(found)

    def filed(self, tenant: str) -> Iterator[tuple[str, bytes]]:
        """Every record of a tenant, as thread and filed bytes, unverified and a page at a time: for what sweeps."""
        last = ("", "")
        while True:
            with self._engine.connect() as connection:
                keys = {"tenant": tenant, "after_thread": last[0], "after_hash": last[1]}
                rows = connection.execute(self._page, keys).all()
            if not rows:
                return
            for row in rows:
                yield row.thread, row.body
            last = (rows[-1].thread, rows[-1].hash)

    def names(self, tenant: str, thread: str) -> tuple[str, ...]:
        """The hashes of every record of a thread, on all its branches, sorted."""
        with self._engine.connect() as connection:
            return tuple(connection.scalars(self._names, {"tenant": tenant, "thread": thread}))


_NEXT = "run `agent verify` on the thread to see what else was changed, and restore the database from a backup"


def _missing(thread: str, record: str) -> RecordMissing:
    return RecordMissing(
        f"thread {thread} has no record {record[:_ECHOED]!r}: it was removed, or what names it was written from "
        "outside; run `agent verify` on the thread to see what is missing; ask on another thread, or go on from an "
        "earlier checkpoint"
    )


def unchanged(row: Row[Any, Any, Any], thread: str) -> bytes:
    """The bytes of a row (hash, parent, body), known by their hash. Raises RecordDamaged."""
    body: Any = row.body  # others can put a value of another type into the column
    if not isinstance(body, bytes) or digest(body) != row.hash:
        raise RecordDamaged(
            f"record {row.hash} of thread {thread} was changed after it was filed: its hash differs; {_NEXT}"
        )
    return body


def verified(row: Row[Any, Any, Any], tenant: str, thread: str) -> DecisionRecord:
    """The record of a row (hash, parent, body). Raises RecordDamaged."""
    name: str = row.hash
    parent: str | None = row.parent
    body = unchanged(row, thread)
    try:
        record = DecisionRecord.model_validate_json(body)
    except ValidationError as error:
        raise RecordDamaged(
            f"record {name} of thread {thread} has a shape this version does not know ({error.error_count()} fields); "
            f"go on with the release that wrote it, or {_NEXT}"
        ) from None
    # The bytes are what was filed; the row that holds them may still have been moved or linked elsewhere.
    if (record.tenant, record.thread, record.parent) != (tenant, thread, parent):
        raise RecordDamaged(f"record {name} of thread {thread} is filed under keys that are not its own; {_NEXT}")
    return record
