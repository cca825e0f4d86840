"""How an event gets into the queue (S3): the one function that every producer calls, whatever watches files or jobs."""

from graph.stores.ownership import SqlOwnership, UnknownThread
from state.domain import Domain
from state.events import Event
from state.ports import EventQueue


class EventRefused(ValueError):
    """An event that nobody could be told: got, allowed, next step."""


class Producing:
    """Takes events of the domain's kinds, for tenants, principals and threads that there are."""

    def __init__(self, domain: Domain, ownership: SqlOwnership, queue: EventQueue) -> None:
        self._domain, self._ownership, self._queue = domain, ownership, queue

    def put(self, event: Event) -> int:
        """Queue an event durably; its number. Raises EventRefused, StoreUnavailable.

        Nobody is told of it here: each thread that it is for is told by its next request, if it is still so then.
        """
        if event.kind not in self._domain.events:
            known = ", ".join(sorted(self._domain.events)) or "none"
            raise EventRefused(f"got the event {event.kind!r}; the domain's kinds: {known}; add one to its `events`")
        people = [one for name in self._domain.principals() if (one := self._domain.principal(name)) is not None]
        tenants = {one.tenant for one in people}
        if event.tenant not in tenants:
            raise EventRefused(f"got tenant {event.tenant!r}; allowed: {', '.join(sorted(tenants))}")
        person = None if event.principal is None else self._domain.principal(event.principal)
        if event.principal is not None and (person is None or person.tenant != event.tenant):
            raise EventRefused(f"got principal {event.principal!r}, who is nobody of {event.tenant}; correct the name")
        if event.thread is not None and not self._is_theirs(event):
            whose = event.principal or event.tenant
            raise EventRefused(f"got thread {event.thread!r}, which {whose} does not have, or which was forgotten")
        return self._queue.put(event)

    def _is_theirs(self, event: Event) -> bool:
        try:
            owner = self._ownership.owner(event.thread or "")
            gone = self._ownership.forgotten_at(owner.thread)
        except UnknownThread:
            return False
        return gone is None and owner.tenant == event.tenant and event.principal in (None, owner.principal)
