"""Who acts: derived from the runtime alone, never from a channel (L1)."""

from collections.abc import Mapping
from typing import Any

from graph.stores.ownership import SqlOwnership, UnknownThread
from state.domain import Domain
from state.policy import effective
from state.ports import Clock
from state.run import Principal, Scope


class UnknownPrincipal(PermissionError):
    """The domain knows nobody of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"got principal {name!r}, whom the domain does not know; `agent doctor` lists those it knows")


class NotYours(PermissionError):
    """Only the owner speaks on a thread; an approver answers what is pending."""

    def __init__(self, thread: str) -> None:
        super().__init__(f"thread {thread} belongs to another principal; an approver answers pending calls only")


class ThreadNeeded(ValueError):
    """A run without a thread id has nobody it could belong to."""

    def __init__(self) -> None:
        super().__init__("got no thread id; pass {'configurable': {'thread_id': ...}}")


class Identity:
    """Derives the scope of a run. `default` acts where neither a server nor a context names anyone."""

    def __init__(self, domain: Domain, ownership: SqlOwnership, clock: Clock, default: str) -> None:
        self._domain, self._ownership, self._clock, self._default = domain, ownership, clock, default

    def principal(self, name: str) -> Principal:
        """The principal of that name, with today's facts. Raises UnknownPrincipal."""
        found = self._domain.principal(name)
        if found is None:
            raise UnknownPrincipal(name)
        return found

    def actor(self, configurable: Mapping[str, Any], context: Mapping[str, Any] | None) -> Principal:
        """Who calls: the server's authenticated user; else, where the server has none, whom the context names.

        A principal in the context is a request body: with server auth on it is refused when it differs.
        """
        user = configurable.get("langgraph_auth_user")
        identity = user.get("identity") if isinstance(user, Mapping) else getattr(user, "identity", None)
        named = context.get("principal") if context else None
        if identity:
            if named is not None and named != identity:
                raise UnknownPrincipal(str(named))
            return self.principal(str(identity))
        return self.principal(str(named) if named is not None else self._default)

    def scope(self, configurable: Mapping[str, Any], context: Mapping[str, Any] | None) -> Scope:
        """The scope of a running node. A thread nobody has becomes the caller's.

        Raises UnknownPrincipal, UnknownThread (also for somebody else's thread), ThreadNeeded.
        """
        thread = configurable.get("thread_id")
        if not thread:
            raise ThreadNeeded
        actor = self.actor(configurable, context)
        try:
            return self.visitor(actor, str(thread))
        except UnknownThread:
            self._ownership.claim_thread(str(thread), actor.tenant, actor.name)
            return Scope(principal=actor, actor=actor, thread=str(thread))

    def owner(self, actor: Principal, thread: str) -> Scope:
        """The scope of someone who speaks on a thread: a new one becomes the speaker's. Raises UnknownThread."""
        self._ownership.claim_thread(thread, actor.tenant, actor.name)
        return Scope(principal=actor, actor=actor, thread=thread)

    def visitor(self, actor: Principal, thread: str) -> Scope:
        """The scope of someone on a thread that exists: its owner, or an approver of the owner's tenant.

        For everybody else the thread does not exist: raises UnknownThread.
        """
        owner = self._ownership.owner(thread)
        if owner.tenant != actor.tenant:
            raise UnknownThread(thread)
        if owner.principal == actor.name:
            return Scope(principal=actor, actor=actor, thread=thread)
        policy = effective(self._domain.policies, self._clock.now())
        if not set(actor.roles) & set(policy.approver_roles):
            raise UnknownThread(thread)
        return Scope(principal=self.principal(owner.principal), actor=actor, thread=thread)
