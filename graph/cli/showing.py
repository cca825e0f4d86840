"""`agent show`: every decision of a thread with its working set: what was in, what was left out, and why."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from graph.cli.account import heading, what_came
from graph.cli.ending import OWNERS_ONLY, heading_of, pending_calls
from graph.cli.exits import WrongUse
from graph.cli.layout import Hanging, labelled
from graph.cli.opening import opened_to_look
from graph.cli.screen import Screen, one_line
from graph.cli.wording import EDITED, guarded, left_out, plural, spoken_name, went_in
from graph.result import DecisionShown, RunResult
from state.checks.hidden import visible
from state.context import ContextItem, ContextManifest, Dropped

_INSIDE = 12  # below a label's text
_SHORT = 12  # characters of a hash that tell it from another


def show(screen: Screen, thread: str, *, as_: str, index: int | None) -> None:
    """Print the whole thread, or one decision of it.

    Raises UnknownPrincipal, UnknownThread and what opening raises, WrongUse for a decision that is not there.
    """
    with opened_to_look(screen) as app:
        found = app.history(thread, as_=as_)
        if index is not None:
            _show_one(screen, _of_index(found, index))
            return
        if screen.json_wanted:
            screen.text(found.model_dump_json(indent=2))
            return
        told = found.status.value
        if found.decisions:  # none are shown to an approver, which does not mean that there are none
            told += f" · {plural(len(found.decisions), 'decision')}"
        screen.out.print(Text(f"thread {thread} · {as_} · {told}\n", style="dim"))
        for turn, decisions in groupby(found.decisions, key=lambda decision: decision.turn):
            for number, decision in enumerate(decisions):
                if number == 0:
                    screen.out.print(Text(f"Turn {turn}", style="bold"), Hanging(_question(decision)), Text(), sep="\n")
                screen.out.print(decision_in_full(decision))
        for effect in found.effects:
            screen.out.print(Hanging(f"effect: {effect.tool} {effect.state} at {effect.at:%Y-%m-%d %H:%M:%S} UTC"))
        if not found.decisions and not found.pending:
            screen.out.print(Hanging(OWNERS_ONLY))
        if found.error:
            screen.out.print(Hanging(visible(found.error)))
        if found.pending:
            screen.out.print(heading_of(found.status), pending_calls(app, found, as_), sep="\n")


def _of_index(found: RunResult, index: int) -> DecisionShown:
    """The decision of that number. Raises WrongUse."""
    shown = {decision.index: decision for decision in found.decisions}
    if index not in shown:
        there = f"{min(shown)} to {max(shown)}" if shown else "none, since there is none that you may see"
        raise WrongUse(f"got --decision {index}; allowed on thread {found.thread}: {there}")
    return shown[index]


def _show_one(screen: Screen, decision: DecisionShown) -> None:
    if screen.json_wanted:
        screen.text(decision.model_dump_json(indent=2))
    else:
        screen.out.print(Text(f"Turn {decision.turn}", style="bold"), Hanging(_question(decision)), Text(), sep="\n")
        screen.out.print(decision_in_full(decision))


def _question(decision: DecisionShown) -> str:
    return "(erased)" if decision.question is None else visible(decision.question)


def decision_in_full(decision: DecisionShown) -> RenderableType:
    """One decision with its whole working set."""
    from graph.inspection.guards import guards_of

    manifest = decision.manifest
    parts: list[RenderableType] = [heading(decision)]
    if decision.record:
        parts += labelled("record", [decision.record[:_SHORT]])
    parts += labelled("edited", [EDITED] if decision.edited else [])
    if manifest is not None:
        parts += labelled("request", [_request(manifest)])
        parts += [*labelled("in", went_in(manifest)[:1]), *_items(manifest.items)]
        parts += [*labelled("left out", [left_out(manifest)]), *_dropped(manifest.dropped)]
    parts += labelled("missing", decision.missing)
    parts += labelled("guards", guarded(guards_of(decision)))
    return Group(*parts, *what_came(decision, in_full=True), *labelled("said", _said(decision)), Text())


def _request(manifest: ContextManifest) -> str:
    prefix = manifest.prefix_hash[:_SHORT]
    if manifest.prefix_before is not None:
        prefix += f" (broken: it was {manifest.prefix_before[:_SHORT]})"
    return f"{manifest.request_id}, policy {manifest.policy_version}, prefix {prefix}, tokens by {manifest.tokenizer}"


def _items(items: Iterable[ContextItem]) -> Iterator[RenderableType]:
    """In request order, the kind written where it changes."""
    for kind, group in groupby(items, key=lambda item: item.kind):
        yield Hanging(Text(spoken_name(kind.value), style="italic"), indent=_INSIDE)
        for item in group:
            utility = item.provenance.scores.get("utility")
            why = "required" if utility is None else f"utility {utility:.2f}"
            told = Text.assemble(one_line(item.source), (f" · {item.trust.value}, {why}", "dim"))
            yield Hanging(told, f"{item.token_count:>5}  ", indent=_INSIDE)


def _dropped(dropped: Iterable[Dropped]) -> Iterator[RenderableType]:
    """By reason, the most useful first."""
    ordered = sorted(dropped, key=lambda each: (each.reason.value, -each.scores.get("utility", 0.0), each.source))
    for reason, group in groupby(ordered, key=lambda each: each.reason):
        yield Hanging(Text(spoken_name(reason.value), style="italic"), indent=_INSIDE)
        for each in group:
            utility = each.scores.get("utility")
            told = Text.assemble(one_line(each.source), ("" if utility is None else f" · utility {utility:.2f}", "dim"))
            yield Hanging(told, f"{each.token_count or '–':>5}  ", indent=_INSIDE)


def _said(decision: DecisionShown) -> list[str]:
    proposal = decision.proposal or {}
    text = next((proposal[name] for name in ("text", "question", "reason") if proposal.get(name)), "")
    return [visible(line) for line in str(text).splitlines()]
