"""Definitions that are not what was reviewed: whoever finds one blocks it, and tells it here (S3, X6).

Each tenant has it told once for each other content, in its requests and in `agent events`, while it is still so.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from state.canonical import digest
from state.domain import Domain
from state.events import DEFINITION_CHANGED, Event
from state.ports import Clock, EventQueue
from state.run import Scope


class DefinitionChanges:
    """What is blocked now because it changed. A definition is named in one line, such as `skill refund-steps` or
    `mcp search/lookup`, and its content by a digest."""

    def __init__(self, queue: EventQueue, tenants: Iterable[str], clock: Clock) -> None:
        self._queue, self._tenants, self._clock = queue, sorted(set(tenants)), clock
        self._blocked: dict[str, str] = {}

    def blocked(self, about: str, content: str) -> None:
        """A definition is blocked, since its content is another one: every tenant has an event in the queue.

        Told again with the same content it queues nothing, in this process or another. Raises ValidationError for a
        name of more than 160 characters or lines.
        """
        if self._blocked.get(about) == content:
            return
        for tenant in self._tenants:
            key = f"{DEFINITION_CHANGED} {digest([about, content])}"
            at = self._clock.now()
            self._queue.put(Event(tenant=tenant, kind=DEFINITION_CHANGED, about=about, at=at, key=key))
        self._blocked[about] = content

    def mended(self, about: str) -> None:
        """A definition is as it was reviewed, or reviewed anew."""
        self._blocked.pop(about, None)

    def still_so(self, scope: Scope, event: Event, now: datetime) -> bool:
        """Whether what an event is about is blocked now: the same for everybody."""
        return event.about in self._blocked

    def known_to(self, domain: Domain) -> Domain:
        """The domain with this kind of event, as the nodes are given it: nobody but the engine puts one."""
        return replace(domain, events={**domain.events, DEFINITION_CHANGED: self.still_so})
