"""`python -m evals.trials`: kill a turn anywhere, go on, judge. Exit 1 where a trial shows a fault."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evals.suite import fingerprint, prepared_library
from evals.trials.drawing import drawn
from evals.trials.outcomes import keep, kept
from evals.trials.script import load_script
from evals.trials.server import unreachable
from evals.trials.table import show
from evals.trials.trial import SQLITE, Outcome, Theatre
from graph.settings import Settings

CONSOLE = Console(highlight=False)


class Engine(StrEnum):
    """The engines that trials run on."""

    SQLITE = SQLITE
    POSTGRES = "postgres"
    BOTH = "both"


def main(
    engine: Annotated[Engine, typer.Option(help="Where the stores lie.")] = Engine.BOTH,
    trials: Annotated[int, typer.Option(min=1, help="How many in all, by engine; those in the file count.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the errands, the moments of the kills, and how it is gone on.")] = 0,
    lease_s: Annotated[float, typer.Option(min=0.5, help="How long a killed run may hold its thread.")] = 3.0,
    out: Annotated[Path | None, typer.Option(help="Else evals/kills.jsonl below the home.")] = None,
    database_url: Annotated[
        str | None,
        typer.Option(envvar="EXPEDIENTE_TEST_DATABASE_URL", help="A PostgreSQL server; each trial makes a schema."),
    ] = None,
) -> None:
    """Kill a real process anywhere in a turn, go on in another one as a user would, and judge what is left.

    Trials of one seed go on where they stopped.
    """
    settings = Settings.load()
    file = out or settings.home / "evals" / "kills.jsonl"
    servers: list[str | None] = [] if engine is Engine.POSTGRES else [None]
    if engine is not Engine.SQLITE:
        why = unreachable(database_url) if database_url else "set EXPEDIENTE_TEST_DATABASE_URL"
        if why and engine is Engine.POSTGRES:
            raise typer.BadParameter(f"no PostgreSQL: {why}", param_hint="--database-url")
        if why:
            CONSOLE.print(f"no trials on PostgreSQL: {why}")
        else:
            servers.append(database_url)
    outcomes: list[Outcome] = []
    with prepared_library(settings.domain) as library:
        for server in servers:
            theatre = Theatre(load_script(), settings.domain, library, lease_s, server)
            outcomes += _run(theatre, trials, seed, fingerprint(settings.domain), file)
    show(outcomes, file, CONSOLE)
    raise typer.Exit(1 if any(outcome.faults for outcome in outcomes) else 0)


def _run(theatre: Theatre, trials: int, seed: int, code: str, file: Path) -> list[Outcome]:
    key = f"{seed}/{theatre.engine}/{theatre.lease_s:g}"
    done = kept(file, key)
    for number in range(trials):
        if number in done:
            continue
        draw = drawn(seed, theatre.engine, number, theatre.script.errands)
        outcome = theatre.run(draw, key, code, file.with_suffix(".failed"))
        keep(file, outcome)
        done[number] = outcome
        CONSOLE.print(f"{theatre.engine} {number + 1}/{trials} {draw.errand}: {outcome.name}", style="dim")
    return [done[number] for number in range(trials)]


if __name__ == "__main__":
    typer.run(main)
