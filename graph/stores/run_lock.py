"""One run per thread at a time, across threads, tasks, processes and machines, and after a kill."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta

from sqlalchemy import Engine, bindparam, delete, select, update

from graph.stores.engine import insert_or_ignore
from graph.stores.lease import Lease, LeaseLost, ThreadBusy
from graph.stores.schema import run_leases
from graph.stores.unavailable import StoreUnavailable
from state.ports import Clock, Ids

# A killed run blocks its thread for at most this long. It is renewed at a third of it, so that two renewals may
# fail (a busy database, a long pause of the interpreter, a clock some seconds off) before another run may start.
LEASE_S = 15.0
SKEW = timedelta(seconds=60)  # how far two machines' clocks may differ before one takes the other's lease for stale
_LOOK_AGAIN_S = 0.05
_THREADS = 2  # for asynchronous runs: each beginning and each end is one statement


class SqlRunLock:
    """A lease per thread: a row with the holder's token and its end, renewed while the run lasts.

    Raises ValueError for a lease that is not positive.
    """

    def __init__(self, engine: Engine, clock: Clock, ids: Ids, lease_s: float = LEASE_S) -> None:
        if lease_s <= 0:
            raise ValueError(f"got a lease of {lease_s} s; it must be positive")
        self._engine = engine
        self._clock = clock
        self._ids = ids
        self._lease_s = lease_s
        own = run_leases.c
        taken = insert_or_ignore(engine, run_leases)
        # One statement takes a free or an expired lease; of several callers one succeeds.
        self._take = taken.on_conflict_do_update(
            index_elements=[own.thread],
            set_={"token": taken.excluded.token, "expires_at": taken.excluded.expires_at},
            # A lease that ends far later than a new one was taken before the clock was set back.
            where=(own.expires_at < bindparam("now", type_=own.expires_at.type))
            | (own.expires_at > bindparam("beyond", type_=own.expires_at.type)),
        )
        mine = (own.thread == bindparam("of_thread"), own.token == bindparam("of_token"))
        self._renew = update(run_leases).where(*mine).values(expires_at=bindparam("until"))
        self._release = delete(run_leases).where(*mine)
        self._held_until = select(own.expires_at).where(own.thread == bindparam("of_thread"))
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="lease")
        # What the keeper renews, by token; whoever changes it tells the keeper.
        self._held: dict[str, Lease] = {}
        self._changed = threading.Condition()
        self._keeping = False
        # Leases of runs that ended while the database was gone: nobody could be told, and nobody else holds them.
        self._left: dict[str, str] = {}

    @contextmanager
    def holding(self, thread: str, wait_s: float = 0.0) -> Iterator[Lease]:
        """Hold the thread for one run.

        Raises ThreadBusy when another run holds it for longer than this waits, and LeaseLost at the end of a run that
        lost it on the way (the run's own error goes first).
        """
        lease = self._waited(thread, time.monotonic() + wait_s)
        try:
            yield lease
        finally:
            held = lease.end()
        if not held:
            raise LeaseLost(thread)

    @asynccontextmanager
    async def aholding(self, thread: str, wait_s: float = 0.0) -> AsyncIterator[Lease]:
        """The same for an asynchronous run. A run that is cancelled gives its thread back too, whenever that is."""
        lease = await self._awaited(thread, time.monotonic() + wait_s)
        try:
            yield lease
        finally:
            held = await asyncio.shield(asyncio.wrap_future(self._pool.submit(lease.end)))
        if not held:
            raise LeaseLost(thread)

    def _waited(self, thread: str, until: float) -> Lease:
        while True:
            try:
                return self._taken(thread)
            except ThreadBusy:
                if time.monotonic() >= until:
                    raise
            time.sleep(_LOOK_AGAIN_S)

    async def _awaited(self, thread: str, until: float) -> Lease:
        while True:
            taking = self._pool.submit(self._taken, thread)
            try:
                return await asyncio.wrap_future(taking)
            except asyncio.CancelledError:
                taking.add_done_callback(_give_back)
                raise
            except ThreadBusy:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(_LOOK_AGAIN_S)

    def _taken(self, thread: str) -> Lease:
        token, sure_until = self._ids.new("run"), time.monotonic() + self._lease_s
        now = self._clock.now()
        end = self._end(now)
        row = {"thread": thread, "token": token, "expires_at": end, "now": now, "beyond": end + SKEW}
        with self._engine.connect() as connection:
            if (left := self._left.pop(thread, None)) is not None:
                connection.execute(self._release, {"of_thread": thread, "of_token": left})
            if connection.execute(self._take, row).rowcount != 1:
                raise ThreadBusy(thread, connection.scalar(self._held_until, {"of_thread": thread}))
        lease = Lease(thread, token, sure_until, renew=self._renewed, let_go=self._let_go)
        with self._changed:
            self._held[token] = lease
            if not self._keeping:
                self._keeping = True
                # A daemon: a run that is killed or hangs must not keep the process, or the lease, alive.
                threading.Thread(target=self._keep, name="leases", daemon=True).start()
        return lease

    def _let_go(self, lease: Lease) -> bool:
        """Give the lease back; whether it was still ours."""
        with self._changed:
            self._held.pop(lease.token, None)
            self._changed.notify()
        try:
            with self._engine.connect() as connection:
                row = {"of_thread": lease.thread, "of_token": lease.token}
                return connection.execute(self._release, row).rowcount == 1
        except StoreUnavailable:
            # The run itself is over. The next one of this process gives the lease back; for others it ends by itself.
            self._left[lease.thread] = lease.token
            return True

    def _keep(self) -> None:
        """Renew what is held, until nothing is."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._held, self._lease_s / 3)
                if not self._held:
                    self._keeping = False
                    return
                held = [lease for lease in self._held.values() if not lease.lost]
            for lease in held:
                try:
                    self._renewed(lease)
                except StoreUnavailable:
                    # The next try may still come in time; if not, each run asks before it goes on.
                    break

    def _renewed(self, lease: Lease) -> bool:
        """Whether the lease was still ours; then it is for another term."""
        sure_until = time.monotonic() + self._lease_s
        row = {"of_thread": lease.thread, "of_token": lease.token, "until": self._end(self._clock.now())}
        with self._engine.connect() as connection:
            if connection.execute(self._renew, row).rowcount != 1:
                lease.lost = True
                return False
        lease.sure_until = sure_until
        return True

    def _end(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self._lease_s)


def _give_back(taking: "Future[Lease]") -> None:
    if not taking.cancelled() and taking.exception() is None:
        taking.result().end()
