"""Where the stores lie: a SQLite file or a PostgreSQL server, and how long its silence is borne."""

from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError

from graph.stores.unavailable import StoreUnavailable

# A network that died without a word shows itself within half a minute, and not after two hours. Milliseconds and
# seconds, as libpq counts them; whatever the URL says of them goes first.
_NOT_FOREVER = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}


def database_url(target: Path | str) -> URL:
    """The URL of a SQLite file (a path or `sqlite:///…`) or of PostgreSQL (`postgresql://…`).

    Raises StoreUnavailable for anything else, without repeating it: it may hold a password.
    """
    if isinstance(target, Path):
        return URL.create("sqlite", database=str(target))
    allowed = "sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE"
    next_step = "correct EXPEDIENTE_DATABASE_URL, or remove it to use SQLite in EXPEDIENTE_HOME"
    try:
        url = make_url(target)
    except (ArgumentError, ValueError):
        raise StoreUnavailable("of the settings", "something that is no URL", allowed, next_step) from None
    dialect = url.get_backend_name()
    if dialect not in ("sqlite", "postgresql"):
        raise StoreUnavailable("of the settings", f"a URL for {dialect}", allowed, next_step)
    if dialect == "sqlite" and url.database in (None, "", ":memory:"):
        # The two engines would see two databases.
        raise StoreUnavailable("of the settings", "a SQLite database in memory", allowed, next_step)
    return url.set(drivername="postgresql+psycopg") if dialect == "postgresql" else url


def on_server(url: URL) -> bool:
    """Whether it is PostgreSQL."""
    return url.get_backend_name() == "postgresql"


def spelt(url: URL) -> str:
    """The database as errors name it: a file's path, or a server's URL without its password."""
    return url.render_as_string(hide_password=True) if on_server(url) else str(url.database)


def server_arguments(url: URL, connect_timeout_s: float) -> dict[str, Any]:
    """What a connection to the server is opened with, beside what the URL says."""
    given = {"connect_timeout": max(1, round(connect_timeout_s)), **_NOT_FOREVER}
    return {name: value for name, value in given.items() if name not in url.query}
