"""Retention (X7): what the policy record no longer keeps is forgotten, by kind; what is still used stays."""

from pathlib import Path
from typing import Any

import pytest

from graph.stores.artifacts import SqlArtifacts
from state.policy import Policy, Retention
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, on_both_engines
from tests.graph.erasing import OWN, SHARED, holding, memory, untouched


def keeping(policy: Policy, **days: int | None) -> Policy:
    return policy.model_copy(update={"retention": Retention(**days)})


@on_both_engines
def test_what_is_past_its_time_goes_and_the_rest_stays(start: OpenApp, home: Path, database_url: str | None) -> None:
    clock = FakeClock(NOW)
    app = start(clock=clock)
    app.ask(OWN, as_="ana@acme", thread="old")
    app.ask(OWN.replace("zanzibar", "havana"), as_="bea@acme", thread="used")
    app.ports.memory.add(memory("acme", "U-1", "tangier"))
    clock.advance(60 * 86_400)
    app.ask(SHARED, as_="bea@acme", thread="used")
    clock.advance(31 * 86_400)
    policy = keeping(app.identity.policy(), conversation_days=90, memory_days=90)
    assert not app.forgetting.expired(keeping(policy), clock.now(), dry_run=True).threads
    done = app.forgetting.expired(policy, clock.now())
    assert done.threads == ("old",)
    assert holding("zanzibar", home, database_url) == holding("tangier", home, database_url) == []
    assert holding("havana", home, database_url)
    untouched(app, "used", "bea@acme")
    assert app.forgetting.expired(policy, clock.now()).nothing


def test_an_expiry_that_is_cut_off_is_finished_by_the_next(
    start: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock(NOW)
    app = start(clock=clock)
    app.ask(OWN, as_="ana@acme", thread="old")
    clock.advance(91 * 86_400)
    policy = keeping(app.identity.policy(), conversation_days=90)

    def cut_off(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SqlArtifacts, "erase", cut_off)
        with pytest.raises(KeyboardInterrupt):
            app.forgetting.expired(policy, clock.now())
    app.forgetting.expired(policy, clock.now())
    assert holding("zanzibar", home, None) == []
