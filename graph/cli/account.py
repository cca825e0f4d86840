"""The account of one decision: what went in, what was left out, what was proposed, what code said, what came of it."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from graph.cli.layout import labelled
from graph.cli.wording import attempted, left_out, observed, proposed, spoken_name, verdict, went_in
from graph.result import DecisionShown


def decision_account(decision: DecisionShown) -> RenderableType:
    """The account as it is printed while a run goes on."""
    return Group(heading(decision), *_working_set(decision), *what_came(decision), Text())


def heading(decision: DecisionShown) -> Text:
    """Index, kind and toolset, the rule that chose it, and how it ended."""
    return Text.assemble(
        (f"[{decision.index}] {decision.kind}/{decision.toolset}", "bold"),
        (f" · {decision.rule} → ", "dim"),
        spoken_name(decision.outcome or "open"),
    )


def _working_set(decision: DecisionShown) -> Iterator[RenderableType]:
    if decision.manifest is not None:
        yield from labelled("in", went_in(decision.manifest))
        yield from labelled("left out", [left_out(decision.manifest)])
    yield from labelled("missing", decision.missing)


def what_came(decision: DecisionShown, *, in_full: bool = False) -> Iterator[RenderableType]:
    """Model calls, proposal, verdicts, observations. Not in full: only model calls worth a word, results cut."""
    attempts = decision.attempts
    if in_full or len(attempts) > 1 or any(attempt.outcome.name != "proposal" for attempt in attempts):
        yield from labelled("model", map(attempted, attempts))
    if decision.proposal is not None:
        yield from labelled("proposed", proposed(decision.proposal, decision.verdicts))
    yield from labelled("verdict", map(verdict, decision.verdicts))
    yield from labelled("result", map(observed, decision.observations), one_line=not in_full)
