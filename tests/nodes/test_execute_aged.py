"""execute and time (L7): between a verdict and its call lies one checkpoint, unless the process died there."""

from typing import Any

import pytest

from nodes.execute import VERDICT_TTL_S
from state.verdict import Allowed
from tests.desk import AGENT, SCOPE
from tests.fakes import NOW
from tests.nodes.executing import REFUND, allowed, executed
from tests.nodes.parts import Parts

STRIPPED = SCOPE.model_copy(update={"principal": AGENT.model_copy(update={"roles": ("guest",)})})


def verdict(parts: Parts) -> Allowed:
    return allowed(parts, "refund", REFUND).model_copy(update={"at": NOW})


def run(parts: Parts, **given: Any) -> Any:
    (seen,) = executed(parts, parts.act(("c1", "refund", REFUND)), verdict(parts), **given)
    return seen


@pytest.mark.parametrize(("seconds", "outcome"), [(0, "ok"), (VERDICT_TTL_S, "ok"), (VERDICT_TTL_S + 1, "error")])
def test_an_old_verdict_runs_nothing(parts: Parts, seconds: int, outcome: str) -> None:
    parts.clock.advance(seconds)
    seen = run(parts)
    assert (seen.outcome, seen.code) == (outcome, None if outcome == "ok" else "verdict_expired")
    assert len(parts.desk.effects) == (outcome == "ok")
    assert len(parts.ledger.held) == (outcome == "ok")


def test_a_right_that_was_taken_away_since_runs_nothing(parts: Parts) -> None:
    seen = run(parts, scope=STRIPPED)
    assert (seen.outcome, seen.code, parts.desk.effects) == ("error", "role_not_allowed", [])


def test_what_was_begun_in_time_is_finished_whenever_the_process_comes_back(parts: Parts) -> None:
    run(parts)
    parts.clock.advance(30 * 86_400)
    seen = run(parts)
    assert (seen.outcome, len(parts.desk.effects)) == ("ok", 1)
