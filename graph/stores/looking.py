"""SQLite files that are opened to look: nothing is made beside them, and nothing in them changes."""

import os
import stat
from pathlib import Path
from urllib.parse import urlencode


def can_be_written(path: Path) -> bool:
    """Whether this user may change a file or what lies in a folder; False where there is none.

    Asked of the mode bits too: root may write what its owner wants kept as it is.
    """
    may = os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
    return may and bool(path.stat().st_mode & stat.S_IWUSR)


def look_uri(file: Path) -> str:
    """The URI under which SQLite reads a file and makes none where there is none.

    A database with a write-ahead log is read by way of an index beside it. Where none can be made the file is read by
    itself, as long as no log lies beside it: whoever has it open to write keeps one, and what the log holds is missing
    in the file. With a log the index that its writer left is read.
    """
    log = file.with_name(f"{file.name}-wal")
    if can_be_written(file) and can_be_written(file.absolute().parent):
        how = {"mode": "rw"}  # a reader puts the log's index there, and takes it away again
    elif log.exists() and log.stat().st_size:
        how = {"mode": "ro"}
    else:
        how = {"mode": "ro", "immutable": "1"}
    return f"{file.absolute().as_uri()}?{urlencode(how)}"
