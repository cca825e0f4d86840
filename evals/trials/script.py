"""The errands that the trials run: what is asked of the domain, and where its effects can be counted."""

import sqlite3
from contextlib import closing
from pathlib import Path

import yaml
from pydantic import Field

from state.value import Value

SCRIPT = Path(__file__).with_name("script.yaml")


class Errand(Value):
    """One wish and what it takes; script.yaml says what each field means."""

    name: str
    as_: str = Field(alias="as")
    wish: str
    afterwards: str
    tool: str | None = None
    approver: str = ""
    done: str = ""
    forgetful: bool = False


class Script(Value):
    """All errands, and the domain's own file, by its name in the domain's folder."""

    file: str
    errands: tuple[Errand, ...] = Field(min_length=1)


def load_script(path: Path = SCRIPT) -> Script:
    """The script of a file. Raises OSError, ValidationError."""
    return Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def effects_in(file: Path, errand: Errand) -> tuple[str, ...]:
    """The keys of the errand's effects in the world, read past the engine. None where the domain was not yet seeded."""
    if errand.tool is None or not file.exists():
        return ()
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return ()
        return tuple(row[0] for row in connection.execute(errand.done))
