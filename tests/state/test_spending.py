"""What calls use: counts against the published format, prices, limits (B5)."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graph.tokens import EncodingCounter
from state.request import Usage
from state.spending import ModelLimits, Price, count_request, price_of
from tests.desk import SCOPE
from tests.nodes.parts import Parts
from tests.state.published import ENCODINGS, FILE, TEXTS, TOOLS, a_request, of_messages

PUBLISHED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("case", TEXTS)
def test_messages_count_exactly_as_published(case: str, encoding: str) -> None:
    found = count_request(a_request(TEXTS[case]), EncodingCounter(encoding))
    assert found == PUBLISHED[encoding]["messages"][case]


@given(text=st.text())
def test_no_text_counts_otherwise_than_by_the_published_format(text: str) -> None:
    """The format alone: what a text counts is the tokenizer's, which the reference holds against another one."""
    counter = EncodingCounter("o200k_base")
    request = a_request(text)
    assert count_request(request, counter) == of_messages(request.messages, counter.count)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("case", TOOLS)
def test_tools_count_at_least_as_published_and_not_three_times_as_much(case: str, encoding: str) -> None:
    found = count_request(a_request("", TOOLS[case]), EncodingCounter(encoding))
    published = PUBLISHED[encoding]["tools"][case]
    assert published <= found + 12, "the rule's end of the list is not counted"
    assert found <= 3 * published


PRICE = Price(input=Decimal("2"), cached=Decimal("0.5"), output=Decimal("8"))


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(input_tokens=1_000_000, output_tokens=0), 2.0),
        (Usage(input_tokens=1_000_000, output_tokens=500_000, cached_tokens=400_000), 5.4),
        (Usage(input_tokens=10, output_tokens=0, cached_tokens=1_000_000), 0.000005),
        (Usage(input_tokens=0, output_tokens=0), 0.0),
        (Usage(input_tokens=10), None),
        (Usage(), None),
    ],
)
def test_a_call_costs_what_was_reported(usage: Usage, cost: float | None) -> None:
    assert PRICE.cost(usage) == cost


@given(
    spent=st.integers(0, 10**6), cached=st.integers(0, 10**6), output=st.integers(0, 10**5), room=st.integers(0, 10**5)
)
def test_no_call_costs_more_than_its_most(spent: int, cached: int, output: int, room: int) -> None:
    cost = PRICE.cost(Usage(input_tokens=spent, cached_tokens=cached, output_tokens=output))
    assert cost is not None
    assert cost <= PRICE.most(spent, output + room)


def test_a_price_is_found_by_the_servers_name() -> None:
    assert price_of({"small": PRICE}, "openai:small") == PRICE
    assert price_of({"openai:small": PRICE}, "openai:small") == PRICE
    assert price_of({"small": PRICE}, "openai:large") is None


def test_limits_bound_turns_and_days_and_nothing_unless_they_are_set() -> None:
    request = Parts().request()
    assert ModelLimits().bounds(SCOPE, request, 10, 0.5) == ()
    limits = ModelLimits(turn_tokens=100, turn_cost=1.0, tenant_tokens_per_day=1_000, tenant_cost_per_day=9.0)
    found = limits.bounds(SCOPE, request, 10, 0.5)
    assert [(bound.policy_key, bound.most, bound.amount) for bound in found] == [
        ("turn_tokens", 100, 10),
        ("turn_cost", 1.0, 0.5),
        ("tenant_tokens_per_day", 1_000, 10),
        ("tenant_cost_per_day", 9.0, 0.5),
    ]
    assert [bound.since for bound in found] == [None, None, *[request.now - timedelta(days=1)] * 2]
    assert [bound.policy_key for bound in limits.bounds(SCOPE, request, 10, None)] == [
        "turn_tokens",
        "tenant_tokens_per_day",
    ]


@pytest.mark.parametrize("price", ["1e400", "-1", "NaN", "Infinity"])
def test_a_price_is_a_number_that_a_cost_can_be_made_of(price: str) -> None:
    for field in ("input", "output", "cached"):
        with pytest.raises(ValidationError):
            Price.model_validate({"input": "1", "output": "1", field: price})
