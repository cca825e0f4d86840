"""PostgreSQL for a test: a schema of its own, dropped afterwards; skipped, visibly, where there is no server."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import DBAPIError

POSTGRES = os.environ.get("EXPEDIENTE_TEST_DATABASE_URL", "postgresql://127.0.0.1:5432/test")


@contextmanager
def new_schema() -> Iterator[str]:
    """A URL whose connections see one new, empty schema."""
    url = make_url(POSTGRES).set(drivername="postgresql+psycopg")
    schema = f"expediente_test_{secrets.token_hex(6)}"
    try:
        engine = create_engine(url, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": 3})
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    except (DBAPIError, ModuleNotFoundError) as error:
        pytest.skip(f"no PostgreSQL at {url!r} ({type(error).__name__}); set EXPEDIENTE_TEST_DATABASE_URL")
    try:
        own = url.update_query_dict(
            {"options": f"-csearch_path={schema} -csynchronous_commit=off", "application_name": schema}
        )
        # libpq reads %20 where SQLAlchemy writes a plus, which both would take from a person.
        yield own.render_as_string(hide_password=False).replace("+-c", "%20-c")
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
        engine.dispose()


def sql(url: str, statement: str) -> list[Any]:
    """The first column of what a statement brings, on a connection of its own."""
    made = make_url(url)
    _, given = made.get_dialect()().create_connect_args(made)
    with psycopg.connect(**{**given, "application_name": "the test itself"}, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return [row[0] for row in cursor.fetchall()] if cursor.description else []


def terminate(url: str) -> None:
    """End every connection to the test's schema, as a restart of the server would."""
    name = make_url(url).query["application_name"]
    ended = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '{name}'"
    assert set(sql(url, ended)) == {True}
