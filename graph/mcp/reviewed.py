"""What was reviewed of servers: their definitions in files beside the lock, which pins each by its digest (X6).

A tool is shown to a model in the words that were reviewed, whatever its server says now. So the definitions are kept,
and a server need not be asked before one of its tools is offered.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from graph.lock_file import LockUnusable, read_lock, write_lock
from graph.written_once import write_anew
from state.lock import PinnedTool, Review
from state.mcp import Definition

FOLDER = "mcp"  # beside the lock, one file for each server
_FILE: TypeAdapter[tuple[Definition, ...]] = TypeAdapter(tuple[Definition, ...])


def read_definitions(lock: Path | None, server: str) -> Mapping[str, Definition]:
    """The definitions of a server that were reviewed, by the server's names; none where there is no file.

    Whether they are as they were reviewed is for the lock to say. Raises LockUnusable.
    """
    if lock is None:
        return {}
    path = _path(lock, server)
    try:
        return {definition.name: definition for definition in _FILE.validate_json(path.read_bytes())}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise LockUnusable(f"{path}: got {error.strerror}; allowed: a file this user can read; correct it") from error
    except ValidationError:
        raise LockUnusable(
            f"{path}: got no definitions of tools; restore the file from version control, or remove it and review anew"
        ) from None


def pin(lock: Path, server: str, definition: Definition, review: Review) -> None:
    """Keep a definition as reviewed. Raises LockUnusable.

    The lock is written last: whoever is killed in between leaves a definition that is not the pinned one, and blocked.
    """
    kept = {**read_definitions(lock, server), definition.name: definition}
    path = _path(lock, server)
    plain = [kept[name].model_dump(mode="json") for name in sorted(kept)]
    try:
        path.parent.mkdir(exist_ok=True)
        write_anew(path, json.dumps(plain, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise LockUnusable(
            f"{path}: got {error.strerror}; allowed: a folder that this user can write; review where the domain's "
            "sources are, not where they are installed"
        ) from error
    pinned = PinnedTool(definition=definition.definition_digest(), reviewed=review)
    write_lock(lock, read_lock(lock).with_tool(server, definition.name, pinned))


def _path(lock: Path, server: str) -> Path:
    return lock.parent / FOLDER / f"{server}.json"
