"""The one error of a store that cannot be used, whatever engine it is on and whenever it happens."""

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType

from graph.masking import masked


class StoreUnavailable(RuntimeError):
    """A database cannot be opened, read or written. Nothing was half-written: a statement counts whole or not at all.

    `where` names the database (never with its password), `got` what was met, `allowed` what would do,
    `next_step` what a person can try.
    """

    def __init__(self, where: str, got: str, allowed: str, next_step: str) -> None:
        where, got = masked(where), masked(got)  # what a driver says may repeat what it was connected with
        super().__init__(f"the store {where} cannot be used: got {got}; allowed: {allowed}; next: {next_step}")
        self.where = where
        self.got = got
        self.allowed = allowed
        self.next_step = next_step


_WRITABLE = "a database this user can write"

# By SQLite's primary error code, not by its English texts.
_SQLITE: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        sqlite3.SQLITE_BUSY: ("a database nobody keeps locked", "close the program that holds it, then try again"),
        sqlite3.SQLITE_LOCKED: ("a database nobody keeps locked", "close the program that holds it, then try again"),
        sqlite3.SQLITE_READONLY: (_WRITABLE, "allow writing to the file and its folder, or set EXPEDIENTE_HOME"),
        sqlite3.SQLITE_PERM: (_WRITABLE, "allow writing to the file and its folder, or set EXPEDIENTE_HOME"),
        sqlite3.SQLITE_CANTOPEN: (
            "a file in an existing folder this user can write",
            "create the folder and allow writing to it, or set EXPEDIENTE_HOME",
        ),
        sqlite3.SQLITE_FULL: ("room on the disk", "free some space, then try again"),
        sqlite3.SQLITE_IOERR: ("a disk that answers and has room", "check the disk and its free space, then try again"),
        sqlite3.SQLITE_NOTADB: ("a SQLite database", "move the file away, or set EXPEDIENTE_HOME to another folder"),
        sqlite3.SQLITE_CORRUPT: ("an undamaged database", "restore the file from a backup"),
    }
)
_PRIMARY_CODE = 0xFF  # an extended result code carries the primary one in its low byte


def sqlite_unavailable(where: str, error: sqlite3.Error) -> StoreUnavailable:
    """The StoreUnavailable for an error of SQLite."""
    code: int | None = getattr(error, "sqlite_errorcode", None)  # absent on errors the driver itself raises
    allowed, next_step = _SQLITE.get(
        code & _PRIMARY_CODE if code is not None else sqlite3.SQLITE_ERROR,
        ("a database this version can use", "run `agent doctor`"),
    )
    return StoreUnavailable(where, str(error), allowed, next_step)


def server_unavailable(where: str, error: BaseException) -> StoreUnavailable:
    """The StoreUnavailable for an error of a database server or its driver."""
    lines = str(error).strip().splitlines()
    return StoreUnavailable(
        where,
        lines[0] if lines else type(error).__name__,
        "a server that answers, with a role that may create and write tables",
        "start the server or correct EXPEDIENTE_DATABASE_URL",
    )


def driver_missing(where: str, error: ModuleNotFoundError) -> StoreUnavailable:
    """The StoreUnavailable where the extra for PostgreSQL is not installed."""
    return StoreUnavailable(where, f"no module {error.name}", "its driver installed", "pip install -e '.[postgres]'")
