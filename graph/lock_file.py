"""The lock of a domain on disk: one JSON file, sorted, so that a review reads as a difference of lines."""

import json
from pathlib import Path

from pydantic import ValidationError

from graph.written_once import write_anew
from state.canonical import named_once
from state.lock import LOCK_VERSION, Lock

_MOST_BYTES = 4_000_000
_NEXT = "restore the file from version control, or remove it and review anew"


class LockUnusable(ValueError):
    """The lock cannot be read or written. The text is for the operator: got, allowed, next step."""


def read_lock(path: Path | None) -> Lock:
    """The lock in a file; an empty one, in which nothing is reviewed, where there is no file. Raises LockUnusable."""
    if path is None:
        return Lock()
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return Lock()
    except OSError as error:
        raise LockUnusable(f"{path}: got {error.strerror}; allowed: a file this user can read; correct it") from error
    if len(raw) > _MOST_BYTES:
        raise LockUnusable(f"{path}: got more than {_MOST_BYTES:,} bytes; allowed: a lock; {_NEXT}")
    try:
        # A key that stands twice would be read as its last: a pin that a reviewer does not look at.
        given = json.loads(raw.decode(), object_pairs_hook=named_once)
    except (ValueError, RecursionError) as error:  # no UTF-8 and no JSON are both a ValueError
        raise LockUnusable(f"{path}: got no JSON of a lock ({_first_line(error)}); {_NEXT}") from error
    version = given.get("version") if isinstance(given, dict) else None
    if version != LOCK_VERSION or isinstance(version, bool):
        raise LockUnusable(
            f"{path}: got a lock of version {version!s:.40}; allowed: {LOCK_VERSION}; "
            "use the release that wrote it, or remove it and review anew"
        )
    try:
        return Lock.model_validate_json(raw, strict=True)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        raise LockUnusable(f"{path}: got a wrong {where} ({wrong['msg']}); {_NEXT}") from error


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock whole or not at all: whoever reads meanwhile has the old one. Raises LockUnusable."""
    text = json.dumps(lock.model_dump(mode="json"), sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    try:
        write_anew(path, text)
    except OSError as error:
        raise LockUnusable(
            f"{path}: got {error.strerror}; allowed: a lock that this user can write; review where the domain's "
            "sources are, not where they are installed"
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
