"""Everything a home holds, as bytes: for tests that prove what is nowhere."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import create_engine, inspect


def stored(home: Path, *, but: frozenset[str] = frozenset()) -> Iterator[tuple[str, bytes]]:
    """Each file of a home, and each cell of each SQLite table; folders named in `but` are left out.

    Cells are read apart from the files because a long text is spread over pages and would not be found whole.
    """
    for path in sorted(home.rglob("*")):
        parts = path.relative_to(home).parts
        if not path.is_file() or parts[0] in but:
            continue
        yield "/".join(parts), path.read_bytes()
        if path.suffix in (".db", ".sqlite", ".sqlite3"):
            yield from _cells(path, "/".join(parts))


def stored_on_server(url: str) -> Iterator[tuple[str, bytes]]:
    """Each cell of each table in the schema that a URL's connections see, whoever made the table."""
    engine = create_engine(url)
    with engine.connect() as connection:
        for table in inspect(connection).get_table_names():
            for row in connection.exec_driver_sql(f'SELECT * FROM "{table}"'):
                for cell in row:
                    yield table, bytes(cell) if isinstance(cell, bytes | memoryview) else _text(cell).encode()
    engine.dispose()


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, default=str)


def _cells(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = bytes
    try:
        tables = [row[0].decode() for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for cell in row:
                    if isinstance(cell, bytes):
                        yield f"{name}:{table}", cell
    finally:
        connection.close()
