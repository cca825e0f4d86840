"""The stored channels of a thread, typed again; and the one error where they do not fit this release."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from state.context import Packed
from state.node import SliceError
from state.request import Attempt
from state.run import RequestContext
from state.task import TaskState
from state.value import Value
from state.verdict import Verdict
from state.work import Decision

NEXT_STEP = (
    "the stored state of the thread was written by another release, or edited; ask on a new thread, or go on with the "
    "release that wrote it"
)


class StateUnreadable(SliceError):
    """A checkpoint holds channels in a shape that this release does not know."""


class Channels(Value):
    """What the graph carries between nodes, as far as a reader of threads needs it.

    `edited` is no channel: it says that the open lap was written into from outside (graph.lap_seal).
    """

    head: str | None = None
    task: TaskState | None = None
    request: RequestContext | None = None
    decision: Decision | None = None
    manifest: Packed | None = None
    proposal: str | None = None
    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    edited: bool = False


def read_channels(thread: str, values: Mapping[str, Any]) -> Channels:
    """The channels of a checkpoint. Raises StateUnreadable, naming those that do not fit."""
    given = {name: values[name] for name in Channels.model_fields if values.get(name)}
    try:
        return Channels.model_validate(given)
    except ValidationError as error:
        raise StateUnreadable(f"thread {thread}: got channels {wrong_fields(error)} unreadable; {NEXT_STEP}") from None


def wrong_fields(error: ValidationError) -> str:
    """The top-level fields that an error is about."""
    return ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors()}))
