"""A skill (S9) in the published format of Agent Skills: a folder with a SKILL.md, read once and held as it was read.

What the lock pins are these bytes, so nothing that changes on disk afterwards is shown or run.
"""

import hashlib
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from pydantic import Field

from state.canonical import digest
from state.lock import FilePath
from state.value import Value

SKILL_FILE = "SKILL.md"
SCRIPTS = "scripts/"
READ_SKILL_FILE, RUN_SKILL_SCRIPT = "read_skill_file", "run_skill_script"
SKILL_TOOLS = (READ_SKILL_FILE, RUN_SKILL_SCRIPT)  # the engine's own; a decision table names those it wants
MOST_DESCRIPTION_CHARS = 1_024
MOST_COMPATIBILITY_CHARS = 500
MOST_BODY_CHARS = 20_000  # about five thousand tokens, which is what the format recommends at most

SkillName = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]


class Skill(Value):
    """Its front matter, the body of its SKILL.md, and every file of its folder by relative path.

    `allowed_tools` is what the skill says it uses. It grants nothing: what may be called, contracts and policy say.
    """

    name: SkillName
    description: str = Field(min_length=1, max_length=MOST_DESCRIPTION_CHARS)
    body: str = Field(min_length=1, max_length=MOST_BODY_CHARS)
    license: str = ""
    compatibility: str = Field(default="", max_length=MOST_COMPATIBILITY_CHARS)
    metadata: dict[str, str] = {}
    allowed_tools: tuple[str, ...] = ()
    files: dict[FilePath, bytes]

    @cached_property
    def digests(self) -> dict[str, str]:
        """The sha256 of each file, by path: what the lock pins."""
        return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(self.files.items())}

    @property
    def version(self) -> str:
        """A name for exactly these files: twelve hex digits."""
        return digest(dict(self.digests))[:12]

    @property
    def scripts(self) -> tuple[str, ...]:
        """The paths of what can be run, sorted."""
        return tuple(sorted(path for path in self.files if path.startswith(SCRIPTS) and path.endswith(".py")))


class FaultCode(StrEnum):
    """What is wrong with a folder of skills, or with one skill in it."""

    NO_SUCH_FOLDER = "no_such_folder"
    FOLDER_IS_LINK = "folder_is_link"
    NO_SKILL_FILE = "no_skill_file"
    LINK = "link"
    NOT_A_FILE = "not_a_file"
    UNREADABLE = "unreadable"
    UNSAFE_PATH = "unsafe_path"
    SAME_BUT_FOR_CASE = "same_but_for_case"
    TOO_MANY_FILES = "too_many_files"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    NOT_TEXT = "not_text"
    NO_FRONT_MATTER = "no_front_matter"
    FRONT_MATTER_NOT_CLOSED = "front_matter_not_closed"
    FRONT_MATTER_INVALID = "front_matter_invalid"
    UNKNOWN_KEY = "unknown_key"
    NAME_MISSING = "name_missing"
    NAME_INVALID = "name_invalid"
    NAME_DIFFERS = "name_differs"
    DESCRIPTION_MISSING = "description_missing"
    DESCRIPTION_TOO_LONG = "description_too_long"
    WRONG_VALUE = "wrong_value"
    BODY_EMPTY = "body_empty"
    BODY_TOO_LONG = "body_too_long"


class SkillFault(Value):
    """Why a skill is not there: its folder's name, what is wrong, and what to do."""

    skill: str
    code: FaultCode
    detail: str


class Shelf(Value):
    """The skills of a domain, by what the lock says of each: the pinned ones are offered, and no others.

    `missing` are names that the lock pins and the folder does not have; `faults` what could not be read.
    """

    pinned: tuple[Skill, ...] = ()
    unreviewed: tuple[Skill, ...] = ()
    changed: tuple[Skill, ...] = ()
    missing: tuple[str, ...] = ()
    faults: tuple[SkillFault, ...] = ()

    @property
    def drifted(self) -> dict[str, str]:
        """What is not as it was pinned, by name, with what it is now: a version, or why it cannot be read."""
        broken = {fault.skill: f"{fault.code.value} {fault.detail}" for fault in self.faults}
        return {skill.name: skill.version for skill in self.changed} | {
            name: broken[name] for name in self.missing if name in broken
        }
