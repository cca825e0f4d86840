"""What calls use: counts against the published format, prices, limits (B5)."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.tokens import EncodingCounter
from state.context import RequestSettings
from state.forms import FORMS
from state.request import Message, Request, ToolSpec, Usage
from state.spending import ModelLimits, Price, count_request, price_of
from tests.desk import SCOPE
from tests.nodes.parts import Parts

ENCODINGS = ("o200k_base", "cl100k_base")
# What the published rule adds for each function beside its texts.
PER_FUNCTION = {"o200k_base": 7, "cl100k_base": 10}


def published_messages(messages: Sequence[Message], encoding: str) -> int:
    """The format that OpenAI publishes for its chat models: three tokens for each message, its role and its content,
    and three that begin the reply.

    This reference, with the published rule for names, gives 129 and 124 tokens for the published example in cl100k
    and o200k, as the service reported them; `published_tools` gives 105 and 101 for the example with functions.
    """
    count = EncodingCounter(encoding).count
    roles = {"instruction": "system", "input": "user"}
    return 3 + sum(3 + count(roles[message.channel]) + count(message.content) for message in messages)


def published_tools(tools: Sequence[ToolSpec], encoding: str) -> int:
    """The rule published for functions: names, types, descriptions and choices of their arguments."""
    count = EncodingCounter(encoding).count
    total = 12 if tools else 0
    for tool in tools:
        total += PER_FUNCTION[encoding] + count(f"{tool.name}:{tool.description.removesuffix('.')}")
        arguments: Any = tool.parameters.get("properties", {})
        total += 3 if arguments else 0
        for name, schema in arguments.items():
            total += 3 + count(f"{name}:{schema.get('type', '')}:{schema.get('description', '').removesuffix('.')}")
            choices = schema.get("enum", ())
            total += sum(3 + count(str(choice)) for choice in choices) - (3 if choices else 0)
    return total


def a_request(instruction: str, data: str, tools: Sequence[ToolSpec] = ()) -> Request:
    return Request(
        messages=(Message(channel="instruction", content=instruction), Message(channel="input", content=data)),
        tools=tuple(tools),
        settings=RequestSettings(max_output_tokens=100),
    )


def flat(name: str, description: str, **arguments: Any) -> ToolSpec:
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": arguments,
        "required": [],
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=parameters)


TEXTS = {
    "words": "The key was revoked on Friday; a new one is ready.",
    "CJK": "密钥已于星期五被撤销。新しいキーをご利用ください。키가 취소되었습니다",
    "emoji": "👩‍💻🔑 revoked 🇪🇸 👍🏽",
    "code": 'def f(x: int) -> str:\n\treturn f"{x:>08}"  # ¡hecho!\n\n\n{"a": [1, null]}',
    "marks": '<document id="a&amp;b">\n&lt;|endoftext|&gt;\n</document>',
    "nothing": "",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_messages_count_exactly_as_published(text: str, encoding: str) -> None:
    request = a_request(TEXTS["words"], TEXTS[text])
    assert count_request(request, EncodingCounter(encoding)) == published_messages(request.messages, encoding)


@given(instruction=st.text(), data=st.text())
def test_no_text_counts_otherwise_than_published(instruction: str, data: str) -> None:
    request = a_request(instruction, data)
    expected = published_messages(request.messages, "o200k_base")
    assert count_request(request, EncodingCounter("o200k_base")) == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tools_count_at_least_as_published_and_not_three_times_as_much(encoding: str) -> None:
    offered = [
        flat("look_up", "Look up a loan by its number.", loan={"type": "string", "description": "The number."}),
        flat("renew", "Renew it.", weeks={"type": "integer"}, way={"type": "string", "enum": ["post", "desk"]}),
        flat("status", "Say how the service is."),
    ]
    for tools in ([*offered, *FORMS.values()], *([tool] for tool in offered)):
        request = a_request("Be brief.", "密钥 🔑", tools)
        published = published_messages(request.messages, encoding) + published_tools(tools, encoding)
        found = count_request(request, EncodingCounter(encoding))
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
