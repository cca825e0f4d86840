"""One run per thread at a time: across threads and processes, and after a kill."""

import multiprocessing
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import select, update

from graph.clock import RandomIds, SystemClock
from graph.stores.engine import Database, open_database
from graph.stores.lease import LeaseLost, ThreadBusy
from graph.stores.run_lock import SqlRunLock
from graph.stores.schema import run_leases
from tests.fakes import FakeClock, SequentialIds


def lock_on(database: Database) -> SqlRunLock:
    return SqlRunLock(database.everyday, SystemClock(), RandomIds())


def ends(database: Database) -> datetime:
    """When the lease of the one held thread ends."""
    with database.everyday.connect() as connection:
        end: datetime = connection.execute(select(run_leases.c.expires_at)).scalar_one()
    return end


def assert_busy(lock: SqlRunLock) -> None:
    told = "thread T has another run; allowed: one at a time; try again when it is done (if it was killed: after "
    with pytest.raises(ThreadBusy, match=re.escape(told)), lock.holding("T"):
        pytest.fail("two runs at once")


def test_a_second_run_is_refused_until_the_first_is_over(database: Database) -> None:
    first, second = lock_on(database), lock_on(database)
    with first.holding("T"):
        assert_busy(second)
        with second.holding("U"):
            pass
    with second.holding("T"):
        pass


def test_a_failed_run_gives_the_thread_back(database: Database) -> None:
    lock = lock_on(database)
    with pytest.raises(ZeroDivisionError), lock.holding("T"):
        raise ZeroDivisionError
    with lock.holding("T"):
        pass


def test_a_long_run_keeps_its_lease(database: Database) -> None:
    clock = FakeClock()
    lock = SqlRunLock(database.everyday, clock, SequentialIds(), lease_s=0.3)
    with lock.holding("T"):
        for _ in range(4):
            clock.advance(0.25)
            patience = time.monotonic() + 30
            while ends(database) != clock.now() + timedelta(seconds=0.3):
                assert time.monotonic() < patience, "the lease was not renewed"
                time.sleep(0.01)
            assert_busy(lock)


def test_of_many_runs_one_starts(database: Database) -> None:
    lock, others_refused = lock_on(database), threading.Semaphore(0)

    def run(_: int) -> bool:
        try:
            with lock.holding("T"):
                return all(others_refused.acquire(timeout=30) for _ in range(7))
        except ThreadBusy:
            others_refused.release()
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(run, range(8))) == [False] * 7 + [True]


def test_an_expired_lease_is_free(database: Database) -> None:
    clock = FakeClock()
    lock = SqlRunLock(database.everyday, clock, SequentialIds(), lease_s=30)
    slow = lock.holding("T")
    slow.__enter__()
    clock.advance(29)
    assert_busy(lock)
    clock.advance(2)
    with lock.holding("T"):
        pass
    # The first run stood still for longer than its lease: another began, and it learns of that.
    with pytest.raises(LeaseLost, match="agent show T"):
        slow.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("back_s", "stale"),
    [
        pytest.param(1, False, id="a second: two machines may differ so much"),
        pytest.param(60, False, id="a minute"),
        pytest.param(61, True, id="more than a minute"),
        pytest.param(86_400, True, id="a day"),
    ],
)
def test_a_lease_from_before_the_clock_was_set_back_does_not_block_for_long(
    database: Database, back_s: int, stale: bool
) -> None:
    clock = FakeClock()
    lock = SqlRunLock(database.everyday, clock, SequentialIds(), lease_s=30)
    before = lock.holding("T")
    before.__enter__()
    clock.advance(-back_s)
    if stale:
        with lock.holding("T"):
            pass
        with pytest.raises(LeaseLost):
            before.__exit__(None, None, None)
    else:
        assert_busy(lock)
        before.__exit__(None, None, None)


def test_a_lost_lease_does_not_hide_the_runs_own_error(database: Database) -> None:
    slow = lock_on(database).holding("T")
    slow.__enter__()
    with database.everyday.connect() as connection:
        connection.execute(update(run_leases).values(token="another run"))
    assert slow.__exit__(ZeroDivisionError, ZeroDivisionError(), None) is False  # it passes on
    with database.everyday.connect() as connection:
        assert connection.scalar(select(run_leases.c.token)) == "another run"


def test_a_run_that_could_not_renew_its_lease_asks_for_it_before_it_goes_on(database: Database) -> None:
    class Deaf(SqlRunLock):
        """No renewal comes through."""

        def _keep(self) -> None:
            pass

    lock = Deaf(database.everyday, FakeClock(), SequentialIds(), lease_s=0.2)
    slow = lock.holding("T")
    lease = slow.__enter__()
    time.sleep(0.3)
    lease.require()  # nobody took it
    with database.everyday.connect() as connection:
        connection.execute(update(run_leases).values(token="another run"))
    lease.require()  # it was just renewed: whoever takes it before its end takes a stale clock for one
    time.sleep(0.3)
    with pytest.raises(LeaseLost, match="another run began; it ends here"):
        lease.require()
    with lock.holding("U") as other:
        other.require()  # another thread's run of the same process is not asked for this one
    with pytest.raises(LeaseLost):
        slow.__exit__(None, None, None)


@pytest.mark.parametrize("lease_s", [0, -1])
def test_a_lease_must_be_positive(lease_s: float, database: Database) -> None:
    with pytest.raises(ValueError, match="positive"):
        SqlRunLock(database.everyday, SystemClock(), RandomIds(), lease_s)


def _hold(target: Path | str, ready: Connection) -> None:
    """In a process of its own: take the thread and never come back."""
    with lock_on(open_database(target)).holding("T"):
        ready.send("holding")
        time.sleep(600)


def test_a_killed_run_blocks_its_thread_for_one_lease(target: Path | str) -> None:
    database = open_database(target)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_hold, args=(target, theirs))
    process.start()
    try:
        assert ours.poll(60)
        process.kill()
        process.join()
        clock = FakeClock(ends(database))
        lock = SqlRunLock(database.everyday, clock, RandomIds())
        clock.advance(-1)
        assert_busy(lock)
        clock.advance(2)
        with lock.holding("T"):
            pass
    finally:
        process.kill()
        process.join()
        ours.close()
        theirs.close()
        database.close()
