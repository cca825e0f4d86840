"""One run per thread at a time, across threads, processes and machines, and after a kill."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine, bindparam, delete, select, update

from graph.stores.engine import insert_or_ignore
from graph.stores.schema import run_leases
from graph.stores.unavailable import StoreUnavailable
from state.ports import Clock, Ids

# A killed run blocks its thread for at most this long. It is renewed at a third of it, so that two renewals may
# fail (a busy database, a long pause of the interpreter, a clock some seconds off) before another run may start.
LEASE_S = 15.0
_LOOK_AGAIN_S = 0.05
SKEW = timedelta(seconds=60)  # how far two machines' clocks may differ before one takes the other's lease for stale


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


@dataclass
class _Lease:
    """A lease that this process holds. Nobody else can have taken it before `sure_until` (monotonic seconds)."""

    token: str
    sure_until: float
    lost: bool = False


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
        self._held: dict[str, _Lease] = {}
        # Leases of runs that ended while the database was gone: nobody could be told, and nobody else holds them.
        self._left: dict[str, str] = {}

    @contextmanager
    def holding(self, thread: str, wait_s: float = 0.0) -> Iterator[None]:
        """Hold the thread for one run.

        Raises ThreadBusy when another run holds it for longer than this waits, and LeaseLost at the end of a run that
        lost it on the way (the run's own error goes first).
        """
        lease = self._waited(thread, time.monotonic() + wait_s)
        self._held[thread] = lease
        stop = threading.Event()
        # A daemon: a run that is killed or hangs must not keep the process, or the lease, alive.
        renewing = threading.Thread(target=self._keep, args=(thread, lease, stop), name=f"lease {thread}", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            stop.set()
            renewing.join()
            if self._held.get(thread) is lease:
                del self._held[thread]
            held = self._let_go(thread, lease.token)
        if not held:
            raise LeaseLost(thread)

    def require(self, thread: str) -> None:
        """For a run that goes on: that this process has not lost the thread to another run meanwhile. The database is
        asked only where the lease could not be renewed in time. A run that took no lease, as a server's, is not asked.

        Raises LeaseLost, StoreUnavailable.
        """
        lease = self._held.get(thread)
        if lease is None or (not lease.lost and time.monotonic() < lease.sure_until):
            return
        if lease.lost or not self._renewed(thread, lease):
            raise LeaseLost(thread)

    def _waited(self, thread: str, until: float) -> _Lease:
        while True:
            try:
                return self._acquire(thread)
            except ThreadBusy:
                if time.monotonic() >= until:
                    raise
            time.sleep(_LOOK_AGAIN_S)

    def _acquire(self, thread: str) -> _Lease:
        token, sure_until = self._ids.new("run"), time.monotonic() + self._lease_s
        now = self._clock.now()
        end = self._end(now)
        row = {"thread": thread, "token": token, "expires_at": end, "now": now, "beyond": end + SKEW}
        with self._engine.connect() as connection:
            if (left := self._left.pop(thread, None)) is not None:
                connection.execute(self._release, {"of_thread": thread, "of_token": left})
            if connection.execute(self._take, row).rowcount != 1:
                raise ThreadBusy(thread, connection.scalar(self._held_until, {"of_thread": thread}))
        return _Lease(token, sure_until)

    def _let_go(self, thread: str, token: str) -> bool:
        """Give the lease back; whether it was still ours."""
        try:
            with self._engine.connect() as connection:
                return connection.execute(self._release, {"of_thread": thread, "of_token": token}).rowcount == 1
        except StoreUnavailable:
            # The run itself is over. The next one of this process gives the lease back; for others it ends by itself.
            self._left[thread] = token
            return True

    def _keep(self, thread: str, lease: _Lease, stop: threading.Event) -> None:
        while not stop.wait(self._lease_s / 3):
            try:
                if not self._renewed(thread, lease):
                    return
            except StoreUnavailable:
                # The next try may still come in time; if not, the run asks before it goes on.
                continue

    def _renewed(self, thread: str, lease: _Lease) -> bool:
        """Whether the lease was still ours; then it is for another term."""
        sure_until = time.monotonic() + self._lease_s
        row = {"of_thread": thread, "of_token": lease.token, "until": self._end(self._clock.now())}
        with self._engine.connect() as connection:
            if connection.execute(self._renew, row).rowcount != 1:
                lease.lost = True
                return False
        lease.sure_until = sure_until
        return True

    def _end(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self._lease_s)
