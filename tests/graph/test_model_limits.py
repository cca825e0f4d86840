"""Limits of the policy on model calls, on real stores and real HTTP: what would pass one is not asked."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from graph.app import App, open_app
from graph.domain_loading import load_domain
from graph.models.openai import openai_model
from graph.models.registry import ModelNotConfigured
from graph.result import RunResult
from state.asking import CallTerms
from state.spending import ModelLimits, Price
from state.work import Status
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, on_both_engines, settings
from tests.graph.models.stub_server import Stub, completion, serving, tool_call

QUESTION = "Why is my API key not working?"
USED = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server that hands over to a person, and reports what that took."""
    handing_over = {"tool_calls": [tool_call("escalate", '{"reason": "A person has to look."}')]}
    with serving(completion(handing_over, "tool_calls", usage=USED)) as running:
        yield running


def limited(start: OpenApp, home: Path, stub: Stub, clock: FakeClock | None = None, **limits: Any) -> App:
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    policies = [policy.model_copy(update={"model_limits": ModelLimits(**limits)}) for policy in domain.policies]
    return start(
        model=openai_model("small", base_url=stub.url),
        terms=CallTerms(prices={"small": Price(input=Decimal(2), output=Decimal(8))}),
        domain=replace(domain, policies=tuple(policies)),
        **({} if clock is None else {"clock": clock}),
    )


def story(result: RunResult) -> list[str]:
    return [attempt.outcome.name for decision in result.decisions for attempt in decision.attempts]


@on_both_engines
def test_a_turn_that_would_pass_its_limit_asks_nobody(start: OpenApp, home: Path, stub: Stub) -> None:
    result = limited(start, home, stub, turn_tokens=1_500).ask(QUESTION, as_="ana@acme")
    assert (story(result), stub.asked, result.effects) == (["limit_reached"], [], ())
    assert result.status is Status.FAILED
    assert "turn_tokens" in str(result.error)


def test_a_cost_is_bounded_and_told(start: OpenApp, home: Path, stub: Stub) -> None:
    result = limited(start, home, stub, turn_cost=0.001).ask(QUESTION, as_="ana@acme")
    assert (story(result), stub.asked) == (["limit_reached"], [])
    result = limited(start, home, stub, turn_cost=1.0).ask(QUESTION, as_="ana@acme")
    assert story(result) == ["proposal"]
    assert result.decisions[0].attempts[0].cost == pytest.approx((1_000 * 2 + 100 * 8) / 1_000_000)


PRICED = {"small": {"input": 1, "output": 10}}


@pytest.mark.parametrize(
    ("limits", "prices", "opens"),
    [
        pytest.param({"turn_cost": 1.0}, {}, False, id="a turn's cost"),
        pytest.param({"tenant_cost_per_day": 1.0}, {"large": PRICED["small"]}, False, id="a day's, another's price"),
        pytest.param({"turn_cost": 1.0}, PRICED, True, id="a price"),
        pytest.param({"turn_tokens": 1_500}, {}, True, id="tokens"),
    ],
)
def test_a_cost_is_bounded_only_where_the_model_has_a_price(
    home: Path, stub: Stub, limits: dict[str, Any], prices: dict[str, Any], opens: bool
) -> None:
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    policies = [policy.model_copy(update={"model_limits": ModelLimits(**limits)}) for policy in domain.policies]
    own = settings(home, model="openai", openai_model="small", openai_base_url=stub.url, model_prices=prices)
    with (
        nullcontext() if opens else pytest.raises(ModelNotConfigured, match="small has no price: set EXPEDIENTE_MODEL")
    ):
        open_app(own, domain=replace(domain, policies=tuple(policies))).close()


def most_of_one(start: OpenApp, home: Path, stub: Stub) -> int:
    """What one request of the example can use at most, in tokens, as it is counted before it is sent."""
    app = limited(start, home, stub)
    counted = app.ask(QUESTION, as_="ana@acme").decisions[0].attempts[0].counted_tokens
    assert counted is not None
    stub.asked.clear()
    return counted + app.settings.reserved_output_tokens


def test_a_day_of_a_tenant_is_counted_by_what_was_reported(start: OpenApp, home: Path, stub: Stub) -> None:
    """What a reply did not use is given back; another tenant has its own; the next day begins anew."""
    clock = FakeClock(NOW)
    day = most_of_one(start, home, stub) + 2 * USED["total_tokens"]
    app = limited(start, home, stub, clock, tenant_tokens_per_day=day)
    ended = [story(app.ask(QUESTION, as_="ana@acme")) for _ in range(4)]
    assert ended == [["proposal"], ["proposal"], ["proposal"], ["limit_reached"]]
    assert story(app.ask(QUESTION, as_="omar@globex")) == ["proposal"]
    clock.advance(24 * 60 * 60 + 1)
    assert story(app.ask(QUESTION, as_="ana@acme")) == ["proposal"]


def test_what_a_server_reports_beyond_the_limit_counts(start: OpenApp, home: Path, stub: Stub) -> None:
    """A thinking model may use more than it was given: what was used is used, and the next call is not made."""
    day = 2 * most_of_one(start, home, stub)
    over = {"prompt_tokens": 1_000, "completion_tokens": 10 * day, "total_tokens": 1_000 + 10 * day}
    handing_over = {"tool_calls": [tool_call("escalate", '{"reason": "A person has to look."}')]}
    with serving(completion(handing_over, "tool_calls", usage=over)) as greedy:
        app = limited(start, home, greedy, tenant_tokens_per_day=day)
        assert [story(app.ask(QUESTION, as_="ana@acme")) for _ in range(2)] == [["proposal"], ["limit_reached"]]
        assert len(greedy.asked) == 1


def test_runs_at_once_share_what_their_tenant_has_left(start: OpenApp, home: Path, stub: Stub) -> None:
    """What a call can use at most is taken before it, in one transaction: two apps on one database take it once."""
    day = most_of_one(start, home, stub)
    apps = [limited(start, home, stub, tenant_tokens_per_day=day) for _ in range(2)]
    with ThreadPoolExecutor(4) as crowd:
        results = list(crowd.map(lambda number: apps[number % 2].ask(QUESTION, as_="ana@acme"), range(4)))
    assert sorted(story(result) for result in results) == [*[["limit_reached"]] * 3, ["proposal"]]
    assert len(stub.asked) == 1
