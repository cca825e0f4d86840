"""The values of a run in plain words. Foreign text is made visible first: it cannot steer a terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import JsonValue
from rich.text import Text

from graph.cli.arguments import in_full, is_quote
from graph.cli.screen import one_line
from graph.result import ObservationShown
from state.checks.lookalike import deceptive
from state.context import ContextManifest
from state.request import Attempt, Usage
from state.summary import Summary
from state.verdict import Accepted, Allowed, Denied, NeedsApproval, Verdict
from state.work import PROPOSAL, Act, Answer, Clarify, Escalate, Plan, Search, SearchTools

if TYPE_CHECKING:
    from graph.inspection.guards import Guards

EDITED = "edited from outside: what it shows is not only what the agent did"
_SHOWN_CHARS = 60
_TOLD_ELSEWHERE = ("tool", "artifact_ref")


def counted(names: Iterable[str]) -> str:
    """`18 over limit, 2 expired`: the most frequent first."""
    ordered = sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count} {spoken_name(name)}" for name, count in ordered)


def spoken_name(name: str) -> str:
    """An identifier as words: `over_limit` reads `over limit`."""
    return name.replace("_", " ")


def plural(count: int, noun: str) -> str:
    """`1 citation`, `2,000 citations`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def went_in(manifest: ContextManifest) -> list[str]:
    """What a request held: tokens of the budget, and items by kind."""
    total, budget = manifest.total_input_tokens, manifest.budget_tokens
    share = f" ({total / budget:.0%})" if budget else ""
    return [
        f"{len(manifest.items)} items, {total:,} of {budget:,} tokens{share}",
        counted(item.kind.value for item in manifest.items),
    ]


def left_out(manifest: ContextManifest) -> str:
    """What a request did not hold, by reason."""
    parts = [f"{len(manifest.dropped)}: {counted(each.reason.value for each in manifest.dropped)}"] * bool(
        manifest.dropped
    )
    parts += [f"{len(manifest.truncated)} shown in part"] * bool(manifest.truncated)
    parts += [f"{len(manifest.masked)} masked"] * bool(manifest.masked)
    return "; ".join(parts) or "nothing"


def guarded(found: "Guards") -> list[str]:
    """What the checks around a model call did not let pass in silence, and how many found nothing."""
    lines = []
    for group, guard in found.raised():
        figures = "" if guard.count is None else f" ×{guard.count}"
        figures += "" if guard.score is None else f" ({guard.score:.2f})"
        told = f"{group}: {spoken_name(guard.check)}{figures}"
        lines.append(f"{told} {'in' if group == 'input' else 'of'} {one_line(guard.subject)}, {guard.outcome}")
    return [*lines, f"{found.passed} passed"]


def shortened(given: JsonValue) -> str:
    """A field or an argument in one line, its end cut off. A refused argument is a reference: its value is repeated
    nowhere. What waits for a person is never shortened: `graph.cli.arguments.in_full`."""
    if is_quote(given):
        return "(words of the question)"
    text = one_line(given) if isinstance(given, str) and not deceptive(given) else in_full(given).text
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def call(tool: str, arguments: Mapping[str, JsonValue], *, waits: bool = False) -> str:
    """`tool(name=value, …)`; of a call that waits for a person, all of it."""
    written = ", ".join(
        f"{one_line(name)}={in_full(given).text if waits else shortened(given)}" for name, given in arguments.items()
    )
    return f"{one_line(tool)}({written})"


def proposed(proposal: Mapping[str, JsonValue], verdicts: Iterable[Verdict]) -> list[str]:
    """What the model proposed, one line per call or query."""
    waiting = {given.call_id for given in verdicts if isinstance(given, NeedsApproval)}
    match PROPOSAL.validate_python(proposal):
        case Act(calls=calls):
            return [call(each.tool, each.arguments, waits=each.call_id in waiting) for each in calls]
        case SearchTools(query=query):
            return [f"search tools: {one_line(query)}"]
        case Search(queries=queries):
            return [f"search: {one_line(query)}" for query in queries]
        case Plan(goal=goal, steps=steps):
            return [f"plan: {one_line(' → '.join(steps))}" if steps else f"a plan is needed: {one_line(goal)}"]
        case Answer(citations=citations):
            return [f"an answer with {plural(len(citations), 'citation')}"]
        case Clarify(question=question):
            return [f"a question back: {one_line(question)}"]
        case Escalate(reason=reason):
            return [f"a hand-over: {one_line(reason)}"]


def verdict(given: Verdict) -> Text:
    """What code said of a call, with the rule that decided."""
    match given:
        case Accepted():
            return Text.assemble(("accepted", "green"), f" by {given.rule}")
        case Allowed():
            by = f", approved by {given.approval.by}" if given.approval else ""
            if given.approval and given.edited is not None:
                changed = ", ".join(f"{one_line(name)}={shortened(value)}" for name, value in given.edited.items())
                by = f", edited by {given.approval.by}: {changed}"
            return Text.assemble(("allowed", "green"), f" by {given.rule}{by}")
        case Denied():
            by = f" ({given.approval.by})" if given.approval else ""
            return Text.assemble(("denied", "red"), f" by {given.rule}: {one_line(given.reason)}{by}")
        case _:
            return Text.assemble(
                ("waits for a person", "yellow"), f" by {given.rule}: {one_line(given.request.reason)}"
            )


def observed(seen: ObservationShown) -> Text:
    """What a call brought."""
    rows = seen.body.get("rows")
    if isinstance(rows, list):
        fields = f"{plural(len(rows), 'row')}{f': {shortened(rows[0])}' if rows else ''}"
    else:
        brought = {name: given for name, given in seen.body.items() if name not in _TOLD_ELSEWHERE}
        fields = ", ".join(f"{one_line(name)}={shortened(given)}" for name, given in brought.items())
    style = {"ok": "green", "empty": "yellow"}.get(seen.outcome, "red")
    code = f" {one_line(seen.code)}" if seen.code else ""
    cut = " (cut)" if seen.truncated else ""
    warned = f" (warned: {', '.join(map(one_line, seen.warnings))})" if seen.warnings else ""
    summary = "" if seen.summary is None else f"; {summed_up(seen.summary)}"
    told = f"{code}{cut}{warned}{summary}"
    return Text.assemble((seen.outcome, style), f"{told}: {fields}" if fields else told)


def attempted(attempt: Attempt) -> Text:
    """One model call: which model, in which mode, the tokens it reported, how far our count was off, its cost, and how
    it ended."""
    told = ", ".join(
        [f"{one_line(attempt.model)} ({attempt.mode})"]
        + _used(attempt.usage)
        + ([] if attempt.difference_tokens is None else [f"{attempt.difference_tokens:+,} to our count"])
        + ([] if attempt.cost is None else [f"cost {attempt.cost:.6f}"])
    )
    outcome = attempt.outcome
    said = outcome.name if not outcome.detail else f"{outcome.name}: {one_line(outcome.detail)}"
    return Text.assemble(f"{told} → ", (said, "" if outcome.name == "proposal" else "red"))


def summed_up(summary: Summary) -> str:
    """Who summed a result up, and what it took."""
    tries = f"{summary.tries} tries" if summary.tries > 1 else ""
    cost = "" if summary.cost is None else f"cost {summary.cost:.6f}"
    told = ", ".join(filter(None, (tries, *_used(summary.usage), cost)))
    of_use = "" if summary.ref is not None else "; of no use"
    return f"summed up by {one_line(summary.model)}{f' ({told})' if told else ''}{of_use}"


def _used(usage: Usage | None) -> list[str]:
    """The tokens that a model's server reported."""
    reported = (
        ("in", "input_tokens"),
        ("out", "output_tokens"),
        ("cached", "cached_tokens"),
        ("of reasoning", "reasoning_tokens"),
    )
    counts = [(name, getattr(usage, field, None)) for name, field in reported]
    return [f"{count:,} tokens {name}" for name, count in counts if count is not None]


def until(moment: datetime, now: datetime) -> str:
    """A moment, and how far off it is."""
    minutes = round((moment - now) / timedelta(minutes=1))
    distance = f"in {plural(minutes, 'minute')}" if minutes > 0 else "over"
    return f"{moment:%Y-%m-%d %H:%M} UTC ({distance})"
