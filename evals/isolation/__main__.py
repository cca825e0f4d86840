"""`python -m evals.isolation [--queries N] [--seed N]`: ask a changing world, and count what should not be there."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from evals.isolation.trial import trial
from evals.retrieval_bench.peers import Drawn


def main(
    queries: Annotated[int, typer.Option(min=5, help="How many.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Of the world and the queries.")] = 0,
) -> None:
    """Exit 1 where anything foreign was given by a store, found, fused or named."""
    with TemporaryDirectory() as folder:
        done = trial(Path(folder), Drawn(), queries=queries, seed=seed)
    Console().out(done.model_dump_json(), highlight=False)
    raise typer.Exit(1 if done.foreign or done.hidden else 0)


if __name__ == "__main__":
    typer.run(main)
