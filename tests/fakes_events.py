"""The fake of the port EventQueue."""

from collections.abc import Sequence
from datetime import datetime

from state.events import Event, Queued, Settled
from state.run import Scope


class FakeEventQueue:
    """The queue in memory."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.settled: dict[tuple[str, str, int], Settled] = {}

    def put(self, event: Event) -> int:
        for number, known in enumerate(self.events, start=1):
            if event.key is not None and (known.tenant, known.key) == (event.tenant, event.key):
                return number
        self.events.append(event)
        return len(self.events)

    def pending(self, scope: Scope, most: int) -> tuple[Queued, ...]:
        found = [
            Queued(event_id=number, event=event)
            for number, event in enumerate(self.events, start=1)
            if event.tenant == scope.tenant
            and event.principal in (None, scope.principal.name)
            and event.thread in (None, scope.thread)
            and (scope.tenant, scope.thread, number) not in self.settled
        ]
        return tuple(found[:most])

    def settle(self, scope: Scope, settled: Sequence[Settled], decision: int, at: datetime) -> None:
        for one in settled:
            self.settled.setdefault((scope.tenant, scope.thread, one.event_id), one)
