"""The database goes in the middle of a run: what was filed stays, no effect happens twice, the thread goes on."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from sqlalchemy.exc import TimeoutError as PoolTimeout

from graph.app import App
from graph.faults import explained
from graph.result import DecisionShown
from graph.stores import engine
from graph.stores.unavailable import StoreUnavailable
from state.work import Status
from tests.desk import AGENT, Desk
from tests.graph.order_desk import ENDS, OPENS, PLANS, message, order_desk
from tests.graph.weak_line import WeakLine, weak_line
from tests.postgres import terminate

GONE_S = 5.0
REFUND = message(("c1", "refund", {"order": "A1", "amount": 100}))
DONE = [("refund", "A1", "100")]
ON: RunnableConfig = {"configurable": {"thread_id": "T"}}


@pytest.fixture
def line(postgres_url: str) -> Iterator[tuple[WeakLine, str]]:
    with weak_line(postgres_url) as made:
        yield made


def desk_that(when_refunding: Callable[[], None]) -> Desk:
    """A desk where something happens right after the effect, before anybody could write down that it did."""
    desk = Desk()
    refund = desk.tools["refund"].run

    def refunding(context: Any, **given: Any) -> Any:
        result = refund(context, **given)
        when_refunding()
        return result

    desk.replace("refund", refunding)
    return desk


def for_a_while(stop: Callable[[], None], line: WeakLine, seconds: float = GONE_S) -> Callable[[], None]:
    """Something that stops the line, which later is mended by itself."""

    def begin() -> None:
        stop()
        threading.Timer(seconds, line.mend).start()

    return begin


def refunds(app: App, told: list[DecisionShown]) -> Status:
    return app.ask("refund A1", as_=AGENT.name, thread="T", on_decision=told.append).status


@pytest.mark.slow
def test_a_server_that_is_gone_for_five_seconds_ends_the_run_and_loses_nothing(
    tmp_path: Path, line: tuple[WeakLine, str]
) -> None:
    weak, url = line
    desk = desk_that(for_a_while(weak.cut, weak))
    told: list[DecisionShown] = []
    with order_desk(tmp_path, desk, [PLANS, OPENS, REFUND, ENDS, ENDS], database_url=url) as app:
        with pytest.raises(StoreUnavailable, match=r"got .*; allowed: .*; next: start the server") as lost:
            refunds(app, told)
        assert "\n" not in str(lost.value)
        assert (len(told), desk.effects) == (2, DONE)
        assert weak.whole.wait(2 * GONE_S)
        # The same run goes on where it stopped: the claim is there, so the effect is not done again.
        app.graph.invoke(None, ON, context={"principal": AGENT.name})
        records = app.records("T", as_=AGENT.name)
        assert [one.record for one in records][:2] == [one.record for one in told]
        act = records[2]
        assert [(seen.outcome, seen.code) for seen in act.observations] == [("unknown", "claimed_before")]
        assert [effect.state for effect in app.history("T", as_=AGENT.name).effects] == ["unknown"]
        # And so does the thread, at once: the lease that could not be given back holds nobody up.
        assert app.ask("anything else?", as_=AGENT.name, thread="T").status is Status.ANSWERED
        assert desk.effects == DONE


@pytest.mark.slow
def test_a_question_after_the_loss_files_the_lap_that_was_cut_off(tmp_path: Path, line: tuple[WeakLine, str]) -> None:
    weak, url = line
    desk = desk_that(for_a_while(weak.cut, weak, seconds=1))
    with order_desk(tmp_path, desk, [PLANS, OPENS, REFUND, ENDS], database_url=url) as app:
        with pytest.raises(StoreUnavailable):
            refunds(app, [])
        assert weak.whole.wait(2 * GONE_S)
        assert app.ask("what became of it?", as_=AGENT.name, thread="T").status is Status.ANSWERED
        outcomes = [decision.outcome for decision in app.records("T", as_=AGENT.name)]
        assert outcomes == ["plan_requested", "planned", "abandoned", "answered"]
        assert [effect.state for effect in app.history("T", as_=AGENT.name).effects] == ["open"]
        assert desk.effects == DONE


@pytest.mark.slow
def test_a_network_that_stands_still_for_five_seconds_is_waited_for(tmp_path: Path, line: tuple[WeakLine, str]) -> None:
    weak, url = line
    desk = desk_that(for_a_while(weak.hold, weak))
    told: list[DecisionShown] = []
    with order_desk(tmp_path, desk, [PLANS, OPENS, REFUND, ENDS], database_url=url) as app:
        began = time.monotonic()
        assert refunds(app, told) is Status.ANSWERED
        assert time.monotonic() - began > GONE_S
        assert [one.record for one in app.records("T", as_=AGENT.name)] == [one.record for one in told]
        assert desk.effects == DONE


def test_a_server_that_ends_every_connection_is_met_again_within_the_run(tmp_path: Path, postgres_url: str) -> None:
    desk = desk_that(lambda: terminate(postgres_url))
    told: list[DecisionShown] = []
    with order_desk(tmp_path, desk, [PLANS, OPENS, REFUND, ENDS], database_url=postgres_url) as app:
        assert refunds(app, told) is Status.ANSWERED
        assert [one.record for one in app.records("T", as_=AGENT.name)] == [one.record for one in told]
        assert [effect.state for effect in app.history("T", as_=AGENT.name).effects] == ["done"]
        assert desk.effects == DONE


def test_checkpoints_on_a_full_disk_end_the_run_and_lose_nothing(tmp_path: Path) -> None:
    opened: list[App] = []

    def limit(pages: str) -> None:
        saver = opened[0].graph.checkpointer
        assert isinstance(saver, SqliteSaver)
        saver.conn.execute(f"PRAGMA max_page_count={pages}")

    desk = desk_that(lambda: limit("1"))  # below what there is it means: no more than that
    with order_desk(tmp_path, desk, [PLANS, OPENS, REFUND, ENDS, ENDS]) as app:
        opened.append(app)
        with pytest.raises(Exception, match="database or disk is full") as lost:  # the driver's own, from the library
            refunds(app, [])
        fault = explained(lost.value)
        assert fault is not None
        assert "free some space, then try again" in fault.message
        limit("1073741823")
        app.graph.invoke(None, ON, context={"principal": AGENT.name})
        assert [effect.state for effect in app.history("T", as_=AGENT.name).effects] == ["done"]
        assert desk.effects == DONE


def test_a_server_too_busy_for_another_connection_is_one_line(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "POOL_WAIT_S", 0.1)
    database = engine.open_database(postgres_url)
    with ExitStack() as held:
        for _ in range(5):
            held.enter_context(database.durable.connect())
        with pytest.raises(PoolTimeout) as refused:
            database.durable.connect()
    database.close()
    fault = explained(refused.value)
    assert fault is not None
    assert "got no free connection within" in fault.message
