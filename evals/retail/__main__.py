"""`python -m evals.retail DATA`: the expected actions of the retail tasks through the gate."""

import logging
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evals.retail.replay import open_desk, tasks


def main(
    data: Annotated[Path, typer.Argument(help="The shared folder with users, orders, products and tasks.")],
) -> None:
    """Replay every task's expected actions as its customer, who says yes to each, and compare the tables."""
    if not (data / "tasks.jsonl").is_file():
        sys.exit(f"got {data}, which has no tasks.jsonl; give the folder of the shared retail data")
    with tempfile.TemporaryDirectory(prefix="expediente-retail-") as home, open_desk(data, Path(home)) as desk:
        played = [desk.replay(task) for task in tasks(data)]
    writes = [step for one in played for step in one.writes]
    console = Console()
    console.print(f"{len(played)} tasks, {sum(one.same for one in played)} end in the expected tables")
    console.print(
        f"{len(writes)} writes: {sum(step.asked for step in writes)} asked the customer, "
        f"{sum(step.outcome == 'done' for step in writes)} done, "
        f"{sum(step.outcome == 'denied' for step in writes)} denied"
    )
    for one in played:
        for step in one.steps:
            if step.outcome != "done" or not one.same:
                console.print(f"{one.task} {step.tool} {step.outcome}: {step.rule}: {step.reason}")


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # here: who calls main() keeps the log of its own process
    typer.run(main)
