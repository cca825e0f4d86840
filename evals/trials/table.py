"""What came of the trials, as a table: by engine and by outcome."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evals.trials.drawing import OPENING, RUN, WRITE
from evals.trials.outcomes import counted
from evals.trials.trial import Outcome


def _met(during: str, outcome: Outcome) -> int:
    """How many kills of a trial fell there: of those that were drawn the first ones were met."""
    return sum(stroke.during == during for stroke in outcome.draw.strokes[: outcome.kills])


_SUMS: tuple[tuple[str, Callable[[Outcome], int]], ...] = (
    ("trials", lambda outcome: 1),
    ("kills", lambda outcome: outcome.kills),
    ("  while opening, by the clock", partial(_met, OPENING)),
    ("  while running, by the clock", partial(_met, RUN)),
    ("  at a write", partial(_met, WRITE)),
    ("trials with a fault", lambda outcome: bool(outcome.faults)),
)


def show(outcomes: Sequence[Outcome], file: Path, console: Console) -> None:
    """Print how many trials went how, and every fault."""
    engines = list(dict.fromkeys(outcome.engine for outcome in outcomes))
    table = Table(title="After the last kill the user …")
    table.add_column("outcome")
    for engine in engines:
        table.add_column(engine, justify="right")
    for name, by_engine in counted(outcomes):
        table.add_row(name, *(str(by_engine[engine]) for engine in engines))
    for title, count in _SUMS:
        sums = (sum(count(outcome) for outcome in outcomes if outcome.engine == engine) for engine in engines)
        table.add_row(title, *map(str, sums), style="bold")
    console.print(table)
    for outcome in outcomes:
        for fault in outcome.faults:
            console.print(f"{outcome.engine} {outcome.draw.number} {outcome.draw.errand}: {fault.kind}: {fault.found}")
    if len({outcome.code for outcome in outcomes}) > 1:
        console.print("these are trials of several versions of the code; --out FILE begins anew")
    console.print(f"every trial: {file}", style="dim")
