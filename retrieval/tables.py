"""The catalogue's tables and its database file."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
)
from sqlalchemy.exc import DBAPIError

from retrieval.faults import StoreUnavailable

LAYOUT = 1  # of the tables below; another number in the file means another release wrote it
WAIT_S = 10.0  # for a writer of another process
MAX_NAMES = 10_000  # of one statement: SQLite takes 32,766

_metadata = MetaData()

# One row per document version: the latest state of it that was committed, and the generation of its chunks.
documents = Table(
    "document",
    _metadata,
    Column("tenant", String, primary_key=True),
    Column("document_id", String, primary_key=True),
    Column("version", String, primary_key=True),
    Column("generation", String, nullable=False, unique=True),
    Column("origin", String, nullable=False),
    Column("file", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("acl", Text, nullable=False),  # a JSON list of groups; empty: everyone of the tenant
    Column("product", String, nullable=False),
    Column("supersedes", Text, nullable=False),
    Column("from_us", BigInteger, nullable=False),
    Column("own_until_us", BigInteger, nullable=False),
    # The end in force, the successor counted in; `indexed_until_us` is what the two stores hold of it.
    Column("until_us", BigInteger, nullable=False),
    Column("replaced", Integer, nullable=False),
    Column("indexed_until_us", BigInteger, nullable=False),
    Column("chunks", Integer, nullable=False),
    Index("document_origin", "origin", "file"),
)

chunks = Table(
    "chunk",
    _metadata,
    Column("chunk_id", String, primary_key=True),
    Column("generation", String, nullable=False, index=True),
    Column("body", Text, nullable=False),
)

# Generations that lie in the stores and are not live: being written, replaced, or left over from a crash.
leftovers = Table(
    "leftover",
    _metadata,
    Column("generation", String, primary_key=True),
    Column("tenant", String, nullable=False),
)

revisions = Table(
    "revision",
    _metadata,
    Column("tenant", String, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("writer", String, nullable=False),  # which opened library made the last change
)

# The audit log of what changed, with the acl before and after (H09).
changes = Table(
    "change",
    _metadata,
    Column("change", Integer, primary_key=True),
    Column("at_us", BigInteger, nullable=False),
    Column("tenant", String, nullable=False, index=True),
    Column("source", String, nullable=False),
    Column("file", String, nullable=False),
    Column("action", String, nullable=False),
    Column("acl_before", Text),
    Column("acl_after", Text),
)


def open_catalogue(file: Path) -> Engine:
    """The engine of a catalogue file, which is made where it is missing. Raises StoreUnavailable."""
    engine = create_engine(URL.create("sqlite", database=str(file)), connect_args={"timeout": WAIT_S})

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: Any) -> None:
        # The driver must not open transactions by itself: it would put reads of one transaction into several.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    try:
        with reachable("catalogue"), engine.begin() as connection:
            found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
            if found not in (0, LAYOUT):
                raise StoreUnavailable(
                    "catalogue",
                    f"the file has layout {found}, this release reads layout {LAYOUT}",
                    "delete the library folder and ingest again",
                )
            if found == 0:
                _metadata.create_all(connection)
                connection.exec_driver_sql(f"PRAGMA user_version={LAYOUT}")
    except StoreUnavailable:
        engine.dispose()
        raise
    return engine


def runs_of(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Names in as many runs as one statement can take each."""
    return (names[start : start + MAX_NAMES] for start in range(0, len(names), MAX_NAMES))


@contextmanager
def reachable(store: str) -> Iterator[None]:
    """Turns the database's own errors into one that names the store and the next step."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as fault:
        cause = fault.orig if isinstance(fault, DBAPIError) else fault
        raise StoreUnavailable(
            store, cause, "check that its folder is writable, that the disk has room, and that no process holds it"
        ) from fault
