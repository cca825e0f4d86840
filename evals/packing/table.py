"""The tables of the long runs."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from evals.packing.measure import Played

PROBES = ("objective", "constraint", "id", "changed", "refusal", "open")


def show(played: Sequence[Played], console: Console) -> None:
    """Three tables for each run, a row for each strategy and peer: one alone is wider than a terminal."""
    for run in dict.fromkeys(one.run for one in played):
        rows = [one for one in played if one.run == run]
        console.print(_cost(run, rows))
        console.print(_kept(run, rows))
        console.print(_categories(run, [one for one in rows if one.asked and one.asked[0].by_category]))


def _cost(run: str, rows: Sequence[Played]) -> Table:
    names = ("finished", "decisions", "read again", "tokens", "a decision", "most", "over", "growth")
    table = _table(f"{run}: what the run cost", names)
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
        )
    return table


def _kept(run: str, rows: Sequence[Played]) -> Table:
    table = _table(f"{run}: what requests hold", ("prefix", "stable", "probes", *PROBES))
    for one in rows:
        probes = (_percent(one.kept(name)) for name in (None, *PROBES))
        table.add_row(one.strategy, f"{one.prefix_share:.0%}", _percent(one.stable_share), *probes)
    return table


def _categories(run: str, rows: Sequence[Played]) -> Table:
    names = sorted({name for one in rows for name in one.category_tokens()})
    table = _table(f"{run}: mean tokens of a request by category", names)
    for one in rows:
        tokens = one.category_tokens()
        table.add_row(one.strategy, *(f"{tokens.get(name, 0):,.0f}" for name in names))
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False
    )
    table.add_column("strategy", min_width=9)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=" " not in name)
    return table


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"
