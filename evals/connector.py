"""Servers of others that a case lays under the domain: declared, reviewed, each a process of its own (S8)."""

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from evals import connector_server
from graph.mcp.reviewed import pin
from state.contract import Effect, OutputField
from state.domain import DecisionTable, Domain
from state.lock import Review
from state.mcp import Definition, McpServer, ServerName, ServerTool
from state.value import Value

_TIMEOUT_S = 2.0  # of a call that hangs: a case does not wait longer


class ConnectedTool(Value):
    """A tool of a server. `at` names the decisions that offer it, `parameters` are schemas by name.

    A call brings its arguments and what it `shows`; `trusted` are the fields that the contract trusts. From the second
    listing on, ten minutes later say, its description is `later`, where that is given.
    """

    name: str
    description: str
    at: tuple[str, ...] = Field(min_length=1)
    effect: Effect = Effect.READ
    roles: tuple[str, ...] = Field(min_length=1)
    parameters: dict[str, dict[str, JsonValue]] = {}
    shows: dict[str, JsonValue] = {}
    trusted: tuple[str, ...] = ()
    later: str = ""

    @property
    def listed(self) -> dict[str, JsonValue]:
        """The definition as the server lists it at first."""
        schema: JsonValue = {
            "type": "object",
            "properties": dict(self.parameters),
            "required": list(self.parameters),
        }
        return {"name": self.name, "description": self.description, "inputSchema": schema}

    @property
    def declared(self) -> ServerTool:
        """What the domain says of it."""
        fields = dict.fromkeys((*self.parameters, *self.shows))
        output = tuple(
            OutputField(name=name, trust="system" if name in self.trusted else "untrusted") for name in fields
        )
        terms = {"timeout_s": _TIMEOUT_S}
        return ServerTool.model_validate(
            {"name": self.name, "effect": self.effect, "roles": self.roles, "output": output, "terms": terms}
        )


class Connected(Value):
    """A server. `how` its calls go; `reviewed` is false where nobody has read its definitions."""

    name: ServerName
    how: Literal["well", "hangs", "crashes", "garbles", "is_down"] = "well"
    reviewed: bool = True
    tools: tuple[ConnectedTool, ...] = Field(min_length=1)

    @property
    def server(self) -> McpServer:
        """The server as the domain declares it."""
        script = str(Path(connector_server.__file__).resolve())
        parts = [{"listed": tool.listed, "later": tool.later, "shows": tool.shows} for tool in self.tools]
        play = json.dumps({"how": self.how, "tools": parts})
        command = ("no-such-server",) if self.how == "is_down" else (sys.executable, "-I", "-S", script, play)
        return McpServer(name=self.name, command=command, tools=tuple(tool.declared for tool in self.tools))


def with_servers(domain: Domain, laid: Sequence[Connected], home: Path, review: Review) -> Domain:
    """The domain with these servers, their tools in its decisions, and a lock of the case's own that pins them.

    Raises LookupError for a decision that there is not.
    """
    if not laid:
        return domain
    lock = home / "case-lock.json"
    if domain.lock is not None and domain.lock.exists():
        shutil.copy(domain.lock, lock)
    for server in laid:
        for tool in server.tools if server.reviewed else ():
            listed = tool.listed
            definition = Definition.model_validate(
                {"name": tool.name, "description": tool.description, "input_schema": listed["inputSchema"]}
            )
            pin(lock, server.name, definition, review)
    servers = tuple(server.server for server in laid)
    return replace(domain, lock=lock, servers=(*domain.servers, *servers), table=_offering(domain.table, laid, servers))


def _offering(table: DecisionTable, laid: Sequence[Connected], servers: Sequence[McpServer]) -> DecisionTable:
    specs = {spec.name: spec for spec in table.specs}
    for one, server in zip(laid, servers, strict=True):
        for tool, declared in zip(one.tools, server.tools, strict=True):
            for place in tool.at:
                if place not in specs:
                    raise LookupError(f"got the decision {place!r:.80}; the domain has: {', '.join(sorted(specs))}")
                spec, name = specs[place], server.tool_name(declared)
                specs[place] = spec.model_copy(update={"tools": (*spec.tools, name)})
    return table.model_copy(update={"specs": tuple(specs.values())})
