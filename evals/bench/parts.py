"""Where the time of a decision goes: each node with its scope and slice, the saver, and what LangGraph adds."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

from evals.bench.report import Aged, Part, ratio_of
from evals.bench.subject import DECISIONS_PER_TURN, PRINCIPAL, QUESTION, THREAD
from graph.app import App
from graph.build import ORDER

SAVER = "saver"
_SAVER_METHODS = ("put", "put_writes", "get_tuple")
_YOUNG = "young"
_WARM_TURNS = 20  # until a young thread has as many earlier turns as a request may show
PAIRS, LONG_PAIRS = 20, 100
_REST, _CPU = "around the run", "processor time"


class Watched:
    """A compiled graph that adds up the seconds spent in its runs, by the clock and of the processor."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.seconds = self.cpu_seconds = 0.0

    def stream(self, *given: Any, **named: Any) -> Iterator[Any]:
        """The graph's own stream."""
        started, cpu_started = time.perf_counter(), time.process_time()
        yield from self.graph.stream(*given, **named)
        self.seconds += time.perf_counter() - started
        self.cpu_seconds += time.process_time() - cpu_started

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    def ask(self, app: App, question: str, thread: str) -> float:
        """One turn of the app whose graph this is, in seconds. Raises RuntimeError for one that went otherwise."""
        self.seconds = self.cpu_seconds = 0.0
        started = time.perf_counter()
        result = app.ask(question, as_=PRINCIPAL.name, thread=thread)
        took = time.perf_counter() - started
        if len(result.decisions) != DECISIONS_PER_TURN or result.status != "answered":
            raise RuntimeError(
                f"a turn ended {result.status} after {len(result.decisions)} decisions: nothing to compare"
            )
        return took


def aged_of(app: App, pairs: int) -> Aged:
    """What a turn costs in the long thread and in a young one of the same app, which take turns, and in which parts.

    Parts are medians over turns, which one slow turn does not move.
    """
    watched = Watched(app.graph)
    rows: dict[str, list[dict[str, float]]] = {THREAD: [], _YOUNG: []}
    with in_parts(app) as seconds:
        app.graph = watched  # type: ignore[assignment]  # it passes everything on to the graph it watches
        for number in range(_WARM_TURNS):
            watched.ask(app, QUESTION.format(number), _YOUNG)
        for number in range(pairs):
            for thread in (THREAD, _YOUNG) if number % 2 else (_YOUNG, THREAD):
                seconds.clear()
                whole = watched.ask(app, QUESTION.format(number), thread)
                row = {name: seconds[name] for name in (*ORDER, SAVER)}
                row["langgraph"] = watched.seconds - sum(row.values())
                rows[thread].append({**row, _REST: whole - watched.seconds, _CPU: watched.cpu_seconds})
        app.graph = watched.graph
    old, young = ([sum(row.values()) - row[_CPU] for row in rows[thread]] for thread in (THREAD, _YOUNG))
    parts = [
        Part(name=name, old_ms=_median_ms(rows[THREAD], name), young_ms=_median_ms(rows[_YOUNG], name))
        for name in (*ORDER, SAVER, "langgraph", _REST)
    ]
    cpu = [[row[_CPU] for row in rows[thread]] for thread in (THREAD, _YOUNG)]
    return Aged(ratio=ratio_of(old, young), cpu_ratio=ratio_of(*cpu), parts=tuple(parts))


def _median_ms(rows: Sequence[Mapping[str, float]], name: str) -> float:
    return median(row[name] for row in rows) * 1000 / DECISIONS_PER_TURN


@contextmanager
def in_parts(app: App) -> Iterator[dict[str, float]]:
    """Time the parts of the app's graph; the dict fills with seconds by part. Everything is as before afterwards."""
    seconds: dict[str, float] = {}
    places: list[tuple[Any, str]] = [(spec.runnable, "func") for spec in app.drawing.nodes.values()]
    names = list(app.drawing.nodes)
    places += [(app.graph.checkpointer, method) for method in _SAVER_METHODS]
    names += [SAVER] * len(_SAVER_METHODS)
    before = [getattr(owner, attribute) for owner, attribute in places]
    for (owner, attribute), name, plain in zip(places, names, before, strict=True):
        setattr(owner, attribute, _timed(plain, name, seconds))
    try:
        yield seconds
    finally:
        for (owner, attribute), plain in zip(places, before, strict=True):
            setattr(owner, attribute, plain)


def _timed(plain: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def run(*given: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return plain(*given, **named)
        finally:
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started

    return run
