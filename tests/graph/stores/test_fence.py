"""What a node files is filed by the run that holds the thread, or not at all."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from graph.stores.engine import Database
from graph.stores.fence import filing_under
from graph.stores.lease import Lease, LeaseLost
from graph.stores.ledger import SqlLedger
from graph.stores.records import SqlDecisionLog
from graph.stores.run_lock import SqlRunLock
from tests.fakes import NOW, FakeClock, FakeSeal, SequentialIds
from tests.graph.stores.test_ledger import CLAIM
from tests.graph.stores.test_records import record

FILES: dict[str, Callable[[Database], Any]] = {
    "a record": lambda database: SqlDecisionLog(database.everyday).append(record(0, None)),
    "a claim": lambda database: SqlLedger(database.durable, FakeSeal()).claim(CLAIM, NOW).fresh,
}


class Runs:
    """Runs of a thread, each of which stands still until the next one may have it."""

    def __init__(self, database: Database, stack: ExitStack) -> None:
        self.clock, self._stack = FakeClock(), stack
        # Longer than the test, so that nobody renews a lease that is to be over.
        self._lock = SqlRunLock(database.everyday, self.clock, SequentialIds(), lease_s=600)

    def one(self) -> Lease:
        lease = self._lock._taken("T")
        self._stack.callback(lease.end)
        self.clock.advance(601)
        return lease


def kept(database: Database) -> int:
    records = SqlDecisionLog(database.everyday).names("acme", "T")
    return len(records) + len(SqlLedger(database.durable, FakeSeal()).rows("acme", "T"))


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
@pytest.mark.parametrize("is_over", [False, True], ids=["at work", "over"])
def test_a_run_whose_thread_another_took_files_nothing(
    database: Database, files: Callable[[Database], Any], is_over: bool
) -> None:
    with ExitStack() as stack:
        runs = Runs(database, stack)
        stopped, other = runs.one(), runs.one()
        if is_over:
            other.end()
        with filing_under(stopped), pytest.raises(LeaseLost, match="lost thread T"):
            files(database)
        assert kept(database) == 0


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_what_another_filed_is_not_taken_for_what_a_lost_run_filed(
    database: Database, files: Callable[[Database], Any]
) -> None:
    with ExitStack() as stack:
        runs = Runs(database, stack)
        stopped, other = runs.one(), runs.one()
        with filing_under(other):
            files(database)
        with filing_under(stopped), pytest.raises(LeaseLost):
            files(database)
        assert kept(database) == 1


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_a_run_that_stood_still_and_whose_thread_nobody_took_files_once(
    database: Database, files: Callable[[Database], Any]
) -> None:
    with ExitStack() as stack, filing_under(Runs(database, stack).one()):
        first = files(database)
        assert kept(database) == 1
        assert files(database) in (first, False)
        assert kept(database) == 1
