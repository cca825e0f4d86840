"""LangGraph's own saver and store, of the engine that the settings name: checkpoints and memory."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from graph.savers import async_sqlite_saver, sqlite_saver, sqlite_saver_to_look, sqlite_store
from graph.settings import Settings
from graph.stores.unavailable import driver_missing
from graph.stores.url import database_url, on_server, spelt


@dataclass(frozen=True)
class Persistence:
    """The saver for `invoke` and `stream`, the store that memory lies in; and all stores' files, where it is files."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore
    files: tuple[Path, ...] = ()


@contextmanager
def open_persistence(settings: Settings) -> Iterator[Persistence]:
    """Checkpoints and memory: two files in the home, or the tables of the server. Raises StoreUnavailable."""
    url = database_url(settings.database)
    with ExitStack() as stack:
        if not on_server(url):
            store = stack.enter_context(sqlite_store(settings.memory_file))
            files = (Path(str(url.database)), settings.checkpoints_file, settings.memory_file)
            yield Persistence(stack.enter_context(sqlite_saver(settings.checkpoints_file)), store, files)
            return
        try:
            from graph.server_savers import open_server  # its libraries are an extra
        except ModuleNotFoundError as error:
            raise driver_missing(spelt(url), error) from None
        saver, server_store = stack.enter_context(open_server(url))
        yield Persistence(saver, server_store)


def checkpoints_there(settings: Settings) -> bool:
    """Whether checkpoints can be looked at as they are, with nothing to make or migrate. Raises StoreUnavailable."""
    url = database_url(settings.database)
    if not on_server(url):
        return settings.checkpoints_file.exists()
    try:
        from graph.server_savers import server_tables_there
    except ModuleNotFoundError as error:
        raise driver_missing(spelt(url), error) from None
    return server_tables_there(url)


@contextmanager
def open_checkpoints_to_look(settings: Settings) -> Iterator[BaseCheckpointSaver[Any]]:
    """The checkpoints as they are, to read: what would write fails. Raises StoreUnavailable."""
    url = database_url(settings.database)
    if not on_server(url):
        with sqlite_saver_to_look(settings.checkpoints_file) as saver:
            yield saver
        return
    try:
        from graph.server_savers import server_saver_to_look
    except ModuleNotFoundError as error:
        raise driver_missing(spelt(url), error) from None
    with server_saver_to_look(url) as server_saver:
        yield server_saver


@asynccontextmanager
async def open_async_saver(settings: Settings) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The saver for `ainvoke` and `astream`, on the same checkpoints. Raises StoreUnavailable."""
    url = database_url(settings.database)
    if not on_server(url):
        async with async_sqlite_saver(settings.checkpoints_file) as saver:
            yield saver
        return
    try:
        from graph.server_savers import async_server_saver
    except ModuleNotFoundError as error:
        raise driver_missing(spelt(url), error) from None
    async with async_server_saver(url) as server_saver:
        yield server_saver
