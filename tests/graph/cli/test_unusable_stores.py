"""Stores that are locked, read-only or no databases: one line, exit 1, nothing half-written.

Permission bits do not stop root, so a file is made read-only the way SQLite itself knows: byte 18 of its header
names a format that this version may read and must not write.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.graph.cli.conftest import QUESTION, Program, SameProgram, one_line_error

DATABASES = ("expediente.db", "checkpoints.db", "memory.db", "domain/support.sqlite")
ASK = ("ask", QUESTION, "--as", "ana@acme", "--thread", "t")
_WRITE_VERSION_AT = 18
_NOT_WRITABLE = b"\x03"


def logs_of(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}-{kind}") for kind in ("wal", "shm")]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every driver gives up at once: that a lock is waited for is shown where the stores are tested."""
    connect = sqlite3.connect

    def connect_impatiently(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **{**options, "timeout": 0.1})
        return connection

    for module in (sqlite3, sqlite3.dbapi2):
        monkeypatch.setattr(module, "connect", connect_impatiently)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", DATABASES)
def test_a_locked_database_is_one_line_and_leaves_no_thread(same: SameProgram, name: str) -> None:
    with closing(sqlite3.connect(same.home / name)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        error = one_line_error(same(*ASK), 1)
    assert Path(name).name in error
    assert "database is locked" in error
    assert "t" not in same.threads()


def read_only(program: Program, name: str) -> None:
    file = program.home / name
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with file.open("r+b") as header:
        header.seek(_WRITE_VERSION_AT)
        header.write(_NOT_WRITABLE)
    for log in logs_of(file):
        log.unlink(missing_ok=True)


def not_a_database(program: Program, name: str) -> None:
    (program.home / name).write_bytes(b"this is no database" * 100)
    for log in logs_of(program.home / name):
        log.unlink(missing_ok=True)


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (read_only, "attempt to write a readonly database"),
        (not_a_database, "file is not a database"),
    ],
    ids=["read-only", "no database"],
)
def test_a_database_that_cannot_be_used_is_one_line(
    same: SameProgram, name: str, spoil: Callable[[Program, str], None], said: str
) -> None:
    spoil(same, name)
    error = one_line_error(same(*ASK), 1)
    assert Path(name).name in error
    assert said in error
    if name != "expediente.db":
        assert "t" not in same.threads()


def test_a_home_that_cannot_be_made_is_one_line(same: SameProgram) -> None:
    shutil.rmtree(same.home)
    same.home.write_text("a file stands where the folder should")
    error = one_line_error(same(*ASK), 1)
    assert "EXPEDIENTE_HOME" in error
    assert same("doctor", "--json").json()["checks"][0]["ok"] is False


def test_settings_that_cannot_be_are_one_line(same: SameProgram) -> None:
    error = one_line_error(same(*ASK, EXPEDIENTE_WINDOW_TOKENS="many", EXPEDIENTE_SECRET="short"), 1)
    assert "EXPEDIENTE_WINDOW_TOKENS: got 'many'" in error
    assert "short" not in error
    assert "no_such_domain" in one_line_error(same(*ASK, EXPEDIENTE_DOMAIN="no_such_domain"), 1)
