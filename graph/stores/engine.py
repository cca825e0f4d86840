"""Opens the database of the stores: two engines on one schema, everyday and durable."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import DatabaseError, DBAPIError, InternalError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.schema import Table

from graph.stores.looking import look_uri
from graph.stores.migrations import Admit, bring_up_to_date, usable
from graph.stores.schema import SCHEMA_VERSION
from graph.stores.unavailable import StoreUnavailable, driver_missing, server_unavailable, sqlite_unavailable
from graph.stores.url import database_url, on_server, server_arguments, spelt
from state.ports import Seal

BUSY_TIMEOUT_S = 5.0
# A node holds a connection for one statement, so few serve many runs; a server allows about a hundred in all.
_POOLS = {"NORMAL": {"pool_size": 5, "max_overflow": 5}, "FULL": {"pool_size": 2, "max_overflow": 3}}
POOL_WAIT_S = 10.0
_MOST_NAMED = 500  # values in one statement: engines bound them
_SCHEMA_LOCK = 0x4578_7065  # advisory lock: processes make or migrate the PostgreSQL schema one after the other


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


def open_database(
    target: Path | str,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    admit: Admit | None = None,
    seal: Seal | None = None,
) -> Database:
    """Open a SQLite file (a path or `sqlite:///…`) or PostgreSQL (`postgresql://…`), its schema brought up to date.

    `admit` is given the marks of a database that has some, before anything in it is changed, and raises for one that
    belongs to somebody else. `seal` seals the ledger of an earlier release, whose rows have none.

    Raises what `admit` raises; StoreUnavailable for a missing folder, a locked, read-only, damaged,
    half-made or foreign database, or a server that does not answer; SchemaTooNew for a database of a later release.
    """
    url = database_url(target)
    where = spelt(url)
    with ExitStack() as undone, _translating(where):
        everyday = _engine(url, where, "NORMAL", busy_timeout_s)
        undone.callback(everyday.dispose)
        durable = _engine(url, where, "FULL", busy_timeout_s)
        undone.callback(durable.dispose)
        _prepare(everyday, where, busy_timeout_s, admit, seal)
        undone.pop_all()
    return Database(everyday, durable)


def found_version(target: Path | str, admit: Admit | None = None) -> int | None:
    """The schema version of a database, of which nothing is made or changed; None for one without tables of ours.

    Raises what `open_database` raises, but not for what only writing would show.
    """
    url = database_url(target)
    if _is_file(url) and not Path(spelt(url)).exists():
        return None  # connecting would make the file
    engine, found = _looked_at(url, admit)
    engine.dispose()
    return found


def look_at_database(target: Path | str, admit: Admit | None = None) -> Database:
    """Open a database as it is, to read: nothing in it is made or migrated, and what would change it fails.

    Raises what `found_version` raises, and StoreUnavailable for a database of an earlier release, or without our
    tables.
    """
    url = database_url(target)
    where = spelt(url)
    engine, found = _looked_at(url, admit)
    if found != SCHEMA_VERSION:
        engine.dispose()
        raise StoreUnavailable(
            where,
            "no tables of ours" if found is None else f"schema version {found}, of an earlier release",
            f"schema version {SCHEMA_VERSION}, where it is only looked at",
            "copy it to where it can be written: opening it there brings it up to date",
        )
    return Database(engine, engine)


def insert_or_ignore(engine: Engine, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT in the engine's own dialect, which knows ON CONFLICT."""
    return postgresql.insert(table) if engine.dialect.name == "postgresql" else sqlite.insert(table)


def batched(values: Sequence[str]) -> Iterator[list[str]]:
    """The values in portions that one statement may name."""
    for start in range(0, len(values), _MOST_NAMED):
        yield list(values[start : start + _MOST_NAMED])


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


def _is_file(url: URL) -> bool:
    return not on_server(url) and "uri" not in url.query


def _looked_at(url: URL, admit: Admit | None) -> tuple[Engine, int | None]:
    """An engine that changes nothing, and the version of what it is on."""
    where = spelt(url)
    with ExitStack() as undone, _translating(where):
        engine = _engine(url, where, "NORMAL", BUSY_TIMEOUT_S, looking=True)
        undone.callback(engine.dispose)
        with engine.connect() as connection:
            found = usable(connection, where, admit)
        undone.pop_all()
    return engine, found


def _engine(url: URL, where: str, synchronous: str, busy_timeout_s: float, looking: bool = False) -> Engine:
    on_sqlite = not on_server(url)

    def look() -> sqlite3.Connection:
        return sqlite3.connect(look_uri(Path(where)), uri=True, timeout=busy_timeout_s, check_same_thread=False)

    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        execution_options={"preserve_rowcount": True},  # psycopg forgets an INSERT's count when its cursor closes
        hide_parameters=True,  # a body must not travel in an error message
        connect_args={"timeout": busy_timeout_s} if on_sqlite else server_arguments(url, busy_timeout_s),
        **({} if on_sqlite else {"pool_pre_ping": True, "pool_timeout": POOL_WAIT_S, **_POOLS[synchronous]}),
        **({"creator": look} if looking and _is_file(url) else {}),
    )

    def set_up(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        if looking:
            connection.cursor().execute(
                "PRAGMA query_only=ON" if on_sqlite else "SET default_transaction_read_only TO on"
            )
        elif on_sqlite:
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute(f"PRAGMA synchronous={synchronous}")
            connection.execute("PRAGMA secure_delete=ON")  # an erased body is overwritten, not only unlinked
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


@contextmanager
def _translating(where: str) -> Iterator[None]:
    try:
        yield
    except (StoreUnavailable, DBAPIError, sqlite3.Error, ModuleNotFoundError) as error:
        raise _translated(where, error) from None


def _translated(where: str, error: Exception) -> StoreUnavailable:
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, ModuleNotFoundError):
        return driver_missing(where, error)
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return sqlite_unavailable(where, original)
    return server_unavailable(where, original or error)


def _prepare(engine: Engine, where: str, busy_timeout_s: float, admit: Admit | None, seal: Seal | None) -> None:
    with engine.connect() as connection:
        usable(connection, where, admit)  # before anything is changed, the journal mode too
        if engine.dialect.name == "sqlite":
            _use_wal(connection, where, busy_timeout_s)
        with _exclusively(connection):
            bring_up_to_date(connection, where, admit, seal)


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


@contextmanager
def _exclusively(connection: Connection) -> Iterator[None]:
    """One transaction that no other process's can overlap."""
    with transaction(connection):
        if connection.dialect.name != "sqlite":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
        yield
