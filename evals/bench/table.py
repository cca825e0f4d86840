"""The report as tables."""

from rich.console import Console
from rich.table import Table

from evals.bench.measure import Ratio, Report

AIM_TIME, AIM_BYTES = 3.0, 6.0


def show(report: Report, console: Console) -> None:
    """Print the report."""
    console.print(_cost(report), _marks(report), _parts(report))
    console.print(", ".join(f"{name} {value}" for name, value in report.machine.items()), style="dim", highlight=False)


def _cost(report: Report) -> Table:
    table = Table(title=f"One decision without model and embedder ({report.decisions} decisions, medians)")
    for name in ("", "ms", "× empty", "quartiles", "fastest tenths", "aim"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_row("eight empty nodes", f"{report.floor_ms:.2f}", "1", "", "", "")
    table.add_row("the graph", f"{report.graph_ms:.2f}", *_ratio(report.graph_ratio), f"≤ {AIM_TIME:g}")
    table.add_row("  processor time alone", "", *_ratio(report.graph_cpu_ratio), "")
    table.add_row("the whole `ask`", f"{report.ask_ms:.2f}", *_ratio(report.ask_ratio), "")
    return table


def _ratio(ratio: Ratio) -> tuple[str, str, str]:
    return f"{ratio.median:.2f}", f"{ratio.lower:.2f} to {ratio.upper:.2f}", f"{ratio.quiet:.2f}"


def _marks(report: Report) -> Table:
    table = Table(title="In a long thread (the 20 decisions before each mark)")
    for name in ("decision", "graph ms", "ask ms", "empty ms", "checkpoint bytes", "× empty", "aim"):
        table.add_column(name, justify="right")
    for mark in report.marks:
        table.add_row(
            str(mark.decision),
            f"{mark.graph_ms:.2f}",
            f"{mark.ask_ms:.2f}",
            f"{mark.floor_ms:.2f}",
            f"{mark.checkpoint_bytes:,.0f}",
            f"{mark.checkpoint_bytes / mark.floor_bytes:.2f}",
            f"≤ {AIM_BYTES:g}",
        )
    first, last = report.marks[0], report.marks[-1]
    table.add_row(
        "last ÷ first",
        f"{last.graph_ms / first.graph_ms:.3f}",
        f"{last.ask_ms / first.ask_ms:.3f}",
        f"{last.floor_ms / first.floor_ms:.3f}",
        f"{last.checkpoint_bytes / first.checkpoint_bytes:.4f}",
        "",
        "1",
    )
    return table


def _parts(report: Report) -> Table:
    table = Table(title="Where the time goes (a node with its scope, its slice and its stores)")
    table.add_column("part")
    table.add_column("ms a decision", justify="right")
    for name, milliseconds in report.parts_ms.items():
        table.add_row(name, f"{milliseconds:.2f}")
    return table
