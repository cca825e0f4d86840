"""What `stream_mode="custom"` says while a run goes on: where it is at once, and the answer once it is on record."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pydantic import JsonValue

from state.run import Scope

Event = dict[str, JsonValue]
OnProgress = Callable[[Mapping[str, JsonValue]], None]
_LISTENER: ContextVar[OnProgress | None] = ContextVar("listener", default=None)


@contextmanager
def listening(on_progress: OnProgress | None) -> Iterator[None]:
    """Have the events of a run in this thread told here, beside the stream.

    LangGraph moves a run whose `custom` stream is read into threads, where Ctrl-C does not reach a model call.
    """
    token = _LISTENER.set(on_progress)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(write: Callable[[Event], None], event: Event) -> None:
    """Write an event into the stream, and tell it to whoever listens."""
    write(event)
    listener = _LISTENER.get()
    if listener is not None:
        listener(event)


def begun(name: str, channels: Mapping[str, Any]) -> Event:
    """That a node begins: nothing that a model or user wrote."""
    return {"event": "node", "node": name, **_where(channels)}


def answered(scope: Scope, channels: Mapping[str, Any], writes: Mapping[str, Any]) -> Event | None:
    """What the agent says, once validate let it pass and log has filed it; None where these writes end no turn.

    It goes to the owner of the thread alone: who only approves a call is not told what it was asked for.
    """
    status = (writes.get("task") or {}).get("status")
    said = (writes.get("messages") or [{}])[-1]
    if status is None or said.get("type") != "ai" or scope.actor.name != scope.principal.name:
        return None
    return {"event": "answer", **_where(channels), "status": status, "text": said["content"]}


def _where(channels: Mapping[str, Any]) -> Event:
    decision, task = channels.get("decision") or {}, channels.get("task") or {}
    return {"decision": decision.get("index", task.get("next_index", 0)), "kind": decision.get("kind")}
