"""`python -m evals.packing`: long runs under each strategy and peer, on the same tasks, at equal budgets.

Results are appended to a file as they come, a line for each run; what the file holds is not run again.
"""

import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evals.packing import agent, recorded
from evals.packing.ablations import ABLATIONS
from evals.packing.agent import ALL, RESERVED_TOKENS, UNCOMPACTED
from evals.packing.measure import Played
from evals.packing.plant import Plant
from evals.packing.table import show

_WIDTH = 120  # of what goes to a file: a table is not cut there


def main(
    strategy: Annotated[
        list[str] | None, typer.Option(help="Only these: a strategy, `uncompacted`, or a peer by its name.")
    ] = None,
    assets: Annotated[int, typer.Option(min=4, help="The plant's size; 260 is about 300 decisions.")] = 260,
    seed: Annotated[int, typer.Option(help="Which plant.")] = 1,
    log_words: Annotated[int, typer.Option(min=0, help="How long a page's log is.")] = 400,
    recent: Annotated[int, typer.Option(min=0, help="How many readings of the last assets the report needs.")] = 0,
    window: Annotated[int, typer.Option(min=2_048, help="The model's window in tokens.")] = 8_192,
    recording: Annotated[
        Path | None, typer.Option(help="The folder of the shared retail data: the recorded run, too.")
    ] = None,
    decisions: Annotated[int, typer.Option(min=1, help="Of the recorded run, at least.")] = 300,
    recording_window: Annotated[int, typer.Option(min=2_048, help="The window of the recorded run.")] = 12_288,
    ablate: Annotated[bool, typer.Option(help="Also the default without each of its parts.")] = False,
    peers: Annotated[bool, typer.Option(help="LangChain's ways too (extra `evals`).")] = True,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path(".expediente/packing.jsonl"),
) -> None:
    """Run what is asked for and not in the file yet, then show all of it."""
    if recording is not None and not (recording / "tasks.jsonl").is_file():
        sys.exit(f"got {recording}, which has no tasks.jsonl; give the folder of the shared retail data")
    plants = partial(Plant, seed, assets, log_words, recent)
    jobs = dict(_plant(plants, window))
    if peers:
        jobs |= _peers(plants, window)
    if recording is not None:
        jobs |= _recorded(recording, decisions, recording_window)
    if not ablate:
        jobs = {name: run for name, run in jobs.items() if name.rpartition("|")[2] not in ABLATIONS}
    names = {name.rpartition("|")[2] for name in jobs}
    unknown = sorted(set(strategy or ()) - names)
    if unknown:
        sys.exit(f"got {', '.join(unknown)}; allowed: {', '.join(sorted(names))}")
    done = _done(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    console, waiting = Console(width=None if sys.stdout.isatty() else _WIDTH), Console(stderr=True)
    for name, run in jobs.items():
        if name in done or (strategy and name.rpartition("|")[2] not in strategy):
            continue
        with waiting.status(name), tempfile.TemporaryDirectory(prefix="expediente-packing-") as home:
            done[name] = run(Path(home) / "home")
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "played": done[name].model_dump(mode="json")}) + "\n")
    show([done[name] for name in jobs if name in done], console)


def _plant(plants: Callable[[], Plant], window: int) -> Iterator[tuple[str, Callable[[Path], Played]]]:
    for name in (UNCOMPACTED, *ALL):

        def run(home: Path, name: str = name) -> Played:
            return agent.played(plants(), name, window, home)

        yield f"{_name(plants(), window)}|{name}", run


def _name(plant: Plant, window: int) -> str:
    recent = f" recent {plant.recent}" if plant.recent else ""
    return f"plant {plant.size} {plant.seed} {plant.log_words}{recent} {window}"


def _peers(plants: Callable[[], Plant], window: int) -> dict[str, Callable[[Path], Played]]:
    try:
        from evals.packing import peers
    except ImportError:
        sys.exit("the peers need langchain: run `make evals`, or give --no-peers")

    def job(name: str) -> Callable[[Path], Played]:
        return lambda home: peers.played(plants(), name, window, RESERVED_TOKENS)

    return {f"{_name(plants(), window)}|{name}": job(name) for name in peers.middlewares(1)}


def _recorded(data: Path, decisions: int, window: int) -> dict[str, Callable[[Path], Played]]:
    tasks = recorded.tasks_of(data)

    def job(name: str) -> Callable[[Path], Played]:
        return lambda home: recorded.played(tasks, name, window, decisions, data, home)

    return {f"retail {decisions} {window}|{name}": job(name) for name in (UNCOMPACTED, *ALL)}


def _done(out: Path) -> dict[str, Played]:
    if not out.exists():
        return {}
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {line["name"]: Played.model_validate(line["played"]) for line in lines}


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # here: who calls main() keeps the log of its own process
    typer.run(main)
