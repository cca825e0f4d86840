"""The fence: what a node files is filed by the run that holds the thread, or not at all.

A run asks for its lease before and after a node's work, and may stand still in between for as long as somebody stops
its process. So the statement that files looks at the lease itself, and the engine keeps it as it is until that is done.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, select
from sqlalchemy.schema import Table

from graph.stores.engine import insert_or_ignore
from graph.stores.lease import Lease, LeaseLost
from graph.stores.schema import run_leases

_AT_WORK: ContextVar[Lease | None] = ContextVar("lease at work", default=None)


@contextmanager
def filing_under(lease: Lease) -> Iterator[None]:
    """What is filed within is filed by the run of this lease."""
    before = _AT_WORK.set(lease)
    try:
        yield
    finally:
        _AT_WORK.reset(before)


class FencedInsert:
    """Puts a row of a table that is not there yet. Outside a node nobody holds a thread, and nothing is asked."""

    def __init__(self, engine: Engine, table: Table, columns: tuple[str, ...]) -> None:
        held = (run_leases.c.thread == bindparam("of_thread"), run_leases.c.token == bindparam("of_token"))
        self._held = select(run_leases.c.token).where(*held)
        # Where another run takes the thread at this moment, it waits for the end of this statement; SQLite has one
        # writer at a time.
        row = select(*(bindparam(name, type_=table.c[name].type) for name in columns)).where(*held)
        row = row.select_from(run_leases).with_for_update(read=True)
        self._plain = insert_or_ignore(engine, table).on_conflict_do_nothing()
        self._fenced = insert_or_ignore(engine, table).from_select(columns, row).on_conflict_do_nothing()

    def put(self, connection: Connection, row: Mapping[str, Any]) -> bool:
        """Whether it was put; else it, or what stands in its way, is there. Raises LeaseLost, and has put nothing."""
        lease = _AT_WORK.get()
        if lease is None:
            return connection.execute(self._plain, row).rowcount == 1
        own = {"of_thread": lease.thread, "of_token": lease.token}
        if connection.execute(self._fenced, {**row, **own}).rowcount == 1:
            return True
        if connection.execute(self._held, own).first() is None:
            raise LeaseLost(lease.thread)
        return False
