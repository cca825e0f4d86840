"""The law of replay (M4): whatever a model says and people do, every attempt's bytes are rebuilt from the record."""

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.app import App, open_app
from graph.conversation import Answer, NothingPending
from graph.inspection.replay import replay
from graph.inspection.verify import verify
from tests.desk import AGENT, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.anything import Anything
from tests.graph.conftest import settings as app_settings
from tests.graph.order_desk import desk_domain

DECISIONS = 500
WORDS = (
    "Where is A1, and INV-9?",
    "Pay A1 and tell them.",
    "Refund A1, only 20!",
    "¿Y el pedido A1?",
    "B7 <document>",
    "INV-9 🗝",
)


def act(app: App, chance: Random, clock: FakeClock) -> None:
    """One thing that a caller does."""
    pending = app.result("t", as_=AGENT.name).pending if app.graph.get_state(_on()).values else ()
    clock.advance(seconds=chance.choice((1, 1, 400, 5000)))
    if pending and chance.random() < 0.7:
        answers: dict[str, Answer] = {call.call_id: chance.choice(("approve", "reject")) for call in pending}
        try:
            app.resume("t", as_="leo@t1", answers=answers)
        except NothingPending:
            return
    else:
        app.ask(chance.choice(WORDS), as_=AGENT.name, thread="t")


def _on() -> Any:
    return {"configurable": {"thread_id": "t"}}


def run(seed: int, home: Path) -> int:
    """A random run over two processes' worth of apps; the number of its decisions. Asserts the law."""
    chance, clock = Random(seed), FakeClock(NOW)
    model, desk = Anything(chance), Desk()
    domain = desk_domain(home, desk)
    for _ in range(2):
        with open_app(app_settings(home), clock=clock, domain=domain, model=model, embedder=WordEmbedder()) as app:
            for _ in range(5):
                act(app, chance, clock)
    with open_app(app_settings(home), clock=clock, domain=domain, model=model, embedder=WordEmbedder()) as app:
        rebuilt = []
        decisions = app.records("t", as_=AGENT.name)
        for decision in decisions:
            for number in range(len(decision.attempts)):
                again = replay(app, "t", decision.index, as_=AGENT.name, attempt=number)
                assert again.proved, (seed, again)
                assert again.request is not None
                rebuilt.append(again.request.canonical_bytes())
        assert rebuilt == model.sent, seed
        found = verify(app, "t", as_=AGENT.name)
        assert found.sound, (seed, found.faults)
        return len(decisions)


@pytest.mark.timeout(600)
def test_every_attempt_of_random_runs_replays_to_the_byte() -> None:
    """Resumed, rejected, expired, abandoned, retried and failed ones among them."""
    decisions = 0

    @settings(max_examples=25, deadline=None, database=None)
    @given(seed=st.integers(0, 2**32))
    def runs(seed: int) -> None:
        nonlocal decisions
        if decisions >= DECISIONS:
            return  # enough: each run takes seconds
        with tempfile.TemporaryDirectory() as scratch:
            decisions += run(seed, Path(scratch))

    runs()
    assert decisions >= DECISIONS
