"""LangGraph's SQLite savers and store, set up for this house: WAL, one fsync less, a strict serializer (H06, H24)."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Literal

import aiosqlite
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from graph.checkpoint_metadata import bare, named_one, own
from graph.stores.engine import BUSY_TIMEOUT_S
from graph.stores.looking import look_uri
from graph.stores.unavailable import sqlite_unavailable

# Beside these, the library's own safe list (plain data, messages, its control types). Channels hold nothing else:
# typed values are stored as plain JSON and rebuilt by the nodes.
ALLOWED_TYPES = (HumanMessage, AIMessage)

# Killing the process loses nothing. A power cut may take the last checkpoints; the ledger, which is synced, then
# keeps their effects from running twice. What is deleted is overwritten (graph.forgetting).
_PRAGMAS = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", "PRAGMA secure_delete=ON")


def checkpoint_serializer() -> JsonPlusSerializer:
    """A serializer that rebuilds only allowed types, whatever LANGGRAPH_STRICT_MSGPACK says, and never unpickles."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=ALLOWED_TYPES)


class _Saver(SqliteSaver):
    """Keeps nothing of a caller's configuration, and names a checkpoint that is not there."""

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions
    ) -> RunnableConfig:
        return super().put(bare(config), checkpoint, own(metadata), versions)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return named_one(config, super().get_tuple(config))


class _AsyncSaver(AsyncSqliteSaver):
    """The same, asynchronously."""

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions
    ) -> RunnableConfig:
        return await super().aput(bare(config), checkpoint, own(metadata), versions)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return named_one(config, await super().aget_tuple(config))


@contextmanager
def sqlite_saver(path: Path) -> Iterator[SqliteSaver]:
    """The saver for `invoke` and `stream`. Raises StoreUnavailable."""
    with _connection(path, isolation_level="DEFERRED") as connection:
        saver = _Saver(connection, serde=checkpoint_serializer())
        with _opening(path):
            saver.setup()
        yield saver


@contextmanager
def sqlite_saver_to_look(path: Path) -> Iterator[SqliteSaver]:
    """The saver of checkpoints that are only read: nothing is made. Raises StoreUnavailable."""
    with _opening(path):
        connection = sqlite3.connect(look_uri(path), uri=True, check_same_thread=False, timeout=BUSY_TIMEOUT_S)
    with closing(connection):
        saver = _Saver(connection, serde=checkpoint_serializer())
        with _opening(path):
            connection.execute("PRAGMA query_only=ON")
            saver.setup()  # finds its tables there
        yield saver


@asynccontextmanager
async def async_sqlite_saver(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """The saver for `ainvoke` and `astream`. Raises StoreUnavailable."""
    async with _async_connection(path, isolation_level="DEFERRED") as connection:
        saver = _AsyncSaver(connection, serde=checkpoint_serializer())
        with _opening(path):
            await saver.setup()
        yield saver


@contextmanager
def sqlite_store(path: Path) -> Iterator[SqliteStore]:
    """LangGraph's Store on SQLite, where memory lives. Raises StoreUnavailable."""
    with _connection(path, isolation_level=None) as connection:
        store = SqliteStore(connection)
        with _opening(path):
            store.setup()
        yield store


@asynccontextmanager
async def async_sqlite_store(path: Path) -> AsyncIterator[AsyncSqliteStore]:
    """The same store for graphs that run asynchronously. Raises StoreUnavailable."""
    async with _async_connection(path, isolation_level=None) as connection, AsyncSqliteStore(connection) as store:
        with _opening(path):
            await store.setup()
        yield store


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Only setting up is translated: what a run meets later passes through as it is."""
    try:
        yield
    except sqlite3.Error as error:
        raise sqlite_unavailable(str(path), error) from None


# The savers rely on the driver to begin a transaction before their first write; the store begins its own.
_Isolation = Literal["DEFERRED"] | None


@contextmanager
def _connection(path: Path, isolation_level: _Isolation) -> Iterator[sqlite3.Connection]:
    with _opening(path):
        # Savers and stores are used from several threads and lock for themselves.
        connection = sqlite3.connect(
            path, check_same_thread=False, isolation_level=isolation_level, timeout=BUSY_TIMEOUT_S
        )
    with closing(connection):
        with _opening(path):
            for pragma in _PRAGMAS:
                connection.execute(pragma)
            # Taken back, but asked for: a locked or read-only file must show itself now, not halfway in a run.
            for statement in ("BEGIN IMMEDIATE", "PRAGMA user_version=0", "ROLLBACK"):
                connection.execute(statement)
        yield connection


def _probe(path: Path) -> None:
    with _connection(path, isolation_level=None):
        pass


@asynccontextmanager
async def _async_connection(path: Path, isolation_level: _Isolation) -> AsyncIterator[aiosqlite.Connection]:
    # A failed opening leaves aiosqlite's worker thread to print a traceback of its own: fail before it starts.
    await asyncio.to_thread(_probe, path)
    with _opening(path):
        connection = await aiosqlite.connect(path, isolation_level=isolation_level, timeout=BUSY_TIMEOUT_S)
    try:
        with _opening(path):
            for pragma in _PRAGMAS:
                await connection.execute(pragma)
        yield connection
    finally:
        await connection.close()
