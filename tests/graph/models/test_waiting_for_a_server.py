"""What a server asks to wait for, and runs that are cancelled meanwhile, on the real loop and real HTTP."""

import asyncio

import pytest

from graph.app import App
from graph.inspection.verify import verify
from state.request import Usage
from state.work import Status
from tests.fakes import FakeWaiting
from tests.graph.models.hostile import ESCALATE, QUESTION, TEXT, Open, asked_without_a_thread, story, written
from tests.graph.models.stub_server import Answer, refusal


def waits_s(app: App) -> list[float]:
    assert isinstance(app.ports.waiting, FakeWaiting)
    return app.ports.waiting.waits_s


def test_a_storm_is_waited_out_within_its_bound(opened: Open) -> None:
    app, stub = opened(
        lambda number: refusal(429).with_headers({"Retry-After": "3"}) if number < 3 else written(ESCALATE),
        model_modes=("text",),
        model_retries=2,
        model_wait_s=6.0,
    )
    assert app.ask(QUESTION, as_="ana@acme").status is Status.ESCALATED
    assert len(stub.asked) == 3
    assert waits_s(app) == [3.0, 3.0]


DATE = {"Date": "Wed, 15 Jul 2026 09:30:00 GMT"}


def test_a_date_is_waited_for_by_the_clock_of_the_server_that_named_it(opened: Open) -> None:
    until = {**DATE, "Retry-After": "Wed, 15 Jul 2026 09:30:05 GMT"}
    app, _ = opened(
        lambda number: refusal(503).with_headers(until) if number == 1 else written(ESCALATE), model_modes=("text",)
    )
    assert app.ask(QUESTION, as_="ana@acme").status is Status.ESCALATED
    assert waits_s(app) == [5.0]


@pytest.mark.parametrize(
    "asks",
    [{"Retry-After": "31"}, {**DATE, "Retry-After": "Wed, 15 Jul 2026 09:30:31 GMT"}],
    ids=["in seconds", "as a date"],
)
def test_who_asks_for_more_than_the_budget_is_not_waited_for(opened: Open, asks: dict[str, str]) -> None:
    """Waiting less would be asking too early: the attempt says how long it would have been."""
    app, stub = opened(refusal(429).with_headers(asks), model_modes=("text",), model_wait_s=30.0)
    result = app.ask(QUESTION, as_="ana@acme")
    (attempt,) = result.decisions[-1].attempts
    assert attempt.outcome.name == "rate_limited"
    assert "asks to wait 31 s" in attempt.outcome.detail
    assert (result.status, len(stub.asked), waits_s(app)) == (Status.FAILED, 1, [])


def test_waits_share_one_budget(opened: Open) -> None:
    app, stub = opened(
        refusal(429).with_headers({"Retry-After": "4"}), model_modes=("text",), model_retries=9, model_wait_s=10.0
    )
    assert app.ask(QUESTION, as_="ana@acme").status is Status.FAILED
    assert (len(stub.asked), waits_s(app)) == (3, [4.0, 4.0])


def test_a_run_that_is_cancelled_hangs_up_and_files_nothing(opened: Open) -> None:
    app, stub = opened(Answer({}, pause_s=60.0), model_timeout_s=60.0)

    async def cancelled() -> None:
        run = asyncio.create_task(asked_without_a_thread(app))
        while not stub.asked:
            await asyncio.sleep(0.02)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    found = app.history("t", as_="ana@acme")
    assert (found.status, found.effects) == (Status.FAILED, ())
    assert [decision.attempts for decision in found.decisions] == [()]


def test_a_thread_goes_on_after_a_cancelled_run(opened: Open) -> None:
    """What the cancelled run had begun is filed as given up, and nothing of it is counted as an answer."""
    app, stub = opened(
        lambda number: Answer({}, pause_s=60.0) if number == 1 else written(ESCALATE), **TEXT, model_timeout_s=60.0
    )

    async def cancelled() -> None:
        run = asyncio.create_task(asked_without_a_thread(app))
        while not stub.asked:
            await asyncio.sleep(0.02)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    result = app.ask("And why does it not work now?", as_="ana@acme", thread="t")
    assert (result.status, result.effects) == (Status.ESCALATED, ())
    found = app.history("t", as_="ana@acme")
    assert [(one.turn, one.outcome, story(one.attempts)) for one in found.decisions] == [
        (1, "abandoned", []),
        (2, "escalated", [("text", "proposal")]),
    ]
    assert found.decisions[-1].attempts[0].usage == Usage()
    assert verify(app, "t", as_="ana@acme").faults == ()
