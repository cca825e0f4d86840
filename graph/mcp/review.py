"""Every server beside what a domain declares and the lock pins of it: what a reviewer looks at before pinning (X6)."""

from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from graph.lock_file import LockUnusable, read_lock
from graph.masking import masked
from graph.mcp.contracts import contract_of, refusal
from graph.mcp.fault import ServerFault
from graph.mcp.gateway import Gateway, Listing
from graph.mcp.reviewed import pin, read_definitions
from state.checks.hidden import hidden_characters, visible
from state.checks.injection import injection_signs
from state.checks.known import leaves
from state.checks.lookalike import deceptive
from state.contract import Effect
from state.domain import Domain
from state.lock import Review, Standing
from state.mcp import Definition, McpServer, ServerTool
from state.ports import Clock, Secrets
from state.value import Value

MOST_SAID_LINES = 6
VERSION_CHARS = 12  # of a digest: enough to name what was read


class NotReviewed(ValueError):
    """A definition that cannot be pinned as asked. The text says what was got, what is allowed, and what to do."""


class ToolState(StrEnum):
    """How a server's tool stands. Only what is ready can be called."""

    READY = "ready"
    UNREVIEWED = "unreviewed"
    CHANGED = "changed"
    REFUSED = "refused"  # no review helps: no contract can be made of it
    LISTED_TWICE = "listed_twice"
    NOT_LISTED = "not_listed"
    NO_CONTRACT = "no_contract"


class ToolSeen(Value):
    """A tool that a server lists, or that the domain declares of it. `named` is what it is called here, `version` the
    beginning of its digest, `signs` what a reviewer should look at, `before` the definition that was reviewed."""

    tool: str
    named: str | None
    state: ToolState
    why: str = ""
    version: str | None = None
    signs: tuple[str, ...] = ()
    definition: Definition | None = None
    before: Definition | None = None


class ServerSeen(Value):
    """A server as it answers now. `fault` is why it does not, `said` the last lines that its process wrote to its
    standard error, without secrets and hidden characters, and `fix` what to do."""

    server: str
    fault: str | None
    said: tuple[str, ...] = ()
    fix: str = ""
    tools: tuple[ToolSeen, ...]


def seen(domain: Domain, gateway: Gateway, name: str) -> ServerSeen:
    """A server's tools, those that are declared first. Raises NotReviewed for a server that is not declared."""
    server = next((one for one in domain.servers if one.name == name), None)
    if server is None:
        known = ", ".join(one.name for one in domain.servers) or "none"
        raise NotReviewed(f"got the server {name!r:.80}; the domain's servers: {known}; declare it in `servers`")
    try:
        listing, failed = gateway.listing(name), None
    except ServerFault as error:
        listing, failed = None, error
    try:
        before, broken = read_definitions(domain.lock, name), ""
    except LockUnusable as error:
        before, broken = {}, str(error)
    tools = [_declared(server, tool, listing, before.get(tool.name), gateway, broken) for tool in server.tools]
    own = {tool.name for tool in server.tools}
    for listed in sorted((listing.definitions if listing else {}).values(), key=lambda one: one.name):
        if listed.name not in own:
            why = "the domain has no contract for it"
            tools.append(ToolSeen(tool=listed.name, named=None, state=ToolState.NO_CONTRACT, why=why))
    if failed is None:
        return ServerSeen(server=name, fault=None, tools=tuple(tools))
    said, fix = _last_lines(failed.said), _next_step(server)
    return ServerSeen(server=name, fault=str(failed), said=said, fix=fix, tools=tuple(tools))


def checked(domain: Domain, secrets: Secrets, clock: Clock) -> Iterator[tuple[str, bool, str, str]]:
    """For each server a name, whether all that is declared of it can be called, how its tools stand, and what to do
    where it is not. Each is opened for it."""
    try:
        pins = read_lock(domain.lock)
    except LockUnusable as error:
        found, _, fix = str(error).rpartition("; ")
        yield "lock", False, found, fix
        return
    gateway = Gateway(domain.servers, pins, secrets, clock)
    try:
        for server in domain.servers:
            yield f"server {server.name}", *_standing(seen(domain, gateway, server.name))
    finally:
        gateway.close()


def _standing(found: ServerSeen) -> tuple[bool, str, str]:
    by_state: defaultdict[ToolState, list[str]] = defaultdict(list)
    for tool in found.tools:
        by_state[tool.state].append(tool.tool)
    states = "; ".join(f"{state.value}: {', '.join(names)}" for state, names in by_state.items()) or "no tools"
    if found.fault is not None:
        words = f"; its standard error ends: {' / '.join(found.said)}" if found.said else ""
        return False, f"{found.fault} ({states}){words}", found.fix
    ready = all(tool.named is None or tool.state is ToolState.READY for tool in found.tools)
    return ready, states, "" if ready else f"read what is not ready: `agent mcp review {found.server}`"


def _last_lines(said: str) -> tuple[str, ...]:
    # In this order: a character that nobody sees would hide a secret.
    lines = [line.strip() for line in masked(visible(said)).splitlines()]
    return tuple(line for line in lines if line)[-MOST_SAID_LINES:]


def _next_step(server: McpServer) -> str:
    by_itself = "run its command by itself to see why, or correct it in the domain's `servers`"
    return by_itself if server.command else "start it, or correct its url in the domain's `servers`"


def approve(domain: Domain, found: ServerSeen, tool: str, version: str, review: Review, *, despite_signs: bool) -> Path:
    """Pin a tool's definition as it is now, if it is the version that was read; the lock's path.

    Raises NotReviewed, LockUnusable.
    """
    one = next((one for one in found.tools if one.tool == tool), None)
    if domain.lock is None:
        raise NotReviewed("got a domain without a lock; name its file in `Domain.lock`")
    if one is None or one.definition is None:
        raise NotReviewed(f"got {tool!r:.80}, which {found.server} does not list, or no contract names; see `review`")
    if one.state in (ToolState.REFUSED, ToolState.LISTED_TWICE):
        raise NotReviewed(f"got {tool!r:.80}, which cannot be pinned: {one.why}")
    if version != one.version:
        raise NotReviewed(
            f"got version {version!r:.80}; the server's is {one.version} now: read it with `review` first"
        )
    if one.signs and not despite_signs:
        raise NotReviewed(f"got signs in it ({', '.join(one.signs)}); read it, and say --despite-signs if it is fine")
    pin(domain.lock, found.server, one.definition, review)
    return domain.lock


def signs(definition: Definition, effect: Effect) -> Iterator[str]:
    """What stands in a definition that a person should look at. A review without any is no promise: see injection."""
    texts = [value for value in leaves(definition.model_dump(mode="json")) if isinstance(value, str)]
    if hidden := sum(map(hidden_characters, texts)):
        yield f"{hidden} hidden characters"
    if alike := sum(len(deceptive(text)) for text in texts) - hidden:
        yield f"{alike} characters that look like others"
    if orders := sum(injection_signs(text).count for text in texts):
        yield f"{orders} signs of an order to the model"
    hints = definition.annotations
    if effect is Effect.READ and (hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True):
        yield "the contract says that it reads, and the server that it changes something"


def _declared(
    server: McpServer,
    tool: ServerTool,
    listing: Listing | None,
    before: Definition | None,
    gateway: Gateway,
    broken: str,
) -> ToolSeen:
    listed = None if listing is None else listing.definitions.get(tool.name)
    known = before if listing is None else listed
    state, why = _state(server, tool, known, before, gateway, broken)
    if listing is not None and listed is None:
        state, why = ToolState.NOT_LISTED, "the server does not list it"
    if listing is not None and tool.name in listing.twice:
        state, why = ToolState.LISTED_TWICE, "the server lists it twice"
    return ToolSeen(
        tool=tool.name,
        named=server.tool_name(tool),
        state=state,
        why=why,
        version=None if listed is None else listed.definition_digest()[:VERSION_CHARS],
        signs=tuple(signs(known, tool.effect)) if known is not None else (),
        definition=listed,
        before=before,
    )


def _state(
    server: McpServer,
    tool: ServerTool,
    known: Definition | None,
    before: Definition | None,
    gateway: Gateway,
    broken: str,
) -> tuple[ToolState, str]:
    if known is None:
        return ToolState.UNREVIEWED, broken or "its definition was not reviewed"
    try:
        contract_of(server, tool, known)
    except ValueError as error:
        return ToolState.REFUSED, refusal(known) or str(error)
    match gateway.pins.tool(server.name, tool.name, known.definition_digest()):
        case Standing.UNREVIEWED:
            return ToolState.UNREVIEWED, "its definition was not reviewed"
        case Standing.CHANGED:
            return ToolState.CHANGED, "its definition is not the one that was reviewed"
        case Standing.PINNED:
            if before != known:
                return ToolState.CHANGED, broken or "the file of what was reviewed holds another definition"
            return ToolState.READY, ""
