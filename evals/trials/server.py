"""A PostgreSQL schema of its own for one trial or one measurement, dropped afterwards."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import DBAPIError

_DIALECT = "postgresql+psycopg"
_CONNECT_S = 3


def unreachable(url: str) -> str:
    """Why the server cannot be used; empty where it can."""
    engine = None
    try:
        engine = create_engine(make_url(url).set(drivername=_DIALECT), connect_args={"connect_timeout": _CONNECT_S})
        engine.connect().close()
    except (DBAPIError, ModuleNotFoundError) as error:
        return type(error).__name__
    finally:
        if engine is not None:
            engine.dispose()
    return ""


@contextmanager
def new_schema(url: str) -> Iterator[str]:
    """A URL whose connections see one new, empty schema."""
    made = make_url(url).set(drivername=_DIALECT)
    name = f"expediente_trial_{secrets.token_hex(6)}"
    engine = create_engine(made, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": _CONNECT_S})
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        own = made.update_query_dict({"options": f"-csearch_path={name}"})
        yield own.render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        engine.dispose()
