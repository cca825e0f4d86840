"""One tenant's keyword index: an SQLite file with an FTS5 table of expanded words and the columns to filter by."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from retrieval.access import microseconds, readers_of
from retrieval.branch import Generation
from retrieval.faults import IngestIncomplete
from retrieval.tables import WAIT_S, reachable
from retrieval.words import index_words
from state.knowledge import Chunk

STORE = "keyword index"

# FTS5 must not cut our words again: everything that is not white space belongs to a word.
_LAYOUT = """
CREATE TABLE IF NOT EXISTS entry (
    entry INTEGER PRIMARY KEY, chunk_id TEXT NOT NULL UNIQUE, generation TEXT NOT NULL, product TEXT NOT NULL,
    from_us INTEGER NOT NULL, until_us INTEGER NOT NULL, words INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS entry_generation ON entry (generation);
CREATE TABLE IF NOT EXISTS reader (name TEXT, entry INTEGER, PRIMARY KEY (entry, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS total (entries INTEGER NOT NULL, words INTEGER NOT NULL);
INSERT INTO total SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM total);
CREATE VIRTUAL TABLE IF NOT EXISTS text USING fts5 (
    heading, body, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab (text, row);
"""

# Lists go in as JSON, so that the statement never changes.
_MATCHES = """
SELECT e.chunk_id, t.heading, t.body, e.words, e.generation FROM text t JOIN entry e ON e.entry = t.rowid
WHERE text MATCH :words AND e.from_us <= :now_us AND e.until_us > :now_us
AND EXISTS (SELECT 1 FROM reader r WHERE r.entry = e.entry AND r.name IN (SELECT value FROM json_each(:readers)))
AND (:products = '[]' OR e.product = '' OR e.product IN (SELECT value FROM json_each(:products)))
AND e.generation NOT IN (SELECT value FROM json_each(:not_live))
ORDER BY bm25(text, 2.0, 1.0), e.chunk_id LIMIT :limit
"""


@dataclass(frozen=True)
class Match:
    """A chunk that holds at least one of the words: its indexed words, space-separated, per field."""

    chunk_id: str
    heading: str
    body: str
    words: int
    generation: str


@dataclass(frozen=True)
class Statistics:
    """How many chunks a file holds, their words in all, and in how many chunks each asked word stands."""

    entries: int
    words: int
    holding: dict[str, int]


@dataclass(frozen=True)
class Filter:
    """What may be found: by readers, time and product; and generations that are not live."""

    readers: Sequence[str]
    now_us: int
    products: Sequence[str]
    not_live: Sequence[str]


class LexicalFile:
    """One file; a connection per operation, so that threads share nothing. Raises StoreUnavailable."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def there(self) -> bool:
        """Whether the file exists."""
        return self._file.exists()

    def statistics(self, words: Sequence[str]) -> Statistics | None:
        """What this file holds of some words; None where the file does not exist."""
        with self._open() as connection:
            if connection is None:
                return None
            entries, total = connection.execute("SELECT entries, words FROM total").fetchone()
            holding = {}
            for word in words:
                row = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
                holding[word] = row[0] if row else 0
            return Statistics(entries, total, holding)

    def matches(self, words: Sequence[str], admitted: Filter, limit: int) -> list[Match]:
        """Admitted chunks with any of the words, best by FTS5's own bm25 first; the filter stands before it."""
        # Each word is a quoted string: nothing that a user types is FTS syntax.
        asked = {
            "words": " OR ".join(f'"{word}"' for word in words),
            "now_us": admitted.now_us,
            "readers": json.dumps(list(admitted.readers)),
            "products": json.dumps(list(admitted.products)),
            "not_live": json.dumps(list(admitted.not_live)),
            "limit": limit,
        }
        with self._open() as connection:
            return [] if connection is None else [Match(*row) for row in connection.execute(_MATCHES, asked)]

    def lengths(self, generations: Sequence[str]) -> dict[str, int]:
        """The words of whole document versions, by generation."""
        query = (
            "SELECT generation, sum(words) FROM entry WHERE generation IN (SELECT value FROM json_each(?)) "
            "GROUP BY generation"
        )
        with self._open() as connection:
            rows = [] if connection is None else connection.execute(query, (json.dumps(list(generations)),))
            return {generation: int(words) for generation, words in rows}

    def add(self, generations: Sequence[Generation]) -> None:
        """Write new generations in one transaction. Raises IngestIncomplete where a chunk was there already."""
        with self._open(create=True) as connection:
            assert connection is not None  # it was just made
            added = [
                _insert(connection, chunk, generation) for generation in generations for chunk in generation.chunks
            ]
            connection.execute("UPDATE total SET entries = entries + ?, words = words + ?", (len(added), sum(added)))

    def end(self, generation: str, until_us: int) -> None:
        """Change when a generation's chunks stop being in force."""
        with self._open() as connection:
            if connection is not None:
                connection.execute("UPDATE entry SET until_us = ? WHERE generation = ?", (until_us, generation))

    def remove(self, generations: Sequence[str]) -> None:
        """Delete generations; one that is not there is no error."""
        with self._open() as connection:
            for generation in generations if connection is not None else ():
                assert connection is not None  # the loop is empty then
                these = (generation,)
                connection.execute(
                    "UPDATE total SET (entries, words) = (SELECT total.entries - count(*), "
                    "total.words - coalesce(sum(e.words), 0) FROM entry e WHERE e.generation = ?)",
                    these,
                )
                connection.execute(
                    "DELETE FROM text WHERE rowid IN (SELECT entry FROM entry WHERE generation = ?)", these
                )
                connection.execute(
                    "DELETE FROM reader WHERE entry IN (SELECT entry FROM entry WHERE generation = ?)", these
                )
                connection.execute("DELETE FROM entry WHERE generation = ?", these)

    @contextmanager
    def _open(self, create: bool = False) -> Iterator[sqlite3.Connection | None]:
        """A connection with one transaction, committed at the end; None where there is no file to open."""
        if not create and not self.there:
            yield None
            return
        with reachable(STORE):
            connection = sqlite3.connect(self._file, timeout=WAIT_S, isolation_level=None)
            try:
                if create:
                    connection.execute("PRAGMA journal_mode=WAL")
                    # All of it or nothing: who is killed meanwhile leaves an empty file, which holds nothing.
                    connection.executescript(f"BEGIN IMMEDIATE;{_LAYOUT}COMMIT;")
                elif not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'total'").fetchone():
                    yield None
                    return
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            finally:
                # Closing rolls back what was not committed.
                connection.close()


def _insert(connection: sqlite3.Connection, chunk: Chunk, generation: Generation) -> int:
    """Write one chunk; how many words were indexed of it."""
    heading = index_words(" ".join(dict.fromkeys((chunk.title, *chunk.headings))))
    body = index_words(chunk.text)
    words = len(heading) + len(body)
    from_us = microseconds(chunk.effective_from)
    cursor = connection.execute(
        "INSERT OR IGNORE INTO entry (chunk_id, generation, product, from_us, until_us, words) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (chunk.chunk_id, generation.name, chunk.product, from_us, generation.until_us, words),
    )
    if cursor.rowcount != 1:
        raise IngestIncomplete(f"{STORE}: a chunk of {chunk.source} was there already; nothing was written")
    entry = cursor.lastrowid
    readers = [(name, entry) for name in readers_of(chunk.acl)]
    connection.executemany("INSERT OR IGNORE INTO reader (name, entry) VALUES (?, ?)", readers)
    connection.execute(
        "INSERT INTO text (rowid, heading, body) VALUES (?, ?, ?)", (entry, " ".join(heading), " ".join(body))
    )
    return words
