"""The measurement: app and empty loop take turns, A B B A, in one run on one machine; only their ratios travel."""

import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles

from evals.bench.floor import Floor, open_floor, run_turn
from evals.bench.parts import SAVER, Watched, in_parts
from evals.bench.subject import DECISIONS_PER_TURN, PRINCIPAL, open_subject
from graph.app import App
from graph.build import ORDER
from state.value import Value

_PACKAGES = ("langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "pydantic", "SQLAlchemy")
_WINDOW_TURNS = 10
_PARTS_TURNS = 20
_MARKS = (100, 300)
LEAST = 2 * DECISIONS_PER_TURN * (_WINDOW_TURNS + 1)


class Ratio(Value):
    """A ratio taken turn by turn: median and quartiles.

    `quiet` divides the fastest tenth of the one by the fastest tenth of the other: what is left when no neighbour
    uses the machine. Contention slows the empty loop more than it slows the app, so `median` flatters on a busy one.
    """

    median: float
    lower: float
    upper: float
    quiet: float


class Mark(Value):
    """The cost of a decision around one place in a long thread: medians and means of the 20 decisions before it."""

    decision: int
    graph_ms: float
    ask_ms: float
    floor_ms: float
    checkpoint_bytes: float
    floor_bytes: float


class Turn(Value):
    """Milliseconds of one turn, per decision: the graph's run, the whole `ask` around it, the empty loop."""

    graph_ms: float
    graph_cpu_ms: float
    ask_ms: float
    floor_ms: float
    floor_cpu_ms: float


class Report(Value):
    """Everything that was measured."""

    machine: dict[str, str | int]
    decisions: int
    graph_ms: float
    ask_ms: float
    floor_ms: float
    graph_ratio: Ratio
    graph_cpu_ratio: Ratio
    ask_ratio: Ratio
    marks: tuple[Mark, ...]
    parts_ms: dict[str, float]
    turns: tuple[Turn, ...]


def measure(decisions: int) -> Report:
    """Measure this many decisions in one thread. Raises ValueError for fewer than LEAST."""
    if decisions < LEAST:
        raise ValueError(f"got {decisions} decisions; allowed: at least {LEAST}")
    marks = _MARKS if decisions >= _MARKS[-1] else (LEAST // 2, decisions // DECISIONS_PER_TURN * DECISIONS_PER_TURN)
    with tempfile.TemporaryDirectory(prefix="expediente-bench-") as folder:
        home, floor_file = Path(folder, "app"), Path(folder, "empty.db")
        with open_subject(home) as app, open_floor(floor_file) as floor:
            files = (app.settings.checkpoints_file, floor_file)
            turns, sizes = _turns(app, floor, decisions // DECISIONS_PER_TURN, files)
            parts = _parts(app)
    settled = turns[min(5, len(turns) // 4) :]
    graph, ask, empty = ([getattr(turn, name) for turn in settled] for name in ("graph_ms", "ask_ms", "floor_ms"))
    cpu, empty_cpu = ([getattr(turn, name) for turn in settled] for name in ("graph_cpu_ms", "floor_cpu_ms"))
    return Report(
        machine=_machine(),
        decisions=decisions,
        graph_ms=median(graph),
        ask_ms=median(ask),
        floor_ms=median(empty),
        graph_ratio=_ratio(graph, empty),
        graph_cpu_ratio=_ratio(cpu, empty_cpu),
        ask_ratio=_ratio(ask, empty),
        marks=tuple(_mark(decision, turns, sizes) for decision in marks),
        parts_ms=parts,
        turns=tuple(turns),
    )


def _turns(app: App, floor: Floor, count: int, files: tuple[Path, Path]) -> tuple[list[Turn], list[tuple[int, int]]]:
    """The turns, and after each of them the bytes in both checkpoint files."""
    watched = Watched(app.graph)
    app.graph = watched  # type: ignore[assignment]  # it passes everything on to the graph it watches
    turns: list[Turn] = []
    sizes: list[tuple[int, int]] = [(0, 0)]
    for number in range(count):
        question = _question(number)
        # Each goes first every second time, so that neither always finds the caches the other left.
        if number % 2:
            empty = _empty(floor, question)
            full = _ask(app, watched, question)
        else:
            full = _ask(app, watched, question)
            empty = _empty(floor, question)
        per = 1000 / DECISIONS_PER_TURN
        turns.append(
            Turn(
                graph_ms=full[0] * per,
                graph_cpu_ms=full[1] * per,
                ask_ms=full[2] * per,
                floor_ms=empty[0] * per,
                floor_cpu_ms=empty[1] * per,
            )
        )
        sizes.append((_stored(files[0]), _stored(files[1])))
    app.graph = watched.graph
    return turns, sizes


def _ask(app: App, watched: Watched, question: str) -> tuple[float, float, float]:
    watched.seconds = watched.cpu_seconds = 0.0
    started = time.perf_counter()
    result = app.ask(question, as_=PRINCIPAL.name, thread="bench")
    took = time.perf_counter() - started
    if len(result.decisions) != DECISIONS_PER_TURN or result.status != "answered":
        raise RuntimeError(f"a turn ended {result.status} after {len(result.decisions)} decisions: nothing to compare")
    return watched.seconds, watched.cpu_seconds, took


def _empty(floor: Floor, question: str) -> tuple[float, float]:
    started, cpu_started = time.perf_counter(), time.process_time()
    run_turn(floor, question)
    return time.perf_counter() - started, time.process_time() - cpu_started


def _parts(app: App) -> dict[str, float]:
    """Milliseconds per decision by part: the median over turns, which one slow turn does not move."""
    watched = Watched(app.graph)
    rows: list[dict[str, float]] = []
    with in_parts(app) as seconds:
        app.graph = watched  # type: ignore[assignment]  # it passes everything on to the graph it watches
        for number in range(_PARTS_TURNS):
            seconds.clear()
            run, _, whole = _ask(app, watched, _question(number))
            row = {name: seconds[name] for name in (*ORDER, SAVER)}
            rows.append({**row, "langgraph": run - sum(row.values()), "around the run": whole - run})
        app.graph = watched.graph
    return {name: median(row[name] for row in rows) * 1000 / DECISIONS_PER_TURN for name in rows[0]}


def _question(number: int) -> str:
    return f"Question {number:05d}: why does the machine stop?"


def _stored(file: Path) -> int:
    """The bytes of what the file holds, not of the file: checkpoints, their metadata, and pending writes."""
    with closing(sqlite3.connect(file)) as connection:
        checkpoints = connection.execute("SELECT total(length(checkpoint) + length(metadata)) FROM checkpoints")
        writes = connection.execute("SELECT total(length(value)) FROM writes")
        return int(checkpoints.fetchone()[0] + writes.fetchone()[0])


def _mark(decision: int, turns: Sequence[Turn], sizes: Sequence[tuple[int, int]]) -> Mark:
    end = decision // DECISIONS_PER_TURN
    window = turns[end - _WINDOW_TURNS : end]
    per = DECISIONS_PER_TURN * _WINDOW_TURNS
    grown = [(sizes[end][which] - sizes[end - _WINDOW_TURNS][which]) / per for which in (0, 1)]
    return Mark(
        decision=decision,
        graph_ms=median(turn.graph_ms for turn in window),
        ask_ms=median(turn.ask_ms for turn in window),
        floor_ms=median(turn.floor_ms for turn in window),
        checkpoint_bytes=grown[0],
        floor_bytes=grown[1],
    )


def _ratio(ours: Sequence[float], empty: Sequence[float]) -> Ratio:
    lower, middle, upper = quantiles([one / other for one, other in zip(ours, empty, strict=True)], n=4)
    quiet = quantiles(ours, n=10)[0] / quantiles(empty, n=10)[0]
    return Ratio(median=middle, lower=lower, upper=upper, quiet=quiet)


def _machine() -> dict[str, str | int]:
    return {
        "cores": os.cpu_count() or 0,
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{package: version(package) for package in _PACKAGES},
    }
