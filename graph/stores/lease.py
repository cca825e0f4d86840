"""The lease that a run holds on its thread: what its nodes ask, and when it is given back."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime


class ThreadBusy(RuntimeError):
    """Another run is on this thread. `until` is when its lease ends at the earliest if it was killed."""

    def __init__(self, thread: str, until: datetime | None) -> None:
        killed = "" if until is None else f" (if it was killed: after {until:%H:%M:%S} UTC)"
        super().__init__(f"thread {thread} has another run; allowed: one at a time; try again when it is done{killed}")
        self.thread = thread
        self.until = until


class LeaseLost(RuntimeError):
    """This run was suspended for longer than its lease, and another run has started on the thread."""

    def __init__(self, thread: str) -> None:
        super().__init__(
            f"this run lost thread {thread}: it stood still for longer than its lease, and another run began; it ends "
            f"here, and what it did so far stays: look with `agent show {thread} --tree` before going on"
        )


class Lease:
    """A run's hold of its thread. Nobody else can have taken it before `sure_until` (monotonic seconds).

    `renew` says whether it was still held; `let_go` gives it back, and says so too.
    """

    def __init__(
        self,
        thread: str,
        token: str,
        sure_until: float,
        renew: "Callable[[Lease], bool]",
        let_go: "Callable[[Lease], bool]",
    ) -> None:
        self.thread, self.token, self.sure_until = thread, token, sure_until
        self._renew, self._give_up = renew, let_go
        self.lost = False
        self._runs = self._over = False
        self._at_work = 0
        self._guard = threading.Lock()

    def begun(self, thread: str) -> bool:
        """Whether a run may begin on it: it is the thread's, and no run has begun on it before."""
        with self._guard:
            if self.thread != thread or self._runs or self._over:
                return False
            self._runs = True
            return True

    def require(self) -> None:
        """For a run that goes on: that no other run has taken the thread meanwhile. The database is asked only where
        the lease could not be renewed in time.

        Raises LeaseLost, StoreUnavailable.
        """
        if not self._sure and (self.lost or not self._renew(self)):
            raise LeaseLost(self.thread)

    @property
    def _sure(self) -> bool:
        return not self.lost and time.monotonic() < self.sure_until

    async def _arequire(self) -> None:
        if not self._sure:  # else nobody need be asked, and no thread be waited for
            await asyncio.to_thread(self.require)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """For a node of the run, which holds the thread until it has ended, also where its run was cancelled before.

        Raises LeaseLost, before and after it worked, StoreUnavailable.
        """
        with self._counted():
            self.require()
            yield
            self.require()

    @asynccontextmanager
    async def awork(self) -> AsyncIterator[None]:
        """The same for an asynchronous node."""
        with self._counted():
            await self._arequire()
            yield
            await self._arequire()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._guard:
            if self._over:
                raise LeaseLost(self.thread)
            self._at_work += 1
        try:
            yield
        finally:
            with self._guard:
                self._at_work -= 1
                last = self._over and not self._at_work
            if last:
                self._give_up(self)

    def end(self) -> bool:
        """Give the thread back, or have the node do so that is still at work; whether it was still held."""
        with self._guard:
            self._over = True
            if self._at_work:
                return True
        return self._give_up(self)
