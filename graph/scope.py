"""Who acts: derived from the runtime alone, never from a channel (L1)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graph.stores.ownership import SqlOwnership, ThreadForgotten, UnknownThread
from state.domain import Domain
from state.policy import Policy, effective
from state.ports import Clock
from state.run import Principal, Scope


class UnknownPrincipal(RuntimeError):
    """The domain knows nobody of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"got principal {name!r}, whom the domain does not know; `agent doctor` lists those it knows")


class NotAuthenticated(RuntimeError):
    """Only authenticated users act here, and this run has none."""

    def __init__(self) -> None:
        super().__init__(
            "got a run without an authenticated user, while EXPEDIENTE_AUTH_KEY is set; name graph/auth.py under "
            '"auth" in langgraph.json, or unset the key'
        )


class BadBound(ValueError):
    """The decision bound in a run's context is no positive whole number."""

    def __init__(self, got: object) -> None:
        super().__init__(
            f"got max_decisions {got!r:.40}; allowed: a whole number of at least 1; correct it or leave it out"
        )


class NotYours(RuntimeError):
    """Only the owner speaks on a thread; an approver answers what is pending."""

    def __init__(self, thread: str) -> None:
        super().__init__(f"thread {thread} belongs to another principal; an approver answers pending calls only")


class ThreadNeeded(ValueError):
    """A run without a thread id has nobody it could belong to."""

    def __init__(self) -> None:
        super().__init__("got no thread id; pass {'configurable': {'thread_id': ...}}")


class Identity:
    """Derives the scope of a run. `default` acts where neither a server nor a context names anyone.

    Without a default only authenticated users act.
    """

    def __init__(self, domain: Domain, ownership: SqlOwnership, clock: Clock, default: str | None) -> None:
        self._domain, self._ownership, self._clock, self._default = domain, ownership, clock, default

    def policy(self) -> Policy:
        """The policy in force now."""
        return effective(self._domain.policies, self._clock.now())

    def principal(self, name: str) -> Principal:
        """The principal of that name, with today's facts. Raises UnknownPrincipal."""
        found = self._domain.principal(name) if name.isprintable() else None
        if found is None:
            raise UnknownPrincipal(name)
        return found

    def actor(self, configurable: Mapping[str, Any], context: Mapping[str, Any] | None) -> Principal:
        """Who calls: the server's authenticated user; else, where the server has none, whom the context names.

        A principal in the context is a request body: with server auth on it is refused when it differs.
        Raises UnknownPrincipal, NotAuthenticated.
        """
        user = configurable.get("langgraph_auth_user")
        identity = user.get("identity") if isinstance(user, Mapping) else getattr(user, "identity", None)
        named = context.get("principal") if context else None
        if identity:
            if named is not None and named != identity:
                raise UnknownPrincipal(str(named))
            return self.principal(str(identity))
        if self._default is None:
            raise NotAuthenticated
        return self.principal(str(named) if named is not None else self._default)

    def scope(self, configurable: Mapping[str, Any], context: Mapping[str, Any] | None) -> Scope:
        """The scope of a running node. A thread nobody has becomes the caller's.

        Raises UnknownPrincipal, NotAuthenticated, UnknownThread (also for somebody else's thread), ThreadForgotten,
        ThreadNeeded, BadBound.
        """
        thread = configurable.get("thread_id")
        if not thread:
            raise ThreadNeeded
        actor = self.actor(configurable, context)
        try:
            scope = self.visitor(actor, str(thread))
        except UnknownThread:
            scope = self.owner(actor, str(thread))
        else:
            self.not_forgotten(scope)
        bound = context.get("max_decisions") if context else None
        return scope if bound is None else scope.model_copy(update={"max_decisions": _bound(bound)})

    def owner(self, actor: Principal, thread: str) -> Scope:
        """The scope of someone who speaks on a thread: a new one becomes the speaker's.

        Raises UnknownThread, ThreadForgotten, BadThreadName.
        """
        self._ownership.claim_thread(thread, actor.tenant, actor.name)
        return Scope(principal=actor, actor=actor, thread=thread)

    def forgotten_at(self, thread: str) -> datetime | None:
        """When what was said on a thread was erased; None while it is kept."""
        return self._ownership.forgotten_at(thread)

    def not_forgotten(self, scope: Scope) -> None:
        """For whoever runs on a thread: raises ThreadForgotten where it is closed, to all but its owner UnknownThread.

        To an approver nothing waits there any more. Reading its records takes `visitor` alone.
        """
        at = self._ownership.forgotten_at(scope.thread)
        if at is not None:
            own = scope.actor.name == scope.principal.name
            raise ThreadForgotten(scope.thread, at) if own else UnknownThread(scope.thread)

    def visitor(self, actor: Principal, thread: str) -> Scope:
        """The scope of someone on a thread that exists: its owner, or an approver of the owner's tenant.

        For everybody else the thread does not exist: raises UnknownThread.
        """
        owner = self._ownership.owner(thread)
        if owner.tenant != actor.tenant:
            raise UnknownThread(thread)
        if owner.principal == actor.name:
            return Scope(principal=actor, actor=actor, thread=thread)
        if not set(actor.roles) & self._approving():
            raise UnknownThread(thread)
        return Scope(principal=self.principal(owner.principal), actor=actor, thread=thread)

    def _approving(self) -> set[str]:
        """The roles that may answer some call, by the policy or by a contract; which one, its request says."""
        by_contract = (tool.contract.approvers.roles or () for tool in self._domain.tools)
        return {*self.policy().approver_roles, *(role for roles in by_contract for role in roles)}


def _bound(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise BadBound(given)
    return given
