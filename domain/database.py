"""The support agent's system of record: one SQLite file, seeded on first open, in which key values stay."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path

from domain.seed import fill
from domain.times import moment, stamp
from state.domain import DomainUnavailable

SCHEMA_VERSION = 2
BUSY_SECONDS = 5.0
NEEDED = "needed is a file that this process may read and write"


class Database:
    """Connections to the file; safe to share between threads.

    One that reads is kept for the next question, since opening it costs more than most questions do: used by one
    thread at a time, while the file is still the one that it opened, and not after an error.
    Every connection refuses to read the column that holds key values: a query that names it fails to compile,
    so no tool can return one, whatever it selects. Raises DomainUnavailable where SQLite cannot read or write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[tuple[_File, sqlite3.Connection]] = []

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot change anything."""
        with self._translating(), ExitStack() as stack:
            file = _file(self.path)
            connection = stack.enter_context(closing(self._reader(file)))
            yield connection
            if not connection.in_transaction:
                stack.pop_all()
                self._idle.append((file, connection))

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop()[1].close()

    @contextmanager
    def write(self, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection inside one transaction: all of it happens, or nothing. One writer at a time."""
        with self._translating(), closing(self._opened("rwc" if create else "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def check_writable(self) -> None:
        """Raises DomainUnavailable where the file can only be read."""
        # Asked of the mode bits, because root may write a read-only file that its owner wants kept as it is.
        if not self.path.stat().st_mode & stat.S_IWUSR:
            raise DomainUnavailable(_explained(self.path, "readonly file"))
        with self.write():
            pass

    def _reader(self, file: "_File") -> sqlite3.Connection:
        while self._idle:
            opened, connection = self._idle.pop()
            if opened == file:
                return connection
            connection.close()  # another file stands there now, or none
        connection = self._opened("rw")
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _opened(self, mode: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            address, timeout=BUSY_SECONDS, isolation_level=None, uri=True, check_same_thread=False
        )
        with ExitStack() as failed:
            failed.callback(connection.close)
            connection.row_factory = sqlite3.Row
            connection.set_authorizer(_keep_values_inside)
            connection.execute("PRAGMA foreign_keys = ON")
            failed.pop_all()
        return connection

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise  # a broken rule of the schema is a bug of the caller, not a state of the file
        except sqlite3.DatabaseError as error:
            raise DomainUnavailable(_explained(self.path, str(error))) from error


_File = tuple[int, int] | None


def _file(path: Path) -> _File:
    """Which file stands at a path: its device and number there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _keep_values_inside(
    action: int, table: str | None, column: str | None, schema: str | None, trigger: str | None
) -> int:
    reads_a_value = action == sqlite3.SQLITE_READ and (table, column) == ("api_keys", "value")
    return sqlite3.SQLITE_DENY if reads_a_value else sqlite3.SQLITE_OK


def _explained(path: Path, got: str) -> str:
    if "locked" in got:
        step = f"another process kept it for {BUSY_SECONDS:.0f} s: wait for it or end it, then try again"
    elif "readonly" in got:
        step = "make the file and its folder writable, or choose another data folder"
    else:
        step = "move the file away to have it seeded anew, or choose another data folder"
    return f"support database {path}: {got}; {NEEDED}; {step}"


def open_database(folder: Path, now: datetime) -> Database:
    """The database in `folder`, created and seeded relative to `now` where there is none yet.

    Schema and rows are one transaction, so a file is either unseeded or complete, also after a kill and with
    several processes at once. A complete one is opened also where it can only be read (`check_writable`). Raises
    DomainUnavailable for a folder that is read-only and has none, and for a file that is locked, damaged or made by
    something else.
    """
    path = folder / "support.sqlite"
    database = Database(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = path.exists()
    except OSError as error:
        raise DomainUnavailable(_explained(path, error.strerror or type(error).__name__)) from error
    if there:
        with database.read() as connection:
            if _seeded(connection, path):
                return database
    with database.write(create=True) as connection:
        if not _seeded(connection, path):
            _seed(connection, now)
    return database


def _seeded(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is complete, or else empty. Raises DomainUnavailable for anything else."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version != SCHEMA_VERSION and (version or tables):
        raise DomainUnavailable(_explained(path, f"schema version {version} where {SCHEMA_VERSION} is read"))
    return bool(version == SCHEMA_VERSION)


def _seed(connection: sqlite3.Connection, now: datetime) -> None:
    # Statement by statement: executescript would commit each one and leave a half-seeded file after a kill.
    for statement in Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").split(";"):
        connection.execute(statement)
    fill(connection, now)
    connection.execute("INSERT INTO seeding VALUES (?)", (stamp(now),))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def seeded_at(database: Database) -> datetime:
    """The moment that the seeded rows are relative to."""
    with database.read() as connection:
        return moment(connection.execute("SELECT seeded_at FROM seeding").fetchone()[0])
