"""LangGraph's savers and store on PostgreSQL: small pools, the strict serializer, tables made one process at a time.

Its libraries are the extra `postgres`: whoever imports this file says so where they are missing (graph.persistence).
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy.engine.url import URL

from graph.checkpoint_metadata import bare, named_one, own
from graph.savers import checkpoint_serializer
from graph.stores.engine import BUSY_TIMEOUT_S
from graph.stores.migrations import SchemaTooNew
from graph.stores.unavailable import StoreUnavailable, server_unavailable
from graph.stores.url import server_arguments, spelt

# A saver takes one connection at a time and makes its own threads wait; the rest is for reads of memory.
MAX_CONNECTIONS = 4
# How long a run waits for a server that is gone, before it ends with an error: restarts take seconds.
WAIT_S = 10.0
_SETUP_LOCK = 0x4578_7066  # advisory lock: processes make LangGraph's tables one after the other
_SETUP_WAIT_S = 60.0
# What LangGraph keeps, the table in which it notes its version, and the newest version that this release knows.
_MIGRATED = (
    ("checkpoints", "checkpoint_migrations", len(PostgresSaver.MIGRATIONS) - 1),
    ("memory", "store_migrations", len(PostgresStore.MIGRATIONS) - 1),
)

# The pool warns of each attempt to connect anew. A program that set up no logging would find that in its output,
# beside the one error that the run ends with.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_Connection = psycopg.Connection[DictRow]
_AsyncConnection = psycopg.AsyncConnection[DictRow]


# The library joins a checkpoint's channels to all bodies of its thread, and a planner that expects few of them reads
# them all: tens of milliseconds after some hundred decisions. One by one each is found by its whole key.
OF_THREAD = """\
        inner join checkpoint_blobs bl
            on bl.thread_id = checkpoints.thread_id
            and bl.checkpoint_ns = checkpoints.checkpoint_ns
            and bl.channel = jsonb_each_text.key
            and bl.version = jsonb_each_text.value
"""
_OF_CHANNEL = """\
        cross join lateral (
            select own.channel, own.type, own.blob from checkpoint_blobs own
            where own.thread_id = checkpoints.thread_id
            and own.checkpoint_ns = checkpoints.checkpoint_ns
            and own.channel = jsonb_each_text.key
            and own.version = jsonb_each_text.value
            limit 1
        ) bl
"""


class _Saver(PostgresSaver):
    """Keeps nothing of a caller's configuration, and reads a checkpoint in the same time however old its thread is."""

    SELECT_SQL = PostgresSaver.SELECT_SQL.replace(OF_THREAD, _OF_CHANNEL)

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions
    ) -> RunnableConfig:
        return super().put(bare(config), checkpoint, own(metadata), versions)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return named_one(config, super().get_tuple(config))


class _AsyncSaver(AsyncPostgresSaver):
    """The same, asynchronously."""

    SELECT_SQL = AsyncPostgresSaver.SELECT_SQL.replace(OF_THREAD, _OF_CHANNEL)

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions
    ) -> RunnableConfig:
        return await super().aput(bare(config), checkpoint, own(metadata), versions)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return named_one(config, await super().aget_tuple(config))


@contextmanager
def open_server(url: URL) -> Iterator[tuple[PostgresSaver, PostgresStore]]:
    """The saver for `invoke` and `stream`, and the store, on one pool. Raises StoreUnavailable, SchemaTooNew."""
    _set_up(url)
    with _Pool(url) as pool:
        yield _Saver(pool, serde=checkpoint_serializer()), PostgresStore(pool)


@contextmanager
def server_saver_to_look(url: URL) -> Iterator[PostgresSaver]:
    """The saver of checkpoints that are only read: what would write fails, and no table is made.

    Raises StoreUnavailable, also where there are no tables, or those of an earlier release; SchemaTooNew.
    """
    if not server_tables_there(url):
        raise StoreUnavailable(
            spelt(url),
            "no tables of checkpoints, or those of an earlier release",
            "those of this release, where they are only looked at",
            "open it once to run (`agent ask`), which brings them up to date",
        )
    with _Pool(url, configure=_reading) as pool:
        yield _Saver(pool, serde=checkpoint_serializer())


def server_tables_there(url: URL) -> bool:
    """Whether LangGraph's tables are there and of this release; nothing is made.

    Raises StoreUnavailable, SchemaTooNew.
    """
    where = spelt(url)
    try:
        with psycopg.Connection.connect(**_arguments(url)) as connection:
            _reading(connection)
            return _of_this_release(connection, where)
    except psycopg.errors.UndefinedTable:
        return False
    except psycopg.Error as error:
        raise server_unavailable(where, error) from None


def _reading(connection: _Connection) -> None:
    connection.execute("SET default_transaction_read_only TO on")


@asynccontextmanager
async def async_server_saver(url: URL) -> AsyncIterator[AsyncPostgresSaver]:
    """The saver for `ainvoke` and `astream`. Raises StoreUnavailable, SchemaTooNew."""
    await asyncio.to_thread(_set_up, url)
    async with _AsyncPool(url) as pool:
        yield _AsyncSaver(pool, serde=checkpoint_serializer())


@asynccontextmanager
async def async_server_store(url: URL) -> AsyncIterator[AsyncPostgresStore]:
    """The store for graphs that run asynchronously. Raises StoreUnavailable, SchemaTooNew."""
    await asyncio.to_thread(_set_up, url)
    async with _AsyncPool(url) as pool, AsyncPostgresStore(pool) as store:
        yield store


class _Pool(ConnectionPool[_Connection]):
    """Says of a connection that fails under the library's hands what our own stores would say: StoreUnavailable."""

    def __init__(self, url: URL, configure: Callable[[_Connection], None] | None = None) -> None:
        self._where = spelt(url)
        super().__init__(
            kwargs=_arguments(url),
            configure=configure,
            min_size=1,
            max_size=MAX_CONNECTIONS,
            timeout=WAIT_S,
            # A connection that died since it was last used is replaced before a run meets it.
            check=ConnectionPool.check_connection,
            open=False,
        )

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[_Connection]:
        """A connection of the pool. Raises StoreUnavailable, also for what happens while it is used."""
        with _translated(self._where), super().connection(timeout) as connection:
            yield connection


class _AsyncPool(AsyncConnectionPool[_AsyncConnection]):
    """The same, asynchronously."""

    def __init__(self, url: URL) -> None:
        self._where = spelt(url)
        super().__init__(
            kwargs=_arguments(url),
            min_size=1,
            max_size=MAX_CONNECTIONS,
            timeout=WAIT_S,
            check=AsyncConnectionPool.check_connection,
            open=False,
        )

    @asynccontextmanager
    async def connection(self, timeout: float | None = None) -> AsyncIterator[_AsyncConnection]:
        """A connection of the pool. Raises StoreUnavailable, also for what happens while it is used."""
        with _translated(self._where):
            async with super().connection(timeout) as connection:
                yield connection


@contextmanager
def _translated(where: str) -> Iterator[None]:
    # The rest are answers or bugs, as graph.stores.engine has it.
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
        raise server_unavailable(where, error) from None


def _arguments(url: URL) -> dict[str, Any]:
    """What psycopg connects with: the URL's own, and how LangGraph's savers want their connections."""
    _, given = url.get_dialect()().create_connect_args(url)
    own = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    return {**server_arguments(url, BUSY_TIMEOUT_S), **given, **own}


def _set_up(url: URL) -> None:
    """Make LangGraph's tables, or migrate them. The lock goes with the connection."""
    where = spelt(url)
    try:
        with psycopg.Connection.connect(**_arguments(url)) as connection:
            _alone(connection, where)
            PostgresSaver(connection).setup()
            PostgresStore(connection).setup()
            _of_this_release(connection, where)
    except psycopg.Error as error:
        raise server_unavailable(where, error) from None


def _alone(connection: _Connection, where: str) -> None:
    # Asked again and again, and not waited for: the library builds indexes CONCURRENTLY, which waits for every running
    # statement, so one that waited for this lock meanwhile would be a deadlock.
    deadline = time.monotonic() + _SETUP_WAIT_S
    while True:
        row = connection.execute("SELECT pg_try_advisory_lock(%s) AS got", (_SETUP_LOCK,)).fetchone()
        if row is not None and row["got"]:
            return
        if time.monotonic() >= deadline:
            raise StoreUnavailable(
                where,
                f"tables that another process has been making for {_SETUP_WAIT_S:.0f} s",
                "one that ends",
                "look into pg_stat_activity for what holds it, then start again",
            )
        time.sleep(0.05)


def _of_this_release(connection: _Connection, where: str) -> bool:
    """Whether LangGraph's tables are of this release, or of an earlier one. Raises SchemaTooNew for a later one."""
    versions = [(what, _newest(connection, table), known) for what, table, known in _MIGRATED]
    for what, found, known in versions:
        if found > known:
            raise SchemaTooNew(where, found, known, what)
    return all(found == known for _, found, known in versions)


def _newest(connection: _Connection, table: str) -> int:
    query = psycopg.sql.SQL("SELECT max(v) AS v FROM {}").format(psycopg.sql.Identifier(table))
    row = connection.execute(query).fetchone()
    return int(row["v"]) if row is not None else 0
