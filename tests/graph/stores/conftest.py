"""Where the contracts run: a port's fake, SQLite, and PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.stores.engine import Database, open_database


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """What `open_database` takes, on both engines."""
    if request.param == "sqlite":
        return tmp_path / "stores.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def database(target: Path | str) -> Iterator[Database]:
    """An open database, on both engines."""
    opened = open_database(target)
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database | None]:
    """Where a port's contract runs: None stands for its fake."""
    if request.param == "memory":
        yield None
        return
    opened = open_database(
        tmp_path / "stores.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    )
    yield opened
    opened.close()
