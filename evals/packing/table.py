"""The tables of the long runs."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from evals.packing.measure import Played

PROBES = ("objective", "constraint", "id", "changed", "refusal", "open")


def show(played: Sequence[Played], console: Console) -> None:
    """One table for each run: a row for each strategy and peer."""
    for run in dict.fromkeys(one.run for one in played):
        rows = [one for one in played if one.run == run]
        console.print(_kept(run, rows))
        console.print(_categories(run, [one for one in rows if one.asked and one.asked[0].by_category]))


def _kept(run: str, rows: Sequence[Played]) -> Table:
    table = Table(title=f"{run}: what requests hold, and what the run cost", title_justify="left")
    for name in ("strategy", "finished", "decisions", "read again", "tokens", "a decision", "most", "over", "growth"):
        table.add_column(name, justify="left" if name in ("strategy", "finished") else "right")
    table.add_column("prefix", justify="right")
    table.add_column("stable", justify="right")
    for name in ("probes", *PROBES):
        table.add_column(name, justify="right")
    for one in rows:
        table.add_row(
            one.strategy,
            "-" if one.finished is None else "yes" if one.finished else "no",
            str(one.decisions),
            str(one.reread),
            f"{one.tokens:,}",
            f"{one.tokens / max(1, one.decisions):,.0f}",
            f"{one.most_tokens:,}",
            str(one.over),
            f"{one.growth:.2f}",
            f"{one.prefix_share:.0%}",
            f"{one.stable_share:.1%}",
            *(_percent(one.kept(name)) for name in (None, *PROBES)),
        )
    return table


def _categories(run: str, rows: Sequence[Played]) -> Table:
    names = sorted({name for one in rows for name in one.category_tokens()})
    table = Table(title=f"{run}: mean tokens of a request by category", title_justify="left")
    table.add_column("strategy")
    for name in names:
        table.add_column(name, justify="right")
    for one in rows:
        tokens = one.category_tokens()
        table.add_row(one.strategy, *(f"{tokens.get(name, 0):,.0f}" for name in names))
    return table


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
