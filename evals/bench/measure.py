"""The measurement: app and empty loop take turns, A B B A, in one run on one machine."""

import os
import platform
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median

from evals.bench.floor import Floor, run_turn
from evals.bench.ground import SQLITE, Ground, open_ground
from evals.bench.parts import LONG_PAIRS, PAIRS, Watched, aged_of
from evals.bench.report import Mark, Report, Turn, Verified, ratio_of
from evals.bench.subject import DECISIONS_PER_TURN, PRINCIPAL, QUESTION, THREAD
from graph.app import App
from graph.inspection.verify import verify
from state.canonical import canonical_json

_PACKAGES = ("langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "pydantic", "SQLAlchemy")
_ON_SERVER = ("langgraph-checkpoint-postgres", "psycopg")
_MARKS = (100, 300, 1_000)
_WINDOW_TURNS = 10
# What is to be flat within a few hundredths takes more turns to tell. At the first mark the window begins where the
# task keeps as many earlier turns and actions as it ever will.
_LONG_WINDOW_TURNS = 15
LONG = _MARKS[-1]
LEAST = 2 * DECISIONS_PER_TURN * (_WINDOW_TURNS + 1)

Sizes = dict[int, tuple[int, int]]
"""The bytes in both checkpoints after so many turns."""


def measure(decisions: int, server: str | None = None) -> Report:
    """Measure this many decisions in one thread, on SQLite or on a PostgreSQL server.

    Raises ValueError for fewer than LEAST.
    """
    if decisions < LEAST:
        raise ValueError(f"got {decisions} decisions; allowed: at least {LEAST}")
    count = decisions // DECISIONS_PER_TURN
    window = _LONG_WINDOW_TURNS if decisions >= LONG else _WINDOW_TURNS
    marks = _marks(decisions)
    with (
        tempfile.TemporaryDirectory(prefix="expediente-bench-") as folder,
        open_ground(Path(folder), server) as ground,
    ):
        turns, sizes, channels = _turns(ground, count, {mark // DECISIONS_PER_TURN for mark in marks}, window)
        verified = _verified(ground.app)
        aged = aged_of(ground.app, LONG_PAIRS if decisions >= LONG else PAIRS)
    settled = turns[min(5, len(turns) // 4) :]
    graph, ask, empty = ([getattr(turn, name) for turn in settled] for name in ("graph_ms", "ask_ms", "floor_ms"))
    cpu, empty_cpu = ([getattr(turn, name) for turn in settled] for name in ("graph_cpu_ms", "floor_cpu_ms"))
    return Report(
        engine=ground.engine,
        machine=_machine(ground),
        decisions=decisions,
        window=window * DECISIONS_PER_TURN,
        graph_ms=median(graph),
        ask_ms=median(ask),
        floor_ms=median(empty),
        graph_ratio=ratio_of(graph, empty),
        graph_cpu_ratio=ratio_of(cpu, empty_cpu),
        ask_ratio=ratio_of(ask, empty),
        marks=tuple(_mark(mark, turns, sizes, channels, window) for mark in marks),
        aged=aged,
        verified=verified,
        turns=tuple(turns),
    )


def _marks(decisions: int) -> tuple[int, ...]:
    reached = tuple(mark for mark in _MARKS if mark <= decisions)
    if len(reached) > 1:
        return reached
    return LEAST // 2, decisions // DECISIONS_PER_TURN * DECISIONS_PER_TURN


def _turns(
    ground: Ground, count: int, marks: set[int], window: int
) -> tuple[list[Turn], Sizes, dict[int, tuple[int, int]]]:
    """The turns; the bytes in both checkpoints at both ends of each mark's window; the channels' bytes at each mark."""
    watched = Watched(ground.app.graph)
    ground.app.graph = watched  # type: ignore[assignment]  # it passes everything on to the graph it watches
    turns: list[Turn] = []
    sizes: Sizes = {}
    channels: dict[int, tuple[int, int]] = {}
    ends = marks | {mark - window for mark in marks}
    for number in range(count + 1):
        # Summing up reads every checkpoint of the thread: done between turns, and only where it is needed.
        if number in ends:
            sizes[number] = ground.stored()
            ground.settle()
        if number in marks:
            channels[number] = _channels(ground.app)
        if number < count:
            turns.append(_turn(ground, watched, number))
    ground.app.graph = watched.graph
    return turns, sizes, channels


def _turn(ground: Ground, watched: Watched, number: int) -> Turn:
    question = QUESTION.format(number)
    # Each goes first every second time, so that neither always finds the caches the other left.
    if number % 2:
        empty = _empty(ground.floor, question)
        whole = watched.ask(ground.app, question, THREAD)
    else:
        whole = watched.ask(ground.app, question, THREAD)
        empty = _empty(ground.floor, question)
    per = 1000 / DECISIONS_PER_TURN
    return Turn(
        graph_ms=watched.seconds * per,
        graph_cpu_ms=watched.cpu_seconds * per,
        ask_ms=whole * per,
        floor_ms=empty[0] * per,
        floor_cpu_ms=empty[1] * per,
    )


def _empty(floor: Floor, question: str) -> tuple[float, float]:
    started, cpu_started = time.perf_counter(), time.process_time()
    run_turn(floor, question)
    return time.perf_counter() - started, time.process_time() - cpu_started


def _channels(app: App) -> tuple[int, int]:
    values = app.graph.get_state({"configurable": {"thread_id": THREAD}}).values
    return len(canonical_json(values["task"])), len(canonical_json(values["messages"]))


def _verified(app: App) -> Verified:
    started = time.perf_counter()
    found = verify(app, THREAD, as_=PRINCIPAL.name)
    took = time.perf_counter() - started
    if not found.sound or found.erased:
        raise RuntimeError(f"verify found {len(found.faults)} faults and {len(found.erased)} gaps: nothing to compare")
    return Verified(records=found.records, bodies=found.bodies, attempts=found.attempts, seconds=took)


def _mark(
    decision: int, turns: Sequence[Turn], sizes: Sizes, channels: dict[int, tuple[int, int]], window: int
) -> Mark:
    end = decision // DECISIONS_PER_TURN
    before = turns[end - window : end]
    graph, empty = [turn.graph_ms for turn in before], [turn.floor_ms for turn in before]
    grown = [(sizes[end][which] - sizes[end - window][which]) / (DECISIONS_PER_TURN * window) for which in (0, 1)]
    return Mark(
        decision=decision,
        graph_ms=median(graph),
        ask_ms=median(turn.ask_ms for turn in before),
        floor_ms=median(empty),
        ratio=ratio_of(graph, empty),
        cpu_ratio=ratio_of([turn.graph_cpu_ms for turn in before], [turn.floor_cpu_ms for turn in before]),
        checkpoint_bytes=grown[0],
        floor_bytes=grown[1],
        task_bytes=channels[end][0],
        messages_bytes=channels[end][1],
    )


def _machine(ground: Ground) -> dict[str, str | int]:
    packages = _PACKAGES if ground.engine == SQLITE else (*_PACKAGES, *_ON_SERVER)
    return {
        "cores": os.cpu_count() or 0,
        "system": platform.platform(),
        "python": platform.python_version(),
        ground.engine: ground.server,
        **{package: version(package) for package in packages},
    }
