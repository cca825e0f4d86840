"""`python -m evals.bench [--json] [--decisions N]`: what a decision costs without model and embedder."""

from typing import Annotated

import typer
from rich.console import Console

from evals.bench.measure import LEAST, measure
from evals.bench.table import show


def main(
    json: Annotated[bool, typer.Option(help="Print one JSON object with every turn.")] = False,
    decisions: Annotated[int, typer.Option(min=LEAST, help="How many decisions, in one thread.")] = 300,
) -> None:
    """Measure a decision against eight empty nodes on the same saver, in the same run."""
    console = Console()
    with Console(stderr=True).status(f"{decisions} decisions and as many empty laps"):
        report = measure(decisions)
    if json:
        console.out(report.model_dump_json(), highlight=False)
        return
    show(report, console)


if __name__ == "__main__":
    typer.run(main)
