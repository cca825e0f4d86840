"""Opening a database, and losing it: one error that says what was met, what would do, what to try."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, inspect, make_url, select
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.schema import Table

from graph.stores.artifacts import SqlArtifacts
from graph.stores.engine import Database, open_database
from graph.stores.schema import SCHEMA_VERSION, metadata, run_leases, schema_version
from graph.stores.unavailable import StoreUnavailable

SECRET = b"a master secret of thirty-two by"
FAST = 0.2  # seconds to wait for a lock


def refusal(target: Path | str) -> str:
    """What opening says. It must hold all three parts and drag no other error along."""
    with pytest.raises(StoreUnavailable) as refused:
        open_database(target, FAST)
    error = refused.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert all((error.got, error.allowed, error.next_step))
    return str(error)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anything: a test of permissions must not run as root."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was == 0:
            os.seteuid(was)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach; pytest's own are for its user alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_opening_again_finds_what_was_stored(target: Path | str) -> None:
    first = open_database(target)
    ref = SqlArtifacts(first.everyday, (SECRET,)).put("acme", "text")
    first.close()
    again = open_database(target)
    assert SqlArtifacts(again.everyday, (SECRET,)).get("acme", ref) == "text"
    with again.everyday.connect() as connection:
        assert connection.scalars(select(schema_version.c.version)).all() == [SCHEMA_VERSION]
    again.close()


def test_sqlite_is_set_up(tmp_path: Path) -> None:
    database = open_database(tmp_path / "stores.db")
    for engine, synchronous in ((database.everyday, 1), (database.durable, 2)):
        with engine.connect() as connection:
            pragmas = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            ]
        assert pragmas == ["wal", synchronous, 1, 5_000]
    database.close()


def test_a_missing_folder(tmp_path: Path) -> None:
    assert "create the folder" in refusal(tmp_path / "missing" / "stores.db")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_files_place(tmp_path: Path) -> None:
    assert "unable to open" in refusal(tmp_path)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "stores.db"
    path.write_bytes(b"these are not the pages of a database" * 100)
    before = path.read_bytes()
    assert "a SQLite database" in refusal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("new", [True, False])
def test_a_locked_database(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "stores.db"
    if not new:
        open_database(path).close()
    with locked(path):
        assert "close the program that holds it" in refusal(path)
    open_database(path).close()


def test_a_database_on_read_only_media(tmp_path: Path) -> None:
    path = tmp_path / "stores.db"
    open_database(path).close()
    assert "a database this user can write" in refusal(f"sqlite:///file:{path}?mode=ro&uri=true")


def test_a_server_that_only_reads(postgres_url: str) -> None:
    open_database(postgres_url).close()
    reading = make_url(postgres_url)
    options = f"{reading.query['options']} -cdefault_transaction_read_only=on"
    told = refusal(reading.update_query_dict({"options": options}).render_as_string(hide_password=False))
    assert "read-only transaction" in told


def test_a_database_of_another_user(open_folder: Path) -> None:
    path = open_folder / "stores.db"
    open_database(path).close()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with as_nobody():
        told = refusal(path)
    open_folder.chmod(0o755)
    assert "allow writing" in told


def test_a_folder_of_another_user(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with as_nobody():
        told = refusal(open_folder / "stores.db")
    open_folder.chmod(0o755)
    assert "allow writing" in told
    assert list(open_folder.iterdir()) == []


def test_tables_of_somebody_else(target: Path | str) -> None:
    database = open_database(target)
    with database.everyday.connect() as connection:
        schema_version.drop(connection)
    database.close()
    assert "tables without a schema version" in refusal(target)


def test_a_schema_is_created_whole_or_not_at_all(target: Path | str) -> None:
    def fail(table: Table, connection: Connection, **_: object) -> None:
        raise StoreUnavailable("here", "a failure halfway", "none", "again")

    event.listen(run_leases, "after_create", fail)
    try:
        assert "a failure halfway" in refusal(target)
    finally:
        event.remove(run_leases, "after_create", fail)
    database = open_database(target)
    assert set(metadata.tables) == set(inspect(database.everyday).get_table_names())
    database.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://ana:hunter2@host/db", "a URL for mysql"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("hunter2", "no URL"),
        ("postgresql://ana:hunter2@host:port/db", "no URL"),
        ("postgresql://ana:hunter2@127.0.0.1:1/db", "start the server or correct EXPEDIENTE_DATABASE_URL"),
    ],
)
def test_a_wrong_url_is_told_without_its_password(url: str, told: str) -> None:
    message = refusal(url)
    assert told in message
    assert "hunter2" not in message
    assert "\n" not in message


def test_a_lock_during_work_is_told_and_passes(tmp_path: Path) -> None:
    path = tmp_path / "stores.db"
    database = open_database(path, FAST)
    store = SqlArtifacts(database.everyday, (SECRET,))
    ref = store.put("acme", "before")
    with locked(path):
        with pytest.raises(StoreUnavailable, match="close the program that holds it") as refused:
            store.put("acme", "a private text")
        assert "a private text" not in repr(refused.value.__cause__)
        assert store.get("acme", ref) == "before"
    assert store.get("acme", store.put("acme", "after")) == "after"
    database.close()


def test_a_full_disk_is_told_and_damages_nothing(tmp_path: Path) -> None:
    database = open_database(tmp_path / "stores.db")
    store = SqlArtifacts(database.everyday, (SECRET,))
    ref = store.put("acme", "before")
    database.everyday.dispose()

    def fill(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 2}")

    event.listen(database.everyday, "connect", fill)
    with pytest.raises(StoreUnavailable, match="free some space"):
        store.put("acme", "x" * 100_000)
    assert store.get("acme", ref) == "before"
    assert store.get("acme", store.put("acme", "small")) == "small"
    database.close()


def test_a_server_that_drops_its_connections_is_met_again(postgres_url: str) -> None:
    database, other = open_database(postgres_url), open_database(postgres_url)
    store = SqlArtifacts(database.everyday, (SECRET,))
    ref = store.put("acme", "before")
    with database.everyday.connect() as connection:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
    _terminate(other, backend)
    assert store.get("acme", ref) == "before"
    with database.everyday.connect() as connection:
        _terminate(other, connection.exec_driver_sql("SELECT pg_backend_pid()").scalar())
        with pytest.raises(StoreUnavailable, match="start the server"):
            connection.exec_driver_sql("SELECT 1")
    database.close()
    other.close()


def _terminate(database: Database, backend: int | None) -> None:
    with database.everyday.connect() as connection:
        assert connection.exec_driver_sql(f"SELECT pg_terminate_backend({backend}, 5000)").scalar() is True
