"""One run per thread at a time, across threads, processes and machines, and after a kill."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


class ThreadBusy(Exception):
    """Another run is on this thread. `until` is when its lease ends at the earliest if it was killed."""

    def __init__(self, thread: str, until: datetime | None) -> None:
        killed = "" if until is None else f" (if it was killed: after {until:%H:%M:%S} UTC)"
        super().__init__(f"thread {thread} has another run; allowed: one at a time; try again when it is done{killed}")
        self.thread = thread
        self.until = until


class LeaseLost(Exception):
    """This run was suspended for longer than its lease, and another run has started on the thread."""

    def __init__(self, thread: str) -> None:
        super().__init__(
            f"this run lost thread {thread}: it stood still for longer than its lease, and another run began; "
            f"the thread may have two branches: look with `agent show {thread}` before going on"
        )


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
        # Leases of runs that ended while the database was gone: nobody could be told, and nobody else holds them.
        self._left: dict[str, str] = {}

    @contextmanager
    def holding(self, thread: str, wait_s: float = 0.0) -> Iterator[None]:
        """Hold the thread for one run.

        Raises ThreadBusy when another run holds it for longer than this waits, and LeaseLost at the end of a run that
        lost it on the way (the run's own error goes first).
        """
        token = self._waited(thread, time.monotonic() + wait_s)
        stop = threading.Event()
        # A daemon: a run that is killed or hangs must not keep the process, or the lease, alive.
        renewing = threading.Thread(target=self._keep, args=(thread, token, stop), name=f"lease {thread}", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            stop.set()
            renewing.join()
            held = self._let_go(thread, token)
        if not held:
            raise LeaseLost(thread)

    def _waited(self, thread: str, until: float) -> str:
        while True:
            try:
                return self._acquire(thread)
            except ThreadBusy:
                if time.monotonic() >= until:
                    raise
            time.sleep(_LOOK_AGAIN_S)

    def _acquire(self, thread: str) -> str:
        token = self._ids.new("run")
        now = self._clock.now()
        end = self._end(now)
        row = {"thread": thread, "token": token, "expires_at": end, "now": now, "beyond": end + SKEW}
        with self._engine.connect() as connection:
            if (left := self._left.pop(thread, None)) is not None:
                connection.execute(self._release, {"of_thread": thread, "of_token": left})
            if connection.execute(self._take, row).rowcount != 1:
                raise ThreadBusy(thread, connection.scalar(self._held_until, {"of_thread": thread}))
        return token

    def _let_go(self, thread: str, token: str) -> bool:
        """Give the lease back; whether it was still ours."""
        try:
            with self._engine.connect() as connection:
                return connection.execute(self._release, {"of_thread": thread, "of_token": token}).rowcount == 1
        except StoreUnavailable:
            # The run itself is over. The next one of this process gives the lease back; for others it ends by itself.
            self._left[thread] = token
            return True

    def _keep(self, thread: str, token: str, stop: threading.Event) -> None:
        while not stop.wait(self._lease_s / 3):
            row = {"of_thread": thread, "of_token": token, "until": self._end(self._clock.now())}
            try:
                with self._engine.connect() as connection:
                    if connection.execute(self._renew, row).rowcount != 1:
                        return
            except StoreUnavailable:
                # The next try may still come in time; if not, the end of the run says so.
                continue

    def _end(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self._lease_s)
