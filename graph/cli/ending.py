"""How a run ends on the screen: the answer with its sources, or the calls that wait for a person."""

import json
import shlex
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from graph.cli.arguments import Written, in_full, of_escaped
from graph.cli.layout import Hanging, labelled
from graph.cli.screen import one_line
from graph.cli.wording import plural, until
from graph.result import AnswerShown, PendingCall, RunResult
from state.checks.hidden import visible
from state.work import Status

if TYPE_CHECKING:
    from graph.app import App

_TITLES = {
    Status.ANSWERED: ("Answer", "bold green"),
    Status.NEEDS_APPROVAL: ("Waits for a person", "bold yellow"),
    Status.NEEDS_INPUT: ("Needs your answer", "bold yellow"),
    Status.ESCALATED: ("Handed over to a person", "bold yellow"),
    Status.PARTIAL: ("Partial answer", "bold yellow"),
    Status.FAILED: ("Failed", "bold red"),
}
OWNERS_ONLY = "What was said on this thread is for its owner to see."
_NEXT_TITLES = {Status.NEEDS_INPUT: "Choices", Status.ESCALATED: "Missing", Status.PARTIAL: "Missing"}


def ending(app: "App", result: RunResult, *, as_: str, model: str | None) -> RenderableType:
    """The last part of the account. `model` is what the command line named."""
    parts: list[RenderableType] = []
    if result.decisions or result.pending:
        parts.append(heading_of(result.status))
    else:
        parts += [Hanging(OWNERS_ONLY, indent=0), Text()]
    if result.error:
        parts += [Hanging(visible(result.error)), Text()]
    if result.answer:
        parts += _answer(result.answer, _NEXT_TITLES.get(result.status, "Next steps"))
    if result.pending:
        parts.append(pending_calls(app, result, as_, model))
    effects = ", ".join(f"{effect.tool} {effect.state}" for effect in result.effects) or "none"
    told = f"{result.status.value} · {plural(len(result.decisions), 'decision')} · effects: {effects}"
    if not result.decisions:  # an approver: the thread is somebody else's to show
        return Group(*parts, Text(f"{result.status.value} · effects: {effects}", style="dim"))
    look = f"agent show {shlex.quote(result.thread)} --as {shlex.quote(as_)}"
    return Group(*parts, Text(told, style="dim"), _command(look, indent=0))


def answered(answer: AnswerShown | None, status: Status) -> RenderableType:
    """The title of how a turn ended, and its answer with sources and what comes next."""
    parts = _answer(answer, _NEXT_TITLES.get(status, "Next steps")) if answer else ()
    return Group(heading_of(status), *parts)


def heading_of(status: Status) -> Text:
    """How a turn ended, as a title."""
    title, style = _TITLES[status]
    return Text(title, style=style)


def pending_calls(app: "App", result: RunResult, as_: str, model: str | None = None) -> RenderableType:
    """Each call that waits: what it would do, where its arguments come from, and the commands that answer it."""
    parts: list[RenderableType] = []
    for call in result.pending:
        approver = approver_of(app, result, call, as_)
        parts += [pending_call(app, result, call), *_commands(result.thread, call, approver, model), Text()]
    return Group(*parts)


def pending_call(app: "App", result: RunResult, call: PendingCall) -> RenderableType:
    """One call that waits: what it would do, and where its arguments come from."""
    manifest = result.decisions[-1].manifest if result.decisions else None
    trusts = {item.item_id: item.trust.value for item in manifest.items} if manifest else {}
    return Group(*_call(call, trusts, app.ports.clock.now()), Text())


def approver_of(app: "App", result: RunResult, call: PendingCall, as_: str) -> str:
    """Who may answer a call: whoever acts now, if its request lets them; else a colleague with the role."""
    me, allowed = app.identity.principal(as_), set(call.approver_roles)
    # Only the owner is shown decisions: whoever is shown none answers for somebody else.
    if allowed & set(me.roles) and (call.self_approval or not result.decisions):
        return as_
    others = (app.identity.principal(name) for name in app.ports.domain.principals() if name != as_)
    return next((each.name for each in others if each.tenant == me.tenant and allowed & set(each.roles)), "NAME@TENANT")


def _answer(answer: AnswerShown, next_title: str) -> Iterator[RenderableType]:
    for line in answer.text.splitlines():
        yield Hanging(visible(line))
    yield Text()
    if answer.sources:
        yield Text("Sources", style="bold")
        yield from (Hanging(visible(source)) for source in answer.sources)
        yield Text()
    if answer.next_steps:
        yield Text(next_title, style="bold")
        yield from (Hanging(visible(step)) for step in answer.next_steps)
        yield Text()


def _call(call: PendingCall, trusts: Mapping[str, str], now: datetime) -> Iterator[RenderableType]:
    undone = "can be undone" if call.reversible else "cannot be undone"
    yield from labelled("call", [Text.assemble((call.tool, "bold"), f" ({call.effect}, {undone})")])
    given = {name: (in_full(name), in_full(value)) for name, value in call.arguments.items()}
    yield from labelled("with", [_argument(call, name, *each, trusts) for name, each in given.items()])
    escaped = sum(written.escaped for each in given.values() for written in each)
    if escaped:
        yield from labelled("beware", [Text(of_escaped(escaped), style="yellow")])
    yield from labelled("why", [f"{call.reason} ({call.rule})"])
    yield from labelled("answer", [f"{' or '.join(call.decisions) or 'none'}, by {' or '.join(call.approver_roles)}"])
    yield from labelled("until", [until(call.expires_at, now)])
    if call.note:
        yield from labelled("note", [Text(visible(call.note), style="yellow")])


def _argument(call: PendingCall, key: str, name: Written, given: Written, trusts: Mapping[str, str]) -> str:
    """An argument, all of it, and the items of the request that show its value, each with its trust."""
    items = call.origins.get(key)
    shown = [_with_trust(str(item), trusts) for item in items] if isinstance(items, list) else []
    trace = next((one for one in call.trace if one.argument == key), None)
    field = f", field {one_line(trace.field)}" if trace is not None and trace.field is not None else ""
    told = key if name.text == f'"{key}"' else name.text
    return f"{told} = {given.text}, from {', '.join(shown) or 'nothing that was shown'}{field}"


def _with_trust(item: str, trusts: Mapping[str, str]) -> str:
    return f"{one_line(item)} ({trusts[item]})" if item in trusts else one_line(item)


def _commands(thread: str, call: PendingCall, approver: str, model: str | None) -> Iterator[RenderableType]:
    said = f" --model {model}" if model else ""
    start = f"agent resume {shlex.quote(thread)} --as {shlex.quote(approver)}{said}"
    for answer in call.decisions:
        # Escaped to the last character: what stands in the command is what would be edited, and steers no terminal.
        more = f" {shlex.quote(json.dumps(call.arguments))}" if answer == "edit" else ""
        yield _command(f"{start} --{answer} {shlex.quote(call.call_id)}{more}", indent=2)


def _command(line: str, indent: int) -> Text:
    # One line, however long: a command that is folded cannot be copied.
    return Text(" " * indent + line, style="cyan", no_wrap=True, overflow="ignore")
