"""What it is measured on: app and empty loop, each with checkpoints of its own, on SQLite or on PostgreSQL."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine, inspect

from evals.bench.floor import Floor, make_floor
from evals.bench.subject import open_subject
from evals.trials.server import new_schema
from graph.app import App
from graph.savers import sqlite_saver
from graph.stores.url import database_url

SQLITE, POSTGRES = "sqlite", "postgresql"
# Checkpoints, their metadata and pending writes: of what is stored, not of the files, which grow by pages.
_ON_SQLITE = (
    "SELECT total(length(checkpoint) + length(metadata)) FROM checkpoints",
    "SELECT total(length(value)) FROM writes",
)
_ON_SERVER = (
    "SELECT sum(octet_length(checkpoint::text) + octet_length(metadata::text)) FROM checkpoints",
    "SELECT sum(octet_length(blob)) FROM checkpoint_blobs",
    "SELECT sum(octet_length(blob)) FROM checkpoint_writes",
)


@dataclass(frozen=True)
class Ground:
    """`stored` gives the bytes in the checkpoints of the app and of the empty loop. `server` is its version. `settle`
    does what a server does by itself after a minute: without it, one whose autovacuum is off plans for empty tables."""

    engine: str
    server: str
    app: App
    floor: Floor
    stored: Callable[[], tuple[int, int]]
    settle: Callable[[], object] = lambda: None


@contextmanager
def open_ground(folder: Path, server: str | None) -> Iterator[Ground]:
    """App and empty loop: on SQLite below the folder, or each in a new schema of that PostgreSQL server."""
    with ExitStack() as stack:
        yield _on_sqlite(folder, stack) if server is None else _on_server(folder, server, stack)


def _on_sqlite(folder: Path, stack: ExitStack) -> Ground:
    app = stack.enter_context(open_subject(folder / "app"))
    files = (app.settings.checkpoints_file, folder / "empty.db")
    floor = make_floor(stack.enter_context(sqlite_saver(files[1])))

    def stored(file: Path) -> int:
        with closing(sqlite3.connect(file)) as connection:
            return sum(int(connection.execute(query).fetchone()[0]) for query in _ON_SQLITE)

    return Ground(SQLITE, sqlite3.sqlite_version, app, floor, lambda: (stored(files[0]), stored(files[1])))


def _on_server(folder: Path, server: str, stack: ExitStack) -> Ground:
    from graph.server_savers import open_server  # its libraries are an extra

    urls = [stack.enter_context(new_schema(server)) for _ in range(2)]
    app = stack.enter_context(open_subject(folder / "app", urls[0]))
    saver, _ = stack.enter_context(open_server(database_url(urls[1])))
    engines = [create_engine(url) for url in urls]
    for engine in engines:
        stack.callback(engine.dispose)

    def asked(which: int, query: str) -> int | str | None:
        with engines[which].connect() as connection:
            found: int | str | None = connection.exec_driver_sql(query).scalar()
            return found

    def stored(which: int) -> int:
        return sum(int(asked(which, query) or 0) for query in _ON_SERVER)

    version = str(asked(0, "SHOW server_version"))

    def settle() -> None:
        for engine in engines:
            with engine.connect() as connection:
                tables = ", ".join(f'"{table}"' for table in inspect(connection).get_table_names())
                connection.exec_driver_sql(f"ANALYZE {tables}")
                connection.commit()

    return Ground(POSTGRES, version, app, make_floor(saver), lambda: (stored(0), stored(1)), settle)
