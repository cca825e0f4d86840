"""Threads for synchronous nodes: who goes first, and what of a run's own they keep."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar

import pytest

from graph.node_threads import NodeThreads

WHOSE: ContextVar[str] = ContextVar("whose", default="nobody's")


@pytest.fixture
def one() -> Iterator[NodeThreads]:
    threads = NodeThreads(threads=1)
    yield threads
    threads.close()


def test_the_furthest_along_goes_first_and_equals_as_they_came(one: NodeThreads) -> None:
    done: list[str] = []
    free = threading.Event()

    async def all_of_them() -> None:
        busy = asyncio.create_task(one.run(0, free.wait))
        await asyncio.sleep(0)
        waiting = [
            asyncio.create_task(one.run(position, done.append, name))
            for position, name in [(0, "resolve 1"), (0, "resolve 2"), (3, "pack"), (1, "plan"), (3, "pack too")]
        ]
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(busy, *waiting)

    asyncio.run(all_of_them())
    assert done == ["pack", "pack too", "plan", "resolve 1", "resolve 2"]


def test_work_runs_in_the_context_of_its_run(one: NodeThreads) -> None:
    async def asked(name: str) -> str:
        WHOSE.set(name)
        return str(await one.run(0, WHOSE.get))

    async def both() -> list[str]:
        return list(await asyncio.gather(asked("ana's"), asked("omar's")))

    assert asyncio.run(both()) == ["ana's", "omar's"]


def test_what_a_node_raises_reaches_its_run_alone(one: NodeThreads) -> None:
    def fails() -> None:
        raise LookupError("gone")

    async def both() -> list[object]:
        return list(await asyncio.gather(one.run(0, fails), one.run(0, str, "fine"), return_exceptions=True))

    failed, fine = asyncio.run(both())
    assert isinstance(failed, LookupError)
    assert fine == "fine"


def test_work_of_a_cancelled_run_is_not_begun(one: NodeThreads) -> None:
    done: list[str] = []
    free = threading.Event()

    async def cancelled() -> None:
        busy = asyncio.create_task(one.run(0, free.wait))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(one.run(7, done.append, "cancelled"))
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        free.set()
        await busy
        await one.run(0, done.append, "the next")

    asyncio.run(cancelled())
    assert done == ["the next"]
