"""The gateway (S8): one look before a call leaves, one shared connection per server, and what was found changed.

A server is opened when it is first needed, on an event loop of the gateway's own, and its connection is shared by all
runs of the process. A connection that broke is opened anew by the next call; what was on its way is lost with it.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic import JsonValue

from graph.mcp.answer import Answer
from graph.mcp.fault import FaultCode, ServerFault, before_a_call
from state.lock import Lock as Pins
from state.lock import Standing
from state.mcp import Definition, McpServer
from state.ports import Clock, SecretMissing, Secrets

if TYPE_CHECKING:
    from graph.mcp.connection import Connection

RECHECK_S = 300  # after so long the tools are listed again before one is offered or called
COOLDOWN_S = 30  # a server that could not be opened is left alone for so long
_SLACK_S = 1.0  # what the loop's own deadlines end first
_CLOSING_S = 10.0  # more than a transport takes to end a process
_LOG = logging.getLogger(__name__)


class Listing(NamedTuple):
    """What a server lists, by name, with the tools that it lists twice; when it was asked."""

    definitions: Mapping[str, Definition]
    twice: frozenset[str]
    at: datetime


class _Held:
    """One server with its connection. `lock` is held while it is opened, listed or closed, never during a call."""

    def __init__(self, server: McpServer) -> None:
        self.server, self.lock = server, Lock()
        self.connection: Connection | None = None
        self.over: Future[None] | None = None
        self.listing: Listing | None = None
        self.failed: tuple[ServerFault, datetime] | None = None


class Gateway:
    """Servers by name. `pins` is what was reviewed. Safe to use from many threads; `close` ends every server."""

    def __init__(self, servers: Sequence[McpServer], pins: Pins, secrets: Secrets, clock: Clock) -> None:
        self.pins, self._secrets, self._clock = pins, secrets, clock
        self._held = {server.name: _Held(server) for server in servers}
        # By the name under which a tool is called here, its server and the server's own name for it.
        self.names = {server.tool_name(tool): (server.name, tool.name) for server in servers for tool in server.tools}
        self._portal: BlockingPortal | None = None
        self._stack, self._lock = ExitStack(), Lock()

    def call(self, server: str, tool: str, arguments: Mapping[str, JsonValue], timeout_s: float) -> Answer:
        """Call a tool by the server's name for it, if it is as it was reviewed. Raises ServerFault."""
        held, until = self._held[server], time.monotonic() + timeout_s
        connection = self._looked(held, timeout_s)
        fault = self.changed(server, tool)
        left_s = until - time.monotonic()
        if fault is None and left_s <= 0:
            fault = ServerFault(FaultCode.NOT_ANSWERING, "opening it took the call's time")
        if fault is not None:
            raise fault
        try:
            answer: Answer = self._on_loop(connection.call, tool, arguments, left_s, within_s=left_s)
            return answer
        except ServerFault as error:
            if error.code in (FaultCode.LOST, FaultCode.TOO_LARGE):
                self._dropped(held, connection)
            raise

    def changed(self, server: str, tool: str) -> ServerFault | None:
        """Why a tool is not the one that was reviewed, as far as the server's last listing says."""
        listing = self._held[server].listing
        if listing is None:
            return None
        definition = listing.definitions.get(tool)
        if definition is None:
            return ServerFault(FaultCode.NOT_LISTED)
        standing = self.pins.tool(server, tool, definition.definition_digest())
        if tool in listing.twice or standing is not Standing.PINNED:
            return ServerFault(FaultCode.DEFINITION_CHANGED)
        return None

    def seen_digest(self, server: str, tool: str) -> str:
        """The digest of a tool's definition as it was last listed; empty where it was not."""
        listing = self._held[server].listing
        definition = None if listing is None else listing.definitions.get(tool)
        return "" if definition is None else definition.definition_digest()

    def look(self, server: str) -> ServerFault | None:
        """Open a server that is not open, and list its tools where that is due; why that could not be."""
        try:
            self.listing(server)
        except ServerFault as fault:
            return fault
        return None

    def listing(self, server: str) -> Listing:
        """What a server lists. Raises ServerFault where it cannot be asked."""
        held = self._held[server]
        self._looked(held, held.server.timeout_s)
        assert held.listing is not None
        return held.listing

    def close(self) -> None:
        """Close every connection and end every process. A second time does nothing."""
        for held in self._held.values():
            with held.lock:
                self._shut(held)
        with self._lock:
            self._portal = None
            self._stack.close()

    def _looked(self, held: _Held, wait_s: float) -> "Connection":
        """The open connection, with a listing that is not old. Raises ServerFault, by whose code nothing was sent."""
        with _within(held.lock, wait_s):
            now = self._clock.now()
            if held.failed is not None and now < held.failed[1] + timedelta(seconds=COOLDOWN_S):
                raise held.failed[0]
            try:
                if held.connection is None or (held.over is not None and held.over.done()):
                    self._shut(held)
                    self._opened(held, now)
                elif held.connection.listed_anew or held.listing is None or now >= _due(held.listing):
                    held.listing = _read(self._on_loop(held.connection.relisted, within_s=held.server.timeout_s), now)
            except ServerFault as failed:
                fault = before_a_call(failed)
                _LOG.info("the server %s: %s", held.server.name, fault)
                held.failed = fault, now
                self._shut(held)
                raise fault from None
            held.failed = None
            assert held.connection is not None
            return held.connection

    def _opened(self, held: _Held, now: datetime) -> None:
        try:
            from graph.mcp.connection import Connection  # the SDK is an extra, and takes a while to import
        except ModuleNotFoundError:
            raise ServerFault(FaultCode.SDK_MISSING, "install the extra `mcp`") from None
        try:
            given = {name: self._secrets.secret(name).get_secret_value() for name in held.server.credentials}
        except SecretMissing as missing:
            raise ServerFault(FaultCode.SECRET_MISSING, str(missing)) from None
        portal = self._loop()

        async def made() -> Connection:
            return Connection(held.server, given)

        connection = portal.call(made)
        try:
            held.over, listed = portal.start_task(connection.hold)
        except CancelledError:
            raise ServerFault(FaultCode.UNAVAILABLE, "the gateway is closing") from None
        held.connection, held.listing = connection, _read(listed, now)

    def _dropped(self, held: _Held, connection: "Connection") -> None:
        """Close a connection that broke, unless another call did meanwhile."""
        with held.lock:
            if held.connection is connection:
                self._shut(held)

    def _shut(self, held: _Held) -> None:
        connection, over = held.connection, held.over
        held.connection = held.over = None
        if connection is None or over is None or self._portal is None:
            return
        with suppress(RuntimeError, CancelledError, TimeoutError, ServerFault):
            self._portal.call(connection.close)
            over.result(_CLOSING_S)

    def _on_loop(self, work: Callable[..., Any], *arguments: Any, within_s: float) -> Any:
        future = self._loop().start_task_soon(work, *arguments)
        try:
            return future.result(within_s + _SLACK_S)
        except TimeoutError:
            future.cancel()
            raise ServerFault(FaultCode.TIMED_OUT, "the connection's loop does not answer") from None
        except CancelledError:
            raise ServerFault(FaultCode.LOST, "the gateway is closing") from None

    def _loop(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None:
                self._portal = self._stack.enter_context(start_blocking_portal(name="servers"))
            return self._portal


@contextmanager
def _within(lock: Lock, wait_s: float) -> Iterator[None]:
    if not lock.acquire(timeout=wait_s):
        raise ServerFault(FaultCode.NOT_ANSWERING, "others wait for it")
    try:
        yield
    finally:
        lock.release()


def _read(listed: Sequence[Definition], now: datetime) -> Listing:
    times = Counter(definition.name for definition in listed)
    return Listing(
        {definition.name: definition for definition in listed},
        frozenset(name for name, count in times.items() if count > 1),
        now,
    )


def _due(listing: Listing) -> datetime:
    return listing.at + timedelta(seconds=RECHECK_S)
