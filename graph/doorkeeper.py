"""Who may do what on a LangGraph server, decided before anything is stored (L1, X1).

A thread belongs to the principal who started it. To everybody else it does not exist, approvers included: what a
server returns of a run is the whole conversation. An approver answers over graph/approvals.py, which comes back to
this door with a pass that never leaves the process.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from langgraph_sdk import Auth

from graph.access_token import TokenRefused, auth_key, issue_pass, read_pass, read_token
from graph.admission import BadInput, check_run
from graph.clock import SystemClock
from graph.scope import Identity, UnknownPrincipal
from graph.settings import Settings
from graph.stores.ownership import BadThreadName, UnknownThread
from nodes.resolve import NotOneHumanMessage
from state.run import Scope

OWNER = "owner"
APPROVAL_SCHEME = "Approval"  # of a request that graph/approvals.py makes in process
MAY_APPROVE = "approve"
T = TypeVar("T")
Value = dict[str, Any]
Filter = dict[str, str]


class Doorkeeper:
    """The checks, synchronous and without a server. Raises SettingsError without a key for tokens."""

    def __init__(self, settings: Settings, identity: Identity) -> None:
        auth_key(settings)
        self._settings, self._identity = settings, identity

    def bearer(self, authorization: str | None) -> str:
        """The principal whom a request's header names. Raises TokenRefused, also for a name that nobody has."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            raise TokenRefused
        try:
            return self._identity.principal(read_token(self._settings, token.strip())).name
        except UnknownPrincipal:
            raise TokenRefused from None

    def enter(self, authorization: str | None) -> tuple[str, list[str]]:
        """Who a request is from, and its permissions: with a pass, to answer pending calls. Raises TokenRefused."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme == APPROVAL_SCHEME:
            return read_pass(self._settings, token), [MAY_APPROVE]
        return self.bearer(authorization), []

    def pass_for(self, user: str) -> str:
        """A pass for one request in process, which answers pending calls as this principal."""
        return issue_pass(self._settings, user, SystemClock().now())

    def visitor(self, user: str, thread: str) -> Scope:
        """The scope of who may see and answer what is pending on a thread: its owner, or an approver of the tenant.

        Raises UnknownThread, for a user whom the domain no longer knows too; ThreadForgotten.
        """
        try:
            scope = self._identity.visitor(self._identity.principal(user), thread)
        except UnknownPrincipal:
            raise UnknownThread(thread) from None
        self._identity.not_forgotten(scope)
        return scope

    def answer(self, user: str, value: Value) -> Filter:
        """A run that answers pending calls and nothing else, also on somebody else's thread.

        Raises UnknownThread, BadInput.
        """
        run = value["kwargs"]
        if run.get("command") is None or value.get("thread_id") is None:
            raise BadInput("got a run that answers nothing; allowed: answers to the pending calls of a thread")
        check_run(run, self._identity.policy())
        return {OWNER: self.visitor(user, str(value["thread_id"])).principal.name}

    def own(self, user: str) -> Filter:
        """The filter that only the user's own threads pass. Raises UnknownPrincipal: Studio's own user is nobody."""
        return {OWNER: self._identity.principal(user).name}

    def create(self, user: str, value: Value) -> Filter:
        """A new thread becomes the user's. Raises UnknownPrincipal, UnknownThread."""
        own = self.own(user)
        self._identity.owner(self._identity.principal(user), str(value["thread_id"]))
        _mark(value, own)
        return own

    def change(self, user: str, value: Value) -> Filter:
        """A thread may be described anew, never given away, and its state is written by runs alone: what a node
        wrote is taken at its word by the next. Raises UnknownPrincipal, UnknownThread, BadInput.
        """
        own = self.own(user)
        if value.get("metadata") is None:
            thread = str(value.get("thread_id"))
            if self.visitor(user, thread).principal.name != user:
                raise UnknownThread(thread)
            raise BadInput(
                "got a state to write; with authentication a thread's state can be read, and run from any of its "
                "checkpoints, and only its runs write it"
            )
        _mark(value, own)
        return own

    def begin(self, user: str, value: Value) -> Filter:
        """A run on an own thread, with an input or answers of the right form. A thread that nobody has becomes the
        user's only where the run makes it; where the server would refuse it, it looks as a foreign one does.

        Raises UnknownPrincipal (also for another one in the context), UnknownThread, NotOneHumanMessage, BadInput.
        """
        own = self.own(user)
        run = value["kwargs"]
        named = (run.get("context") or {}).get("principal")
        if named not in (None, user):
            raise UnknownPrincipal(str(named))
        check_run(run, self._identity.policy())
        if (thread := value.get("thread_id")) is not None:
            actor = self._identity.principal(user)
            if value.get("if_not_exists") != "create":
                self._identity.visitor(actor, str(thread))
            self._identity.owner(actor, str(thread))
        _mark(value, own)  # a thread that this run creates takes it over
        return own


def _mark(value: Value, own: Filter) -> None:
    """Write the owner over whatever the client wrote. In place: the server goes on with the object it passed."""
    if value.get("metadata") is not None:
        value["metadata"].update(own)


def make_auth(door: Doorkeeper) -> Auth:
    """The door as LangGraph's Auth. What is not allowed here is refused: store, crons, own assistants."""
    auth = Auth()

    @auth.authenticate
    async def authenticate(authorization: str | None) -> Auth.types.MinimalUserDict:
        try:
            name, may = await asyncio.to_thread(door.enter, authorization)
        except TokenRefused as refused:
            raise Auth.exceptions.HTTPException(status_code=401, detail=str(refused)) from None
        return {"identity": name, "display_name": name, "is_authenticated": True, "permissions": may}

    @auth.on
    async def refuse(ctx: Auth.types.AuthContext, value: Any) -> bool:
        return False

    @auth.on(resources="assistants", actions=["read", "search"])
    async def look(ctx: Auth.types.AuthContext, value: Any) -> None:
        await _asked(door.own, ctx.user.identity)

    @auth.on(resources="threads", actions=["read", "search", "delete"])
    async def own(ctx: Auth.types.AuthContext, value: Any) -> Filter:
        return await _asked(door.own, ctx.user.identity)

    @auth.on.threads.update
    async def change(ctx: Auth.types.AuthContext, value: Any) -> Filter:
        return await _asked(door.change, ctx.user.identity, value)

    @auth.on.threads.create
    async def create(ctx: Auth.types.AuthContext, value: Any) -> Filter:
        return await _asked(door.create, ctx.user.identity, value)

    @auth.on.threads.create_run
    async def begin(ctx: Auth.types.AuthContext, value: Any) -> Filter:
        return await _asked(door.answer if MAY_APPROVE in ctx.permissions else door.begin, ctx.user.identity, value)

    return auth


async def _asked(check: Callable[..., T], *given: Any) -> T:
    """A check off the event loop, its refusal as the status that a client understands."""
    try:
        return await asyncio.to_thread(check, *given)
    except UnknownPrincipal as refused:
        raise Auth.exceptions.HTTPException(status_code=403, detail=str(refused)) from None
    except UnknownThread as refused:
        raise Auth.exceptions.HTTPException(status_code=404, detail=str(refused)) from None
    except (BadInput, NotOneHumanMessage, BadThreadName) as refused:
        raise Auth.exceptions.HTTPException(status_code=422, detail=str(refused)) from None
