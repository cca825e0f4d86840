"""The report as tables."""

from rich.console import Console
from rich.table import Table

from evals.bench.report import FLAT, Ratio, Report, is_flat

AIM_TIME, AIM_BYTES = 3.0, 6.0


def show(report: Report, console: Console) -> None:
    """Print the report."""
    console.print(_cost(report), _marks(report), _parts(report))
    aged, verified = report.aged, report.verified
    for name, ratio in (("time", aged.ratio), ("processor time", aged.cpu_ratio)):
        console.print(
            f"an old thread's turn ÷ a young one's, pair by pair, {name}: {_grown(ratio.median)}, quartiles "
            f"{ratio.lower:.3f} to {ratio.upper:.3f}, fastest tenths {ratio.quiet:.3f}",
            highlight=False,
        )
    console.print(
        f"verify: {verified.records:,} records, {verified.bodies:,} bodies, {verified.attempts:,} attempts "
        f"in {verified.seconds:.2f} s, {verified.seconds / verified.records * 1000:.2f} ms a record",
        highlight=False,
    )
    console.print(", ".join(f"{name} {value}" for name, value in report.machine.items()), style="dim", highlight=False)


def _cost(report: Report) -> Table:
    table = Table(
        title=f"One decision without model and embedder on {report.engine} ({report.decisions} decisions, medians)"
    )
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
    title = f"In a long thread (the {report.window} decisions before each mark; bytes in checkpoints, task, messages)"
    table = Table(title=title, box=None, padding=(0, 1, 0, 0))  # ten columns in a terminal of eighty
    times = ("graph ms", "ask ms", "empty ms", "× empty", "CPU × empty")
    for name in ("decision", *times, "bytes", "× empty", "task", "msgs"):
        table.add_column(name, justify="right")
    for mark in report.marks:
        table.add_row(
            str(mark.decision),
            f"{mark.graph_ms:.2f}",
            f"{mark.ask_ms:.2f}",
            f"{mark.floor_ms:.2f}",
            f"{mark.ratio.median:.2f}",
            f"{mark.cpu_ratio.median:.2f}",
            f"{mark.checkpoint_bytes:,.0f}",
            f"{mark.checkpoint_bytes / mark.floor_bytes:.2f}",
            f"{mark.task_bytes:,}",
            f"{mark.messages_bytes:,}",
        )
    first, last = report.marks[0], report.marks[-1]
    table.add_row("aim", "", "", "", f"≤ {AIM_TIME:g}", "", "", f"≤ {AIM_BYTES:g}", "", "")
    table.add_row(
        "last ÷ first",
        f"{last.graph_ms / first.graph_ms:.3f}",
        f"{last.ask_ms / first.ask_ms:.3f}",
        f"{last.floor_ms / first.floor_ms:.3f}",
        _grown(report.time_grew),
        _grown(report.cpu_grew),
        _grown(report.bytes_grew),
        "",
        f"{last.task_bytes / first.task_bytes:.3f}",
        f"{last.messages_bytes / first.messages_bytes:.3f}",
    )
    table.add_row("aim", "", "", "", *[f"1 ± {FLAT:g}"] * 3, "", "", "")
    return table


def _grown(grew: float) -> str:
    return f"{grew:.3f}" if is_flat(grew) else f"{grew:.3f} !"


def _parts(report: Report) -> Table:
    table = Table(title="Where the time goes (ms a decision; a node with its scope, its slice and its stores)")
    for name in ("part", f"after {report.decisions}", "in a young thread", "÷"):
        table.add_column(name, justify="left" if name == "part" else "right")
    for part in report.aged.parts:
        table.add_row(part.name, f"{part.old_ms:.2f}", f"{part.young_ms:.2f}", f"{part.old_ms / part.young_ms:.2f}")
    return table
