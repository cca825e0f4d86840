"""What a tool may remember: an argument that its contract declares as a memory, and whose words it is."""

from typing import Any

import pytest
from pydantic import JsonValue

from state.checks.quote import quoted
from state.labels import Argument
from state.tools import ToolContext
from tests.desk import AGENT
from tests.nodes.executing import allowed, executed
from tests.nodes.parts import QUESTION, Parts

GIVEN: dict[str, JsonValue] = {"order": "A1", "amount": 50, "note": QUESTION}


def called(parts: Parts, arguments: dict[str, Argument], reversible: bool = False) -> str | None:
    """Have a refund remember its note and forget a topic; the code it ends with."""

    def refund(context: ToolContext, **given: Any) -> dict[str, Any]:
        context.forget_memories("contact")
        context.remember("contact", "note")
        return {"order": "A1"}

    parts.desk.replace("refund", refund, arguments=arguments, reversible=reversible)
    calls = parts.act(("c1", "refund", quoted(GIVEN, {parts.turn_ref: QUESTION})))
    (seen,) = executed(parts, calls, allowed(parts, "refund", GIVEN))
    return seen.code


def test_the_keeper_is_told_where_the_words_stand_and_its_refusal_is_the_tools_code(parts: Parts) -> None:
    assert called(parts, {"note": Argument(role="memory")}) == "weaker_source"
    ((who, about, text, quote, _),) = parts.memories.given
    assert (who, about, text) == (AGENT.name, "contact", QUESTION)
    assert quote is not None
    assert (quote.ref, quote.start, quote.end) == (parts.turn_ref, 0, len(QUESTION))
    assert parts.memories.forgotten == [(AGENT.name, "contact")]


@pytest.mark.parametrize(
    ("arguments", "reversible", "forgotten"),
    [
        pytest.param({}, False, 1, id="an argument that is no memory"),
        pytest.param({"note": Argument(role="memory")}, True, 0, id="forgetting by what can be put back"),
    ],
)
def test_what_the_contract_does_not_declare_is_not_kept_or_forgotten(
    parts: Parts, arguments: dict[str, Argument], reversible: bool, forgotten: int
) -> None:
    assert called(parts, arguments, reversible) == "tool_failed:MemoryNotDeclared"
    assert (parts.memories.given, len(parts.memories.forgotten)) == ([], forgotten)
