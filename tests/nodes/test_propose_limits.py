"""Limits of the policy hold before a model is asked, and what was not used is given back (X8)."""

from decimal import Decimal
from typing import Any

import pytest

from state.asking import CallTerms
from state.context import ContextManifest, Packed
from state.request import AttemptOutcome, ModelError, Usage
from state.spending import ModelLimits, Price
from tests.desk import SCOPE
from tests.nodes.parts import Parts
from tests.nodes.proposing import counted, proposed, refund, said

TERMS = CallTerms(retries=2, wait_s=10.0, prices={"fake": Price(input=Decimal(2), output=Decimal(8))})
GOOD = refund({"order": "B7"})
OUTPUT = 500  # what a request may be answered with, in tokens


def limited(parts: Parts, **limits: Any) -> Parts:
    parts.policy = parts.policy.model_copy(update={"model_limits": ModelLimits(**limits)})
    return parts


def most(parts: Parts) -> int:
    """What the first attempt may use at most."""
    _, model = proposed(Parts(), GOOD)
    return counted(model) + OUTPUT


@pytest.mark.parametrize("key", ["turn_tokens", "tenant_tokens_per_day"])
def test_a_call_that_would_pass_a_limit_is_not_made(parts: Parts, key: str) -> None:
    wrote, model = proposed(limited(parts, **{key: most(parts) - 1}), GOOD, terms=TERMS)
    assert model.requests == []
    assert wrote.proposal is None
    (attempt,) = wrote.attempts
    assert attempt.outcome.name == "limit_reached"
    assert key in attempt.outcome.detail
    assert (attempt.usage, attempt.cost) == (None, None)
    wrote, model = proposed(limited(Parts(), **{key: most(parts)}), GOOD, terms=TERMS)
    assert len(model.requests) == 1


def test_a_cost_is_bounded_by_the_dearest_the_call_can_be(parts: Parts) -> None:
    dearest = ((most(parts) - OUTPUT) * 2 + OUTPUT * 8) / 1_000_000
    wrote, _ = proposed(limited(parts, turn_cost=dearest * 0.99), GOOD, terms=TERMS)
    assert wrote.attempts[0].outcome.name == "limit_reached"
    wrote, _ = proposed(limited(Parts(), turn_cost=dearest), GOOD, terms=TERMS)
    assert wrote.attempts[0].outcome.name == "proposal"


def test_what_a_reply_did_not_use_is_given_back(parts: Parts) -> None:
    small = said("x").model_copy(update={"usage": Usage(input_tokens=10, output_tokens=5)})
    limited(parts, turn_tokens=2 * most(parts))
    _, model = proposed(parts, small, small, GOOD, terms=TERMS)
    assert len(model.requests) == 3
    assert sum(amount for _, amount in parts.quotas.taken.values()) == 30 + counted(model, 2) + OUTPUT


@pytest.mark.parametrize(
    "unknown", [ModelError(AttemptOutcome(name="unreachable"), passing=True), said("x")], ids=["no reply", "no usage"]
)
def test_what_nobody_reported_stays_taken(parts: Parts, unknown: Any) -> None:
    limited(parts, turn_tokens=2 * most(parts) - 1)
    silent = unknown if isinstance(unknown, ModelError) else unknown.model_copy(update={"usage": Usage()})
    wrote, model = proposed(parts, silent, GOOD, terms=TERMS)
    assert len(model.requests) == 1
    assert wrote.attempts[-1].outcome.name == "limit_reached"


def test_an_attempt_keeps_its_cost_and_both_counts(parts: Parts) -> None:
    reply = GOOD.model_copy(update={"usage": Usage(input_tokens=1_000, output_tokens=100)})
    wrote, model = proposed(parts, reply, terms=TERMS)
    (attempt,) = wrote.attempts
    assert attempt.cost == (1_000 * 2 + 100 * 8) / 1_000_000
    assert attempt.counted_tokens == counted(model)
    assert attempt.difference_tokens == 1_000 - counted(model)


def test_without_a_price_or_a_report_a_cost_is_unknown(parts: Parts) -> None:
    wrote, _ = proposed(parts, GOOD, terms=TERMS)
    assert (wrote.attempts[0].cost, wrote.attempts[0].difference_tokens is None) == (None, False)
    silent = GOOD.model_copy(update={"usage": Usage()})
    wrote, _ = proposed(Parts(), silent, terms=TERMS)
    assert (wrote.attempts[0].cost, wrote.attempts[0].difference_tokens) == (None, None)


def windowed(parts: Parts, room: int) -> Packed:
    """The desk's manifest, whose window leaves so much for a request."""
    packed = parts.manifest()
    assert packed.ref is not None
    manifest = ContextManifest.model_validate_json(parts.get(packed.ref))
    narrow = manifest.model_copy(update={"window_tokens": room + manifest.reserved_output_tokens})
    return Packed(ref=parts.artifacts.put(SCOPE.tenant, narrow.model_dump_json()))


def test_a_correction_that_would_pass_the_window_is_not_sent(parts: Parts) -> None:
    """The request fitted when it was packed; what is added to it afterwards is counted too."""
    room = most(parts) - OUTPUT
    wrote, model = proposed(parts, said("x"), GOOD, packed=windowed(parts, room), terms=TERMS)
    assert [counted(model)] == [room]
    assert [attempt.outcome.name for attempt in wrote.attempts] == ["malformed", "context_too_long"]
    assert f"and the window leaves {room}" in wrote.attempts[-1].outcome.detail
    assert wrote.proposal is None
    assert (wrote.attempts[-1].counted_tokens or 0) > room
    wrote, _ = proposed(parts, said("x"), GOOD, packed=windowed(parts, room + 500), terms=TERMS)
    assert [attempt.outcome.name for attempt in wrote.attempts] == ["malformed", "proposal"]


def test_what_is_not_sent_takes_nothing(parts: Parts) -> None:
    limited(parts, turn_tokens=10_000)
    proposed(parts, GOOD, packed=windowed(parts, 10), terms=TERMS)
    assert parts.quotas.taken == {}


def test_another_mode_that_would_pass_the_window_is_not_asked_for(parts: Parts) -> None:
    room = most(parts) - OUTPUT
    unknown = ModelError(AttemptOutcome(name="unsupported"))
    modes = TERMS.model_copy(update={"modes": ("tools", "json_object")})
    wrote, model = proposed(parts, unknown, GOOD, packed=windowed(parts, room), terms=modes)
    assert len(model.requests) == 1
    told = [(attempt.mode, attempt.outcome.name) for attempt in wrote.attempts]
    assert told == [("tools", "unsupported"), ("json_object", "context_too_long")]
