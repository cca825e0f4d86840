"""Domains with random names through the whole engine: the same loop, the same gates, the offline model."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from graph.app import App, open_app
from state.work import Status
from tests.domains.random_desk import SEED, Desk, random_desk
from tests.domains.random_names import Names
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, settings

SEEDS = (7, 23)


class Running:
    """An app on a random desk."""

    def __init__(self, app: App, desk: Desk) -> None:
        self.app, self.desk = app, desk


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed {seed}")
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    desk = Desk(Names(request.param))
    with ExitStack() as stack:
        domain = random_desk(desk, tmp_path / "domain")
        app = open_app(settings(tmp_path / "home"), domain=domain, clock=FakeClock(NOW))
        yield Running(stack.enter_context(app), desk)


def test_a_question_is_answered_from_a_read_and_the_document(running: Running) -> None:
    result = running.app.ask(running.desk.question, as_="mia@one")
    assert result.status is Status.ANSWERED
    assert [decision.kind for decision in result.decisions] == ["gather", "answer"]
    assert result.answer is not None
    assert running.desk.state in result.answer.text
    assert running.desk.section in result.answer.sources
    assert "Ignore" not in result.answer.text
    assert running.desk.changed == []


def test_a_wish_reads_first_then_waits_for_a_person_then_is_done_once(running: Running) -> None:
    waiting = running.app.ask(running.desk.wish, as_="mia@one", thread="t")
    assert waiting.status is Status.NEEDS_APPROVAL
    assert [decision.kind for decision in waiting.decisions] == ["gather", "plan", "gather", "act"]
    (call,) = waiting.pending
    result = running.app.resume("t", as_="mia@one", answers={call.call_id: "approve"})
    assert result.status is Status.ANSWERED
    assert running.desk.changed == [running.desk.item_id]


def test_a_rejected_wish_is_not_done_and_the_answer_says_so(running: Running) -> None:
    (call,) = running.app.ask(running.desk.wish, as_="mia@one", thread="t").pending
    result = running.app.resume("t", as_="mia@one", answers={call.call_id: "reject"})
    assert result.status is Status.ANSWERED
    assert result.answer is not None
    assert "Not done:" in result.answer.text
    assert running.desk.changed == []


def test_the_setting_names_the_domain(tmp_path: Path) -> None:
    desk = Desk(Names(SEED))
    with open_app(settings(tmp_path, domain="tests.domains.random_desk"), clock=FakeClock(NOW)) as app:
        result = app.ask(desk.question, as_="mia@one")
    assert result.status is Status.ANSWERED
