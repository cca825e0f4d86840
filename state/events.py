"""Notices of what happened beside the conversation (S3): a file changed, a job ended, a permission or a mode changed.

An event says that something is so; it is shown in a request only as long as it still is, and it grants nothing: no gate
reads it.
"""

from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints

from state.context import DropReason
from state.value import Value

EVENT = "event"  # the scheme of a notice's source
NOTICE = "notice"  # the marker of its block
DEFINITION_CHANGED = "definition_changed"  # the engine's own kind: a skill or a tool is not what was reviewed

# One line that prints: who names a file or a job must not be able to begin a new line, or a block.
About = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]{1,160}$")]
EventKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]


class Event(Value):
    """What happened, and to whom it may be told: to every thread of the tenant, to those of one principal, or to one
    thread. `kind` is one of the domain's, `about` what it is about. `key` makes a producer that tells the same twice
    tell it once."""

    tenant: str
    principal: str | None = None
    thread: str | None = None
    kind: EventKind
    about: About
    at: AwareDatetime
    key: str | None = Field(default=None, max_length=200)


class Queued(Value):
    """An event in the queue, with its place there."""

    event_id: int
    event: Event

    @property
    def source(self) -> str:
        """The source of its notice."""
        return f"{EVENT}://{self.event_id}"


class Settled(Value):
    """What became of an event on a thread: told in a request (`dropped` is None), or left out and why."""

    event_id: int
    dropped: DropReason | None = None


class Told(Value):
    """A line of the queue's own record: an event, on which thread and by which decision it was settled, and how."""

    queued: Queued
    thread: str | None = None
    decision: int | None = None
    dropped: DropReason | None = None
