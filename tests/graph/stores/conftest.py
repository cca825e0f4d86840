"""Where the contracts run. PostgreSQL gets a new schema per test, and is skipped, visibly, where there is none."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import DBAPIError

from graph.stores.engine import Database, open_database

POSTGRES = os.environ.get("EXPEDIENTE_TEST_DATABASE_URL", "postgresql://127.0.0.1:5432/test")


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A URL whose connections see one new, empty schema; it is dropped after the test."""
    url = make_url(POSTGRES).set(drivername="postgresql+psycopg")
    schema = f"expediente_test_{secrets.token_hex(6)}"
    try:
        engine = create_engine(url, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": 3})
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    except (DBAPIError, ModuleNotFoundError) as error:
        pytest.skip(f"no PostgreSQL at {url!r} ({type(error).__name__}); set EXPEDIENTE_TEST_DATABASE_URL")
    try:
        own = url.update_query_dict({"options": f"-csearch_path={schema}"})
        yield own.render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
        engine.dispose()


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
