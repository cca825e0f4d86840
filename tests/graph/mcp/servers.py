"""Servers of the tests: the raw one in all its ways, and what a domain says and has reviewed of it."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

import graph.mcp.connection  # noqa: F401 - the SDK takes a while to import, which is no call's time here
from graph.mcp.gateway import Gateway
from graph.tool_secrets import SettingsSecrets
from state.contract import Effect, OutputField
from state.lock import Lock, PinnedTool, Review
from state.mcp import Definition, McpServer, ServerTool
from tests.fakes import NOW, FakeClock
from tests.graph.mcp import raw_server

REVIEW = Review(by="ana@acme", at=datetime(2026, 7, 1, tzinfo=UTC))
OUTPUT = (OutputField(name="order", trust="system"), OutputField(name="status"))
LOOKUP = ServerTool(name="lookup", effect=Effect.READ, roles=("agent",), output=OUTPUT)
SHIP = ServerTool(name="ship", effect=Effect.WRITE, roles=("agent",), output=OUTPUT)


def definition(listed: dict[str, Any]) -> Definition:
    return Definition(name=listed["name"], description=listed["description"], input_schema=listed["inputSchema"])


DEFINITIONS = (definition(raw_server.LOOKUP), definition(raw_server.SHIP))


def raw(
    how: str, name: str = "raw", tools: Sequence[ServerTool] = (LOOKUP, SHIP), folder: Path | None = None, **more: Any
) -> McpServer:
    """The raw server that behaves so."""
    # Without site packages it is up in a few milliseconds.
    command = (sys.executable, "-S", str(Path(raw_server.__file__).resolve()), how)
    return McpServer(name=name, command=command, tools=tuple(tools), folder=folder, **{"timeout_s": 5, **more})


def pinned(*names: str) -> Lock:
    """The lock in which the raw server's tools are reviewed, under each of these names of it."""
    lock = Lock()
    for name in names:
        for one in DEFINITIONS:
            lock = lock.with_tool(name, one.name, PinnedTool(definition=one.definition_digest(), reviewed=REVIEW))
    return lock


def gateway(*servers: McpServer, clock: FakeClock | None = None, secrets: SettingsSecrets | None = None) -> Gateway:
    """A gateway to servers whose tools are all reviewed."""
    pins = pinned(*(server.name for server in servers))
    return Gateway(servers, pins, secrets or SettingsSecrets({}), clock or FakeClock(NOW))


def raw_servers() -> int:
    """How many of them this process has."""
    commands = [one.cmdline() for one in psutil.Process().children(recursive=True)]
    return sum(any("raw_server" in word for word in command) for command in commands)
