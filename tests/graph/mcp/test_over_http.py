"""The SDK's own server over streamable HTTP: the credential goes in a header, and an answer has its bound."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from graph.mcp.fault import ServerFault
from graph.mcp.gateway import Gateway
from graph.tool_secrets import SettingsSecrets
from state.lock import Lock, PinnedTool
from state.mcp import McpServer
from tests.fakes import NOW, FakeClock
from tests.graph.mcp.servers import REVIEW


class Desk:
    """An app with a tool that answers, one that floods and one that hangs; `seen` are the credentials that came."""

    def __init__(self) -> None:
        self.seen: set[bytes | None] = set()
        server = MCPServer("desk")

        @server.tool()
        def lookup(order: str) -> dict[str, str]:
            """Look an order up."""
            return {"order": order}

        @server.tool()
        def flood(order: str) -> dict[str, str]:
            """Send far too much."""
            return {"order": "x" * 50_000_000}

        @server.tool()
        async def hang(order: str) -> dict[str, str]:
            """Answer never."""
            import anyio

            await anyio.sleep(600)
            return {}

        self.app: Starlette = server.streamable_http_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.seen.add(dict(scope["headers"]).get(b"authorization"))
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Desk, str]]:
    desk = Desk()
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(desk, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [found]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield desk, f"http://127.0.0.1:{found.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join(10)


def opened(url: str) -> Gateway:
    """A gateway on the server, with what it lists now reviewed."""
    server = McpServer(name="desk", url=url, bearer="desk_token", timeout_s=5, tools=())
    secrets = SettingsSecrets({"desk_token": SecretStr("desk-credential")})
    listing = Gateway([server], Lock(), secrets, FakeClock(NOW))
    lock = Lock()
    for name, one in listing.listing("desk").definitions.items():
        lock = lock.with_tool("desk", name, PinnedTool(definition=one.definition_digest(), reviewed=REVIEW))
    listing.close()
    return Gateway([server], lock, secrets, FakeClock(NOW))


def came_of(gate: Gateway, tool: str, timeout_s: float = 5) -> Any:
    try:
        return gate.call("desk", tool, {"order": "77"}, timeout_s).structured
    except ServerFault as fault:
        return fault.code.value


def test_a_server_over_http_answers_and_each_way_to_fail_leaves_it_usable(running: tuple[Desk, str]) -> None:
    desk, url = running
    gate = opened(url)
    assert came_of(gate, "lookup") == {"order": "77"}
    assert came_of(gate, "hang", 0.3) == "server_timed_out"
    assert came_of(gate, "flood") == "answer_too_large"
    assert came_of(gate, "lookup") == {"order": "77"}
    gate.close()
    assert desk.seen == {b"Bearer desk-credential"}


def test_an_address_where_nobody_listens_is_unavailable() -> None:
    server = McpServer(name="desk", url="http://127.0.0.1:9/mcp", timeout_s=5, tools=())
    gate = Gateway([server], Lock(), SettingsSecrets({}), FakeClock(NOW))
    assert came_of(gate, "lookup") == "server_unavailable"
    gate.close()
