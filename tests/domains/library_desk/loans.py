"""The loans of two libraries in one SQLite file, and each extension that was made."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

EXTENSION = timedelta(days=21)
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS loans (loan_id TEXT PRIMARY KEY, tenant TEXT, reader TEXT, book TEXT, due TEXT)",
    "CREATE TABLE IF NOT EXISTS extensions (key TEXT PRIMARY KEY, loan_id TEXT, due TEXT)",
)


class Loan(NamedTuple):
    """A lent book and the day it is due."""

    loan_id: str
    book: str
    due: datetime


class Loans:
    """The file, filled on first use relative to `now`: one loan is over its day, the other is not."""

    def __init__(self, path: Path, now: datetime) -> None:
        self._path = path
        seed = (
            ("L-2041", "northside", "maya@northside", "The Overstory", (now - timedelta(days=4)).isoformat()),
            ("L-7310", "riverside", "reed@riverside", "Ficciones", (now + timedelta(days=9)).isoformat()),
        )
        with self._connected() as connection:
            for statement in SCHEMA:
                connection.execute(statement)
            connection.executemany("INSERT OR IGNORE INTO loans VALUES (?, ?, ?, ?, ?)", seed)

    def of(self, reader: str) -> tuple[str, ...]:
        """The ids of a reader's loans."""
        with self._connected() as connection:
            rows = connection.execute("SELECT loan_id FROM loans WHERE reader = ? ORDER BY loan_id", (reader,))
            return tuple(loan_id for (loan_id,) in rows)

    def find(self, tenant: str, loan_id: str) -> Loan | None:
        """A loan of that library, or None: another library's looks like none."""
        with self._connected() as connection:
            row = connection.execute(
                "SELECT loan_id, book, due FROM loans WHERE loan_id = ? AND tenant = ?", (loan_id, tenant)
            ).fetchone()
        return Loan(row[0], row[1], datetime.fromisoformat(row[2])) if row else None

    def extend(self, loan: Loan, key: str) -> datetime:
        """Move the day a loan is due. The same key moves it once."""
        with self._connected() as connection:
            done = connection.execute("SELECT due FROM extensions WHERE key = ?", (key,)).fetchone()
            if done:
                return datetime.fromisoformat(done[0])
            due = loan.due + EXTENSION
            connection.execute("INSERT INTO extensions VALUES (?, ?, ?)", (key, loan.loan_id, due.isoformat()))
            connection.execute("UPDATE loans SET due = ? WHERE loan_id = ?", (due.isoformat(), loan.loan_id))
        return due

    def extensions(self) -> list[str]:
        """The loans that were extended, once for each extension."""
        with self._connected() as connection:
            return [loan_id for (loan_id,) in connection.execute("SELECT loan_id FROM extensions")]

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path)) as connection, connection:
            yield connection
