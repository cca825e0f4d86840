"""A run that is stopped past its look at the lease, and goes on when another has its thread, files and does nothing."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.app import App
from graph.inspection.verify import verify
from graph.stores.lease import LeaseLost
from graph.stores.ledger import SqlLedger
from graph.stores.records import SqlDecisionLog
from state.work import Status
from tests.desk import AGENT, Desk
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, OPENS, PLANS, message, order_desk

REFUND = message(("c1", "refund", {"order": "A1", "amount": 100}))
STOPS = {"at its record": (SqlDecisionLog, "append", 3), "at its claim": (SqlLedger, "claim", 1)}
LOST, WENT_ON = 3, 4
CLEAN = multiprocessing.get_context("forkserver")
CLEAN.set_forkserver_preload(["tests.graph.test_stopped_run"])


def desk(home: Path) -> Desk:
    """A desk whose refunds are lines in a file."""
    made = Desk()

    def refund(context: Any, **given: Any) -> Any:
        with (home / "done").open("a") as file:
            file.write("refund\n")
        return given

    made.replace("refund", refund)
    return made


def stands_still(home: Path, database_url: str | None, stop: str) -> None:
    """In a process of its own: a refund, stopped at the end of its third lap or in the midst of it."""
    owner, name, number = STOPS[stop]
    plain: Callable[..., Any] = getattr(owner, name)
    calls = []

    def stopped(*given: Any) -> Any:
        calls.append(name)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGSTOP)
        return plain(*given)

    setattr(owner, name, stopped)
    app = order_desk(home, desk(home), (PLANS, OPENS, REFUND, ENDS), database_url=database_url)
    app._run_lock._lease_s = 0.5
    try:
        app.ask("Refund 100 of A1", as_=AGENT.name, thread="T")
    except LeaseLost:
        os._exit(LOST)
    os._exit(WENT_ON)


def left(app: App) -> tuple[Any, ...]:
    """What runs of the thread filed, claimed and did."""
    done = app.settings.home / "done"
    return (
        app.ports.log.names("t1", "T"),
        app.ports.ledger.rows("t1", "T"),
        done.read_text() if done.exists() else "",
    )


@on_both_engines
@pytest.mark.parametrize("stop", STOPS)
def test_a_stopped_run_whose_thread_another_has_files_and_does_nothing(
    tmp_path: Path, database_url: str | None, stop: str
) -> None:
    with order_desk(tmp_path, desk(tmp_path), (ENDS, ENDS), database_url=database_url) as app:
        child = CLEAN.Process(target=stands_still, args=(tmp_path, database_url, stop))
        child.start()
        try:
            while not (filed := app.ports.log.names("t1", "T")) or len(filed) < 2:
                assert child.is_alive()
            # It is free as soon as the stopped run does not renew its lease.
            with app._run_lock.holding("T", wait_s=60):
                before = left(app)
                assert len(before[0]) == 2
                os.kill(child.pid or 0, signal.SIGCONT)
                child.join(60)
                assert (child.exitcode, left(app)) == (LOST, before)
        finally:
            child.kill()
        assert app.ask("What became of it?", as_=AGENT.name, thread="T").status is Status.ANSWERED
        found = verify(app, "T", as_=AGENT.name)
        assert (found.records, found.branches, found.faults) == (4, 1, ())
