"""`python -m evals.bench [--json] [--decisions N] [--on-server]`: what a decision costs without model and embedder."""

from typing import Annotated

import typer
from rich.console import Console

from evals.bench.measure import LEAST, measure
from evals.bench.table import show


def main(
    json: Annotated[bool, typer.Option(help="Print one JSON object with every turn.")] = False,
    decisions: Annotated[int, typer.Option(min=LEAST, help="How many decisions, in one thread.")] = 300,
    on_server: Annotated[bool, typer.Option(help="On PostgreSQL, in schemas of its own; else on SQLite.")] = False,
    database_url: Annotated[
        str | None, typer.Option(envvar="EXPEDIENTE_TEST_DATABASE_URL", help="The server for --on-server.")
    ] = None,
) -> None:
    """Measure a decision against eight empty nodes on the same saver, in the same run."""
    if on_server and not database_url:
        raise typer.BadParameter("got no server; set EXPEDIENTE_TEST_DATABASE_URL", param_hint="--database-url")
    console = Console()
    with Console(stderr=True).status(f"{decisions} decisions and as many empty laps"):
        report = measure(decisions, database_url if on_server else None)
    if json:
        console.out(report.model_dump_json(), highlight=False)
        return
    show(report, console)


if __name__ == "__main__":
    typer.run(main)
