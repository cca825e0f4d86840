"""After rows were deleted: their bytes leave the files too. On a server that is the server's own work."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from graph.stores.engine import BUSY_TIMEOUT_S

ON_SERVER = (
    "PostgreSQL keeps deleted rows in its files until VACUUM has passed and the space is used again, and in its "
    "write-ahead log, replicas and backups for as long as those are kept"
)


def shredded(files: Sequence[Path]) -> Iterator[str]:
    """Rewrite SQLite files without what was deleted, and empty their write-ahead logs. Gives what could not be done."""
    for path in files:
        if path.exists() and not _rewritten(path):
            yield f"{path.name}: erased bytes may still lie in it, since another process uses it; run this again then"


def _rewritten(path: Path) -> bool:
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            # No file is made where there is none.
            opened = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=1.0)
            with closing(opened) as connection:
                connection.execute("PRAGMA secure_delete=ON")
                connection.execute("VACUUM")
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy:
                    return True
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_BUSY) & 0xFF not in _IN_USE:
                raise
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)


_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
