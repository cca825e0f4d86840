"""Opening a database to look: it is read as it is, and nothing of it changes."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from graph.stores.engine import Database, look_at_database, open_database
from graph.stores.schema import SCHEMA_VERSION, marks, schema_version
from graph.stores.unavailable import StoreUnavailable
from tests.graph.stores.test_opening import as_nobody, open_folder

__all__ = ["open_folder"]


def held(database: Database) -> dict[str, str]:
    with database.everyday.connect() as connection:
        return {row.name: row.value for row in connection.execute(select(marks))}


def mark(database: Database) -> None:
    with database.everyday.connect() as connection:
        connection.execute(insert(marks), {"name": "a", "value": "1"})


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@contextmanager
def kept_as_it_is(folder: Path) -> Iterator[None]:
    """Neither the folder nor what is in it can be written, and the process is no root."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    with as_nobody():
        yield
    folder.chmod(0o755)


def test_what_is_looked_at_is_read_and_takes_no_writing(target: Path | str, database: Database) -> None:
    mark(database)
    looked = look_at_database(target)
    assert held(looked) == {"a": "1"}
    for engine in (looked.everyday, looked.durable):
        with pytest.raises(StoreUnavailable, match=r"readonly|read-only"), engine.connect() as connection:
            connection.execute(update(marks).values(value="2"))
    mark_of_another = {"name": "b", "value": "1"}
    with database.everyday.connect() as connection:
        connection.execute(insert(marks), mark_of_another)
    assert held(looked) == {"a": "1", "b": "1"}  # what others write meanwhile is seen
    looked.close()


def test_what_cannot_be_written_is_looked_at_and_left_as_it_is(open_folder: Path) -> None:
    database = open_database(open_folder / "stores.db")
    mark(database)
    database.close()
    before = files(open_folder)
    with kept_as_it_is(open_folder):
        looked = look_at_database(open_folder / "stores.db")
        assert held(looked) == {"a": "1"}
        looked.close()
    assert files(open_folder) == before


def test_what_a_killed_process_left_in_its_log_is_seen_where_nothing_can_be_written(open_folder: Path) -> None:
    original, copy = open_folder / "original", open_folder / "copy"
    original.mkdir()
    database = open_database(original / "stores.db")
    mark(database)
    copy.mkdir()
    for name, body in files(original).items():  # as it lies there while the log is open
        (copy / name).write_bytes(body)
    database.close()
    with sqlite3.connect(f"{(copy / 'stores.db').as_uri()}?immutable=1", uri=True) as alone:
        assert alone.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)  # the log has it all
    alone.close()
    with kept_as_it_is(copy):
        looked = look_at_database(copy / "stores.db")
        assert held(looked) == {"a": "1"}
        looked.close()


def test_a_database_of_an_earlier_release_is_not_brought_up_to_date_by_looking(
    target: Path | str, database: Database
) -> None:
    with database.everyday.connect() as connection:
        connection.execute(update(schema_version).values(version=SCHEMA_VERSION - 1))
    with pytest.raises(StoreUnavailable) as refused:
        look_at_database(target)
    assert refused.value.got == f"schema version {SCHEMA_VERSION - 1}, of an earlier release"
    assert "copy it to where it can be written" in refused.value.next_step
    with database.everyday.connect() as connection:
        assert connection.scalar(select(schema_version.c.version)) == SCHEMA_VERSION - 1


def test_a_database_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="unable to open database file"):
        look_at_database(tmp_path / "stores.db")
    assert list(tmp_path.iterdir()) == []
