"""`agent mcp list` and `review`: what the domain's MCP servers offer, and that a definition was read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Annotated

from rich.text import Text
from typer import Argument, Exit, Option, Typer

from graph.cli.exits import FAILED, OK, WrongUse
from graph.cli.layout import Hanging
from graph.cli.program import Json, agent
from graph.cli.screen import Screen, one_line

if TYPE_CHECKING:
    from graph.mcp.gateway import Gateway
    from graph.mcp.review import ServerSeen, ToolSeen
    from state.domain import Domain

mcp = Typer(no_args_is_help=True, help="The domain's MCP servers: what they offer, and that it was reviewed.")
agent.add_typer(mcp, name="mcp")

_READY = "ready"


@mcp.command(name="list")
def listed(json: Json = False) -> None:
    """Ask every server what it offers, beside what is declared and pinned. Exit 1 where a declared one is not ready."""
    screen = Screen(json)
    with _servers(screen) as (domain, gateway):
        from graph.mcp.review import seen

        found = [seen(domain, gateway, server.name) for server in domain.servers]
    if json:
        screen.text(dumps({"servers": [one.model_dump(mode="json") for one in found]}, indent=2, ensure_ascii=False))
    else:
        _overview(screen, found)
    ready = all(
        one.fault is None and all(tool.named is None or tool.state.value == _READY for tool in one.tools)
        for one in found
    )
    raise Exit(OK if ready else FAILED)


@mcp.command()
def review(
    server: Annotated[str, Argument(metavar="SERVER", help="The server, by the domain's name for it.")],
    tool: Annotated[str | None, Argument(metavar="TOOL", help="One tool, by the server's name for it.")] = None,
    pin: Annotated[str | None, Option("--pin", metavar="VERSION", help="Pin it: the version that was read.")] = None,
    by: Annotated[str | None, Option("--by", metavar="NAME", help="Who read it.")] = None,
    despite_signs: Annotated[bool, Option("--despite-signs", help="Pin it although something is flagged.")] = False,
    json: Json = False,
) -> None:
    """Print definitions whole, beside what was reviewed; with --pin, pin one: it is offered from the next start on."""
    if (pin is None) is not (by is None) or (pin is not None and tool is None):
        raise WrongUse("got a part of SERVER TOOL --pin VERSION --by NAME; allowed: all of it, or neither option")
    screen = Screen(json)
    with _servers(screen) as (domain, gateway):
        from graph.mcp.review import NotReviewed, seen

        try:
            found = seen(domain, gateway, server)
            if found.fault is not None:
                words = f"; its standard error ends: {' / '.join(found.said)}" if found.said else ""
                screen.error(f"{server}: {found.fault}{words}; {found.fix}")
                raise Exit(FAILED)
            if pin is not None and by is not None and tool is not None:
                _pin(screen, domain, found, tool, pin, by, despite_signs)
                return
        except NotReviewed as wrong:
            raise WrongUse(one_line(str(wrong))) from None
    shown = [one for one in found.tools if tool in (None, one.tool) and one.definition is not None]
    if tool is not None and not shown:
        raise WrongUse(f"got {tool!r:.80}; {server} lists no such tool, or no contract names it")
    if json:
        screen.text(dumps({"tools": [one.model_dump(mode="json") for one in shown]}, indent=2, ensure_ascii=False))
        return
    for one in shown:
        _in_full(screen, server, one)


def _pin(
    screen: Screen, domain: "Domain", found: "ServerSeen", tool: str, version: str, by: str, despite_signs: bool
) -> None:
    from pydantic import ValidationError

    from graph.clock import SystemClock
    from graph.mcp.review import approve
    from state.lock import Review

    try:
        read = Review(by=by, at=SystemClock().now())
    except ValidationError:
        raise WrongUse(f"got --by {by!a:.80}; allowed: a name of at most 160 characters that print") from None
    path = approve(domain, found, tool, version, read, despite_signs=despite_signs)
    if screen.json_wanted:
        told = {"server": found.server, "tool": tool, "version": version, "by": by, "lock": str(path)}
        screen.text(dumps(told, indent=2, ensure_ascii=False))
    else:
        screen.out.print(Hanging(f"{tool} of {found.server}, {version}, is pinned in {path}", indent=0))


@contextmanager
def _servers(screen: Screen) -> "Iterator[tuple[Domain, Gateway]]":
    """The domain and a gateway to its servers; no store and no model is opened."""
    with screen.waiting("Reading"):
        from graph.clock import SystemClock
        from graph.domain_check import check_domain
        from graph.domain_loading import load_domain
        from graph.home import claim_home
        from graph.lock_file import read_lock
        from graph.mcp.gateway import Gateway
        from graph.settings import Settings
        from graph.tool_secrets import SettingsSecrets

        settings, clock = Settings.load(), SystemClock()
        claim_home(settings.make_home(), settings.domain)
        domain = load_domain(settings.domain, settings.home / "domain", clock)
    try:
        check_domain(domain)
        gateway = Gateway(domain.servers, read_lock(domain.lock), SettingsSecrets(settings.tool_secrets), clock)
        try:
            yield domain, gateway
        finally:
            gateway.close()
    finally:
        domain.close()


def _overview(screen: Screen, found: "Sequence[ServerSeen]") -> None:
    from graph.cli.arguments import in_full

    if not found:
        screen.out.print(Hanging("The domain names no server.", indent=0))
    for one in found:
        fault = f" {one_line(one.fault)}" if one.fault else ""
        screen.out.print(Text.assemble((one.server, "bold"), (fault, "bold red")))
        for line in one.said:
            screen.out.print(Hanging(line, "it said  "))
        if one.fix:
            screen.out.print(Hanging(one.fix, "fix      "))
        for tool in one.tools:
            style = "green" if tool.state.value == _READY else "yellow"
            name = one_line(in_full(tool.tool).text[1:-1])
            why = f": {one_line(tool.why)}" if tool.why else ""
            screen.out.print(Hanging(Text.assemble(f"{name} ", (tool.state.value, style), why)))


def _in_full(screen: Screen, server: str, one: "ToolSeen") -> None:
    from graph.cli.arguments import in_full

    assert one.definition is not None
    before = None if one.before is None else one.before.model_dump(mode="json")
    screen.out.print(Text.assemble((one.tool, "bold"), f" {one.version} {one.state.value}"))
    for name, value in one.definition.model_dump(mode="json").items():
        changed = before is not None and before[name] != value
        if changed and before is not None:
            screen.out.print(Hanging(in_full(before[name]).text, f"- {name} ", style="red"))
        screen.out.print(Hanging(in_full(value).text, f"{'+' if changed else ' '} {name} "))
    if one.why:
        screen.out.print(Hanging(one_line(one.why), "standing  "))
    for sign in one.signs:
        screen.out.print(Hanging(one_line(sign), "look at   ", style="yellow"))
    if one.state.value in ("unreviewed", "changed"):
        told = f"agent mcp review {server} {one.tool} --pin {one.version} --by NAME"
        screen.out.print(Hanging(f"if it may be offered: {told}{' --despite-signs' * bool(one.signs)}"))
