"""Threads for the synchronous nodes of asynchronous runs: of what waits, the node furthest along its lap goes first.

Many runs that begin together compute one after the other, whoever has the next thread. Taken in turns, all of them
would come to their model call last, and all wait for it together; so each lap that was begun is brought to its call,
or to its end, before the next one begins.
"""

import asyncio
import heapq
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import count
from typing import Any, NamedTuple

# One more than there are cores, since a node may wait for a store. Each further one takes turns at the interpreter with
# the others: asyncio's own four more made fifty runs at once a tenth slower (`make bench-crowd`).
THREADS = min(32, (os.cpu_count() or 1) + 1)


class _Waiting(NamedTuple):
    """Work in the order in which it is begun: the furthest along first, then first come, first served."""

    behind: int
    came: int
    work: Callable[[], Any]
    done: "Future[Any]"


class NodeThreads:
    """A pool of threads that lasts until `close`; safe to share between event loops."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="node")
        self._waiting: list[_Waiting] = []
        self._came = count()
        self._lock = threading.Lock()

    async def run(self, position: int, work: Callable[..., Any], *given: Any) -> Any:
        """What `work(*given)` gives or raises, in a thread, in the caller's context. `position` is the node's in its
        lap."""
        done: Future[Any] = Future()
        inside = partial(copy_context().run, work, *given)
        with self._lock:
            heapq.heappush(self._waiting, _Waiting(-position, next(self._came), inside, done))
        # One token for each piece of work: whichever thread takes it does what goes first by then.
        self._pool.submit(self._next)
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """End the threads, once what they are at is done."""
        self._pool.shutdown()

    def _next(self) -> None:
        with self._lock:
            *_, work, done = heapq.heappop(self._waiting)
        if not done.set_running_or_notify_cancel():
            return  # its run was cancelled while it waited
        try:
            brought = work()
        except BaseException as error:  # noqa: BLE001  # whatever a node raises is its run's, an interrupt too
            done.set_exception(error)
        else:
            done.set_result(brought)
