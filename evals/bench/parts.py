"""Where the time of a decision goes: each node with its scope and slice, the saver, and what LangGraph adds."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graph.app import App

SAVER = "saver"
_SAVER_METHODS = ("put", "put_writes", "get_tuple")


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
