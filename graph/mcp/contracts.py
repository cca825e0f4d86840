"""From a domain's servers and what was reviewed of them to tools under a contract: deny by default (S7, S8)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ValidationError

from graph.lock_file import LockUnusable
from graph.mcp.answer import result_of
from graph.mcp.fault import FAILURES, ServerFault
from graph.mcp.gateway import Gateway
from graph.mcp.reviewed import read_definitions
from state.canonical import canonical_json
from state.checks.hidden import hidden_characters
from state.contract import Effect, ToolContract
from state.domain import DecisionTable, Domain
from state.lock import Lock, Standing
from state.mcp import Definition, McpServer, ServerTool
from state.tools import Result, Tool, ToolContext, ToolError, Warned, closed_parameters

MOST_DESCRIPTION_CHARS = 1_024
_OWN_SHARE = 0.95  # of a call's time: the server is told that a call is over before it is left alone


class Served(NamedTuple):
    """A tool that a domain declares of a server: its contract, or why it cannot be called."""

    name: str
    server: McpServer
    tool: ServerTool
    contract: ToolContract | None
    why: str = ""


def served(domain: Domain, lock: Lock) -> tuple[Served, ...]:
    """Every declared tool of every server, in the domain's order. A file that cannot be read blocks its server only."""
    found = []
    for server in domain.servers:
        try:
            definitions, broken = read_definitions(domain.lock, server.name), ""
        except LockUnusable as error:
            definitions, broken = {}, str(error)
        for tool in server.tools:
            definition = definitions.get(tool.name)
            contract, why = (None, broken) if broken else _judged(server, tool, definition, lock)
            found.append(Served(server.tool_name(tool), server, tool, contract, why))
    return tuple(found)


def refusal(definition: Definition) -> str:
    """Why a definition can be nobody's tool, whoever reviews it; empty where it can."""
    hidden = hidden_characters(canonical_json(definition).decode())
    return f"its definition holds {hidden} hidden characters" if hidden else ""


def contract_of(server: McpServer, tool: ServerTool, definition: Definition) -> ToolContract:
    """The contract of a tool in the words of a definition. Raises ValueError, which says what does not fit."""
    if why := refusal(definition):
        raise ValueError(why)
    told = tool.description or definition.description.strip().split("\n\n")[0]
    description = " ".join(told.split())
    if not 0 < len(description) <= MOST_DESCRIPTION_CHARS:
        raise ValueError(
            f"got a description of {len(description)} characters; allowed: 1 to {MOST_DESCRIPTION_CHARS:,}; give the "
            "tool one of the domain's own"
        )
    own = {mode.code: mode for mode in (*FAILURES, *tool.terms.get("failures", ()))}
    terms: dict[str, Any] = {"retries": 1 if tool.effect is Effect.READ else 0, **tool.terms}
    try:
        return ToolContract(
            name=server.tool_name(tool),
            description=description,
            effect=tool.effect,
            parameters=closed_parameters(definition.input_schema),
            roles=tool.roles,
            output=tool.output,
            secrets=server.credentials,
            **{**terms, "failures": tuple(own.values())},
        )
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False))
        raise ValueError("; ".join(wrong)) from None


def connected(domain: Domain, gateway: Gateway) -> Domain:
    """The domain with its servers' tools among its own. What cannot be called stands in no decision any more."""
    if not domain.servers:
        return domain
    declared = served(domain, gateway.pins)
    tools = [_tool(one, gateway) for one in declared if one.contract is not None]
    gone = {one.name for one in declared if one.contract is None}
    return replace(
        domain,
        servers=(),
        tools=(*domain.tools, *tools),
        table=_without(domain.table, gone),
    )


def collisions(servers: Sequence[McpServer]) -> Iterator[str]:
    """Where two tools, or two servers, would have one name: what is declared, and what to do."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for server in servers:
        for tool in server.tools:
            named[server.tool_name(tool)].append(f"{tool.name!r:.80} of server {server.name}")
    for name, tools in named.items():
        if len(tools) > 1:
            yield f"the tools {' and '.join(tools)} are both named {name}; give all but one an alias"
    names = [server.name for server in servers]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{names.count(name)} servers are named {name}; rename all but one"


def _judged(
    server: McpServer, tool: ServerTool, definition: Definition | None, lock: Lock
) -> tuple[ToolContract | None, str]:
    if definition is None:
        return None, "its definition was not reviewed"
    match lock.tool(server.name, tool.name, definition.definition_digest()):
        case Standing.UNREVIEWED:
            return None, "its definition was not reviewed"
        case Standing.CHANGED:
            return None, "its definition is not the one that was reviewed"
        case Standing.PINNED:
            try:
                return contract_of(server, tool, definition), ""
            except ValueError as error:
                return None, str(error)


def _tool(one: Served, gateway: Gateway) -> Tool:
    assert one.contract is not None
    server, tool, timeout_s = one.server.name, one.tool, one.contract.timeout_s * _OWN_SHARE

    # By place alone: a parameter of the server's may be named as ours is.
    def run(context: ToolContext, /, **arguments: Any) -> Result | Warned:
        try:
            answer = gateway.call(server, tool.name, arguments, timeout_s)
        except ServerFault as fault:
            raise ToolError(fault.code.value, fault.detail) from None
        return result_of(answer, tool)

    return Tool(one.contract, run)


def _without(table: DecisionTable, gone: set[str]) -> DecisionTable:
    specs = tuple(
        spec.model_copy(update={"tools": tuple(name for name in spec.tools if name not in gone)})
        for spec in table.specs
    )
    return table.model_copy(update={"specs": specs})
