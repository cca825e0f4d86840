"""The results in the terminal: measures by slice, what failed and why, and differences in pairs."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from evals.compare import Comparison
from evals.judging import ASKED, Judged
from evals.scores import Measure
from evals.suite import HIJACKED, Plan
from evals.summary import Row, Summary

SHORT = {
    Measure.SUCCESS: "success",
    Measure.RECALL: "recall",
    Measure.PRECISION: "prec.",
    Measure.FRESHNESS: "fresh",
    Measure.ISOLATION: "isol.",
    Measure.SAFETY: "safety",
    Measure.RECOVERABILITY: "recov.",
    Measure.EFFICIENCY: "tokens",
}
# What may become of what a rule looks at, and how often a person was asked meanwhile.
SAID = {"allowed": "allowed", "accepted": "accepted", "denied": "denied", "waits": "needs_approval", "asked": ASKED}
_SLICE = 12  # the longest name of a slice, and a blank
# No model is measured here, and whoever reads a figure has to know.
HONEST = {
    "offline": "offline is a deterministic reader, not an LLM: this measures assembly and gates, not a model's skill",
    HIJACKED: "hijacked is a reader that obeys all data: only isolation, action safety and recoverability decide",
}


def by_rule(summary: Summary) -> list[tuple[str, list[int]]]:
    """How often each rule said each thing of SAID, the rule that spoke most first."""
    rules = {name.partition(" ")[2] for name in summary.rules}
    counts = [(rule, [summary.rules.get(f"{kind} {rule}", 0) for kind in SAID.values()]) for rule in rules]
    return sorted(counts, key=lambda one: (-sum(one[1]), one[0]))


def show(console: Console, plan: Plan, summary: Summary, waiting: Sequence[str]) -> None:
    """Print a run's figures and everything that did not pass."""
    console.print(_measures(plan, summary))
    if summary.rules:
        console.print(_rules(summary))
    for title, judged in (("failed", summary.failed), ("inconclusive", summary.inconclusive)):
        for each in judged:
            console.print(_told(title, each))
    for case in waiting:
        console.print(Text.assemble(("waits         ", "dim"), case))
    console.print(
        f"{_whole(summary.tokens_per_success)} tokens and {_whole(summary.ms_per_success)} ms per successful task, "
        f"failed ones included; {summary.ms_per_decision:.0f} ms a decision; a person asked {summary.approvals} times"
    )
    if plan.model in HONEST:
        console.print(HONEST[plan.model], style="dim")


def show_comparison(console: Console, title: str, comparison: Comparison) -> None:
    """Print a comparison in pairs."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("measure")
    for name in ("cases", "before", "after", "difference", "95 % interval"):
        table.add_column(name, justify="right")
    for each in comparison.differences:
        places = 0 if each.measure is Measure.EFFICIENCY else 3
        table.add_row(
            each.measure.value,
            str(each.cases),
            f"{each.before:,.{places}f}",
            f"{each.after:,.{places}f}",
            f"{each.difference:+,.{places}f}",
            f"{each.low:+,.{places}f} to {each.high:+,.{places}f}",
        )
    console.print(table)
    for label, names in (("lost", comparison.lost), ("gained", comparison.gained)):
        if names:
            console.print(Text.assemble((f"{label:<14}", "bold"), ", ".join(names)))


def _measures(plan: Plan, summary: Summary) -> Table:
    name = f"{plan.model}, without {plan.ablated}" if plan.ablated else plan.model
    table = Table(title=f"model {name}", title_justify="left", box=None, pad_edge=False)
    table.add_column("slice", no_wrap=True, min_width=_SLICE)
    table.add_column("pass", justify="right")
    for short in SHORT.values():
        table.add_column(short, justify="right")
    for row in (*summary.rows, summary.total):
        table.add_row(
            row.slice, f"{row.passed}/{row.cases}", *_means(row), style="bold" if row is summary.total else ""
        )
    return table


def _rules(summary: Summary) -> Table:
    """What the rules said of calls, answers and plans, the most frequent first."""
    table = Table(box=None, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    for name in SAID:
        table.add_column(name, justify="right")
    for rule, counts in by_rule(summary):
        table.add_row(rule, *(f"{count:,}" if count else "–" for count in counts))
    return table


def _means(row: Row) -> list[str]:
    return [
        "–" if measure not in row.means else f"{row.means[measure]:,.{0 if measure is Measure.EFFICIENCY else 2}f}"
        for measure in SHORT
    ]


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _told(title: str, judged: Judged) -> RenderableType:
    style = "bold red" if title == "failed" else "yellow"
    return Group(Text.assemble((f"{title:<14}", style), judged.case), Text(f"  {judged.why}", style="dim"))
