"""Opens the database of the stores: two engines on one schema, everyday and durable."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InternalError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.schema import Table

from graph.stores.schema import SCHEMA_VERSION, metadata, schema_version
from graph.stores.unavailable import StoreUnavailable, server_unavailable, sqlite_unavailable

BUSY_TIMEOUT_S = 5.0
_CREATE_LOCK = 0x4578_7065  # advisory lock that makes processes create the PostgreSQL schema one after the other


@dataclass(frozen=True)
class Database:
    """Two engines on one database. Both commit each statement by itself.

    `everyday` holds artifacts, records, threads (SQLite: synchronous=NORMAL: survives a killed process, and a
    power cut may take the last commits). `durable` holds the ledger (FULL: a commit is on disk when it returns).
    Both write one file, so a durable commit takes the everyday commits before it to the disk as well.
    """

    everyday: Engine
    durable: Engine

    def close(self) -> None:
        """Close every connection."""
        self.everyday.dispose()
        self.durable.dispose()


def open_database(target: Path | str, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Database:
    """Open a SQLite file (a path or `sqlite:///…`) or PostgreSQL (`postgresql://…`); create the schema if it is new.

    Raises StoreUnavailable for a missing folder, a locked, read-only, damaged or foreign database, a schema
    newer than this version, or a server that does not answer.
    """
    url = _url(target)
    where = str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)
    everyday = durable = None
    try:
        everyday = _engine(url, where, "NORMAL", busy_timeout_s)
        durable = _engine(url, where, "FULL", busy_timeout_s)
        _prepare(everyday, where, busy_timeout_s)
    except (StoreUnavailable, DBAPIError, sqlite3.Error, ModuleNotFoundError) as error:
        for engine in (everyday, durable):
            if engine is not None:
                engine.dispose()
        raise _translated(where, error) from None
    return Database(everyday, durable)


def insert_or_ignore(engine: Engine, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT in the engine's own dialect, which knows ON CONFLICT."""
    return postgresql.insert(table) if engine.dialect.name == "postgresql" else sqlite.insert(table)


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Several statements that count together or not at all, on a connection that else commits each by itself."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.dialect.name == "sqlite" else "BEGIN")
    try:
        yield
    except BaseException:
        with suppress(StoreUnavailable):  # SQLite has already rolled back where the disk is full
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


def _url(target: Path | str) -> URL:
    if isinstance(target, Path):
        return URL.create("sqlite", database=str(target))
    allowed = "sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE"
    next_step = "correct EXPEDIENTE_DATABASE_URL, or remove it to use SQLite in EXPEDIENTE_HOME"
    try:
        url = make_url(target)
    except (ArgumentError, ValueError):
        # The text itself is not repeated: it may hold a password.
        raise StoreUnavailable("of the settings", "something that is no URL", allowed, next_step) from None
    dialect = url.get_backend_name()
    if dialect not in ("sqlite", "postgresql"):
        raise StoreUnavailable("of the settings", f"a URL for {dialect}", allowed, next_step)
    if dialect == "sqlite" and url.database in (None, "", ":memory:"):
        # The two engines would see two databases.
        raise StoreUnavailable("of the settings", "a SQLite database in memory", allowed, next_step)
    return url.set(drivername="postgresql+psycopg") if dialect == "postgresql" else url


def _engine(url: URL, where: str, synchronous: str, busy_timeout_s: float) -> Engine:
    on_sqlite = url.get_backend_name() == "sqlite"
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        execution_options={"preserve_rowcount": True},  # psycopg forgets an INSERT's count when its cursor closes
        hide_parameters=True,  # a body must not travel in an error message
        pool_pre_ping=not on_sqlite,
        connect_args={"timeout": busy_timeout_s} if on_sqlite else {"connect_timeout": max(1, round(busy_timeout_s))},
    )

    def set_up(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        if on_sqlite:
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute(f"PRAGMA synchronous={synchronous}")
        elif synchronous == "FULL":
            # A server or role may have turned it off; the ledger's promise does not depend on that.
            connection.cursor().execute("SET synchronous_commit TO on")

    def translate(context: ExceptionContext) -> BaseException | None:
        error = context.sqlalchemy_exception
        # A dead connection found before use is the pool's business: it opens another. Integrity, data and
        # programming errors are answers or our own bugs, not an unusable store.
        if context.is_pre_ping or error is None:
            return None
        unusable = isinstance(error, OperationalError | InternalError) or type(error) is DatabaseError
        return _translated(where, error) if unusable else None

    event.listen(engine, "connect", set_up)
    event.listen(engine, "handle_error", translate, retval=True)
    return engine


def _translated(where: str, error: Exception) -> StoreUnavailable:
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, ModuleNotFoundError):
        return StoreUnavailable(
            where, f"no module {error.name}", "its driver installed", "pip install -e '.[postgres]'"
        )
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return sqlite_unavailable(where, original)
    return server_unavailable(where, original or error)


def _prepare(engine: Engine, where: str, busy_timeout_s: float) -> None:
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            _use_wal(connection, where, busy_timeout_s)
        with _exclusively(connection):
            tables = set(inspect(connection).get_table_names())
            if schema_version.name in tables:
                _check_version(connection.scalar(select(schema_version.c.version)), where)
                # Changes nothing, but asks to write: a read-only database must show itself now, not halfway in a run.
                connection.execute(update(schema_version).where(schema_version.c.version < 0).values(version=0))
            elif tables & set(metadata.tables):
                raise StoreUnavailable(
                    where, "tables without a schema version", "an empty database or ours", "choose another database"
                )
            else:
                metadata.create_all(connection, checkfirst=False)
                connection.execute(insert(schema_version).values(version=SCHEMA_VERSION))


def _use_wal(connection: Connection, where: str, busy_timeout_s: float) -> None:
    # The switch needs the file for itself and does not wait for it: SQLite's busy handler is not asked.
    deadline = time.monotonic() + busy_timeout_s
    while True:
        try:
            mode = connection.exec_driver_sql("PRAGMA journal_mode=WAL").scalar()
        except StoreUnavailable:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
            continue
        if mode != "wal":
            raise StoreUnavailable(
                where,
                f"journal mode {mode}",
                "a file system with WAL",
                "set EXPEDIENTE_HOME to a folder on a local disk",
            )
        return


def _check_version(version: int | None, where: str) -> None:
    if version != SCHEMA_VERSION:
        raise StoreUnavailable(
            where,
            f"schema version {version}",
            f"version {SCHEMA_VERSION}",
            "use the Expediente that wrote it, or set EXPEDIENTE_HOME to another folder",
        )


@contextmanager
def _exclusively(connection: Connection) -> Iterator[None]:
    """One transaction that no other process's can overlap."""
    with transaction(connection):
        if connection.dialect.name != "sqlite":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATE_LOCK})")
        yield
