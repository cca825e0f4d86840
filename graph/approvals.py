"""The calls of a thread that wait for a person, for whoever may answer them: a route beside those of the server (X1).

    GET  /approvals/{thread}    what waits
    POST /approvals/{thread}    {call id: {"approval_id": ..., "decision": "approve" or "reject"}}
                                or {..., "decision": "edit", "arguments": {all of the call's}}

What a server's own routes return of a thread is the whole conversation, and that is its owner's. So an approver gets
nothing there, and here the waiting calls that ask one of his roles and what became of those he answered; everybody else
gets nothing.
Of two answers to one call the first counts, and the other is told by whom and when the call was decided.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError
from pydantic import AwareDatetime
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.access_token import TokenRefused
from graph.admission import ANSWER_FORM, BadInput, check_answers
from graph.conversation import ANSWER_WAIT_S, NothingPending
from graph.decided import already_decided, is_asked
from graph.doorkeeper import APPROVAL_SCHEME, Doorkeeper
from graph.result import PendingCall
from graph.served import OnlyServed
from graph.stores.ownership import UnknownThread
from state.ports import DecisionLog, Ledger
from state.run import Scope
from state.value import Value
from state.verdict import VERDICTS, Allowed, Denied, NeedsApproval, Verdict
from state.work import Status

GRAPH = "expediente"  # as langgraph.json names it
_LOOK_AGAIN_S = 0.1
_STATUS: Mapping[type[Exception], int] = {TokenRefused: 401, UnknownThread: 404, NothingPending: 409, BadInput: 422}


class EffectMade(Value):
    """What became of an answered call in the world."""

    call_id: str
    tool: str
    state: str
    at: AwareDatetime


class Approvals(Value):
    """What an approver sees of a thread."""

    thread: str
    status: Status
    pending: tuple[PendingCall, ...]
    effects: tuple[EffectMade, ...] = ()


class _Busy(Exception):
    """The thread has a run just now."""


class _Standing(NamedTuple):
    """How a thread stands: what an approver sees, the interrupt that asks for each waiting call, what is decided."""

    shown: Approvals
    asked: Mapping[str, str]
    open: tuple[Verdict, ...]
    head: str | None


def make_approvals(door: Doorkeeper, ledger: Ledger, log: DecisionLog) -> Starlette:
    """The route as an app of its own, which the server takes in (`http.app` in langgraph.json). With it the server
    serves the routes of `graph.served` alone."""

    async def look(request: Request) -> Approvals:
        scope = await asyncio.to_thread(_scope, door, request)
        async with get_client(api_key=None) as inside:
            return (await _standing(inside, scope)).shown

    async def answer(request: Request) -> Approvals:
        scope = await asyncio.to_thread(_scope, door, request)
        answers = await _answers(request)
        async with get_client(api_key=None) as inside:
            before = {row.claim.key for row in await asyncio.to_thread(ledger.rows, scope.tenant, scope.thread)}
            await inside.runs.join(scope.thread, await _answering(inside, request, scope, answers))
            standing = await _standing(inside, scope)
        verdicts = await asyncio.to_thread(_decided, standing, scope)
        for call_id in answers:
            _refuse_second(call_id, verdicts, scope)
        rows = await asyncio.to_thread(ledger.rows, scope.tenant, scope.thread)
        effects = tuple(
            EffectMade(call_id=row.claim.call_id, tool=row.claim.tool, state=row.state, at=row.at)
            for row in rows
            if row.claim.key not in before and row.claim.call_id in answers
        )
        return standing.shown.model_copy(update={"effects": effects})

    async def _answering(inside: LangGraphClient, request: Request, scope: Scope, answers: Mapping[str, Any]) -> str:
        """The id of the run that answers. Where another answer is at work, it waits to see what that one decides."""
        until = time.monotonic() + ANSWER_WAIT_S
        while True:
            standing = await _standing(inside, scope)
            unknown = sorted(answers.keys() - standing.asked.keys())
            if unknown:
                verdicts = await asyncio.to_thread(_decided, standing, scope)
                raise NothingPending(already_decided(unknown[0], verdicts, scope) or _not_there(unknown[0], standing))
            try:
                # In a task of its own: the server leaves its caller in the context of whoever calls it in process.
                return await asyncio.create_task(_begun(request.app, door, scope, _by_interrupt(answers, standing)))
            except _Busy:
                if time.monotonic() >= until:
                    raise NothingPending(
                        "the thread is at work just now; look at what is pending, and answer again"
                    ) from None
            await asyncio.sleep(_LOOK_AGAIN_S)

    def _decided(standing: _Standing, scope: Scope) -> tuple[Verdict, ...]:
        filed = log.chain(scope.tenant, scope.thread, standing.head)
        return (*standing.open, *(verdict for record in filed for verdict in record.verdicts))

    # Not in the server's own description, which would read our docstrings as YAML.
    return Starlette(
        routes=[
            Route("/approvals/{thread}", _told(look), methods=["GET"], include_in_schema=False),
            Route("/approvals/{thread}", _told(answer), methods=["POST"], include_in_schema=False),
        ],
        middleware=[Middleware(OnlyServed)],  # the server takes it in before its own, for every route
    )


def _told(handle: Callable[[Request], Awaitable[Approvals]]) -> Callable[[Request], Awaitable[Response]]:
    """A handler's value as JSON, its refusal as the status that a client understands."""

    async def told(request: Request) -> Response:
        try:
            return JSONResponse((await handle(request)).model_dump(mode="json"))
        except (TokenRefused, UnknownThread, NothingPending, BadInput) as refused:
            return JSONResponse({"detail": str(refused)}, status_code=_STATUS[type(refused)])

    return told


def _scope(door: Doorkeeper, request: Request) -> Scope:
    """Who asks, on which thread. Raises TokenRefused; UnknownThread for all but its owner and its approvers."""
    user = door.bearer(request.headers.get("authorization"))
    named = request.path_params["thread"]
    try:
        return door.visitor(user, str(UUID(named)))
    except ValueError:
        raise UnknownThread(named) from None


async def _answers(request: Request) -> dict[str, Any]:
    """The answers in a request's body, by call id. Raises BadInput."""
    try:
        given = await request.json()
    except (ValueError, RecursionError):  # no JSON, or a number of more digits than Python reads
        given = None
    if not isinstance(given, dict) or not given:
        raise BadInput(f"invalid decision: got no answer; allowed: {ANSWER_FORM}")
    check_answers(given)
    return given


async def _standing(inside: LangGraphClient, scope: Scope) -> _Standing:
    """How a thread stands, as far as whoever acts is asked. Raises UnknownThread."""
    thread = scope.thread
    try:
        state = await inside.threads.get_state(thread)
    except NotFoundError:
        raise UnknownThread(thread) from None
    interrupts: list[Any] = [one for task in state["tasks"] for one in task["interrupts"]]
    waiting = [
        (one["id"], PendingCall.model_validate(call)) for one in interrupts for call in one["value"]["approvals"]
    ]
    own = [(interrupt_id, call) for interrupt_id, call in waiting if is_asked(scope, call)]
    asked = {call.call_id: interrupt_id for interrupt_id, call in own}
    pending = tuple(call for _, call in own)
    values: Any = state["values"] or {}
    ended = (values.get("task") or {}).get("status") or Status.FAILED
    status = Status.NEEDS_APPROVAL if waiting else Status(ended)
    verdicts = VERDICTS.validate_python(values.get("verdicts") or ())
    settled = tuple(verdict for verdict in verdicts if not isinstance(verdict, NeedsApproval))
    return _Standing(Approvals(thread=thread, status=status, pending=pending), asked, settled, values.get("head"))


def _not_there(call_id: str, standing: _Standing) -> str:
    there = ", ".join(sorted(standing.asked)) or "nothing"
    return f"invalid decision: got call {call_id[:200]}; pending on this thread: {there}; nothing was changed"


def _refuse_second(call_id: str, verdicts: tuple[Verdict, ...], scope: Scope) -> None:
    """Raises NothingPending for an answer that came while somebody else's was taken."""
    for verdict in verdicts:
        if verdict.call_id != call_id or not isinstance(verdict, Allowed | Denied) or verdict.approval is None:
            continue
        if verdict.approval.by != scope.actor.name:
            raise NothingPending(already_decided(call_id, verdicts, scope))


def _by_interrupt(answers: Mapping[str, Any], standing: _Standing) -> dict[str, dict[str, Any]]:
    """The answers as a resume takes them."""
    resume: dict[str, dict[str, Any]] = {}
    for call_id, answer in answers.items():
        resume.setdefault(standing.asked[call_id], {})[call_id] = answer
    return resume


async def _begun(server: Any, door: Doorkeeper, scope: Scope, resume: Mapping[str, Any]) -> str:
    """The id of a run that answers in the approver's own name, through the door. Raises BadInput, UnknownThread; _Busy
    while the thread has another run."""
    inside = await asyncio.to_thread(door.pass_for, scope.actor.name)
    run = {"assistant_id": GRAPH, "command": {"resume": resume}, "multitask_strategy": "reject"}
    headers = {"Authorization": f"{APPROVAL_SCHEME} {inside}"}
    transport = httpx.ASGITransport(app=server)
    async with httpx.AsyncClient(transport=transport, base_url="http://inside", headers=headers) as client:
        begun = await client.post(f"/threads/{scope.thread}/runs", json=run)
    said = begun.json()
    if begun.status_code == 422:
        raise BadInput(str(said.get("detail")))
    if begun.status_code == 409:
        raise _Busy
    if begun.status_code == 404:
        raise UnknownThread(scope.thread)
    begun.raise_for_status()
    return str(said["run_id"])
