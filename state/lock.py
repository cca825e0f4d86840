"""What a person reviewed of what others wrote (S8, S9, X6): skills by the digests of their files, MCP tools by that of
their definition. What is not pinned, or not as it was pinned, is neither offered nor run.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from state.value import Ruled, Value

LOCK_VERSION = 1  # what `Lock.version` admits

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,128}$")]


def _inside(path: str) -> str:
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError(f"got {path!r}; allowed: a path inside the skill's folder, with slashes and no step up")
    return path


FilePath = Annotated[
    str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f\\]{1,256}$"), AfterValidator(_inside)
]  # relative to the skill's folder


class Standing(StrEnum):
    """What the lock says of a definition as it is now."""

    PINNED = "pinned"
    UNREVIEWED = "unreviewed"
    CHANGED = "changed"


class Review(Value):
    """Who read it, and when."""

    by: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,160}$")]
    at: AwareDatetime


class PinnedSkill(Ruled):
    """A skill as it was reviewed: every file of its folder by relative path, with the sha256 of its bytes."""

    files: dict[FilePath, Digest] = Field(min_length=1)
    reviewed: Review


class PinnedTool(Ruled):
    """A tool of an MCP server as it was reviewed: the sha256 of its canonical definition (`state.canonical.digest`)."""

    definition: Digest
    reviewed: Review


class Lock(Ruled):
    """All that was reviewed. A copy with one more pin is made by `with_skill` and `with_tool`."""

    version: Literal[1] = 1
    skills: dict[Name, PinnedSkill] = {}
    mcp: dict[Name, dict[Name, PinnedTool]] = {}

    def skill(self, name: str, files: Mapping[str, str]) -> Standing:
        """How a skill stands whose folder holds these files, by path with their sha256: no more, no fewer, the same."""
        pinned = self.skills.get(name)
        return _standing(None if pinned is None else pinned.files, dict(files))

    def tool(self, server: str, name: str, definition: str) -> Standing:
        """How a server's tool stands whose canonical definition has this sha256."""
        pinned = self.mcp.get(server, {}).get(name)
        return _standing(None if pinned is None else pinned.definition, definition)

    def with_skill(self, name: str, pinned: PinnedSkill) -> "Lock":
        """The lock with a skill pinned; an earlier pin of the name is replaced. Raises ValidationError."""
        return self.model_copy(update={"skills": {**self.skills, name: pinned}})

    def with_tool(self, server: str, name: str, pinned: PinnedTool) -> "Lock":
        """The lock with a server's tool pinned; an earlier pin of it is replaced. Raises ValidationError."""
        return self.model_copy(update={"mcp": {**self.mcp, server: {**self.mcp.get(server, {}), name: pinned}}})


def _standing(pinned: object, now: object) -> Standing:
    if pinned is None:
        return Standing.UNREVIEWED
    return Standing.PINNED if pinned == now else Standing.CHANGED
