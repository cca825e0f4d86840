"""What is stored can be read again: JSON data is nested as deep as every parser behind it takes."""

import json
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import JsonValue, TypeAdapter

from state.checks.depth import MOST_DEPTH, MOST_PARTS, not_carried, too_deep

JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


def nested(depth: int, *, lists: bool = False) -> Any:
    made: Any = "end"
    for _ in range(depth):
        made = [made] if lists else {"in": made}
    return made


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize(
    ("depth", "deep"), [(0, False), (1, False), (MOST_DEPTH, False), (MOST_DEPTH + 1, True), (100_000, True)]
)
def test_the_depth_is_told_however_deep_it_is(depth: int, lists: bool, deep: bool) -> None:
    assert too_deep(nested(depth, lists=lists)) is deep


def test_what_contains_itself_is_too_deep_and_what_stands_twice_is_not() -> None:
    endless: dict[str, Any] = {}
    endless["in"] = endless
    assert too_deep(endless)
    twice = [{"a": 1}] * 1_000
    assert not too_deep([twice] * 1_000)


def test_what_is_not_too_deep_is_read_back_with_all_that_stands_around_it() -> None:
    text = json.dumps(nested(MOST_DEPTH))
    assert JSON.validate_json(f"[[[[[[[[{text}]]]]]]]]")


def ring() -> Any:
    endless: list[Any] = []
    endless.append({"in": endless})
    return endless


def doubled() -> Any:
    """Thirty lists, and as JSON a thousand million."""
    made: Any = ["end"]
    for _ in range(30):
        made = [made, made]
    return made


NOT_CARRIED: dict[str, tuple[Any, str]] = {
    "a ring": (ring(), "are nested more than 32 deep"),
    "too deep": (nested(100_000), "are nested more than 32 deep"),
    "what holds itself": (doubled(), f"have more than {MOST_PARTS:,} parts"),
    "too many": ([0] * MOST_PARTS, f"have more than {MOST_PARTS:,} parts"),
    "a number of 5000 digits": ([10**5000], "hold a number that is not finite, or has more than 64 bits"),
    "2**64": ([2**64], "hold a number that is not finite, or has more than 64 bits"),
    "-2**63 - 1": ([-(2**63) - 1], "hold a number that is not finite, or has more than 64 bits"),
    "infinity": ([float("inf")], "hold a number that is not finite, or has more than 64 bits"),
    "half a character": (["a\ud800"], "hold half a character"),
    "half a name": ({"\udfff": 1}, "hold half a character"),
    "a number for a name": ({1: 1}, "are not JSON"),
    "a set": ([{5}], "are not JSON"),
    "bytes": ([b"x"], "are not JSON"),
    "an object": (object(), "are not JSON"),
}


@pytest.mark.parametrize(("value", "why"), NOT_CARRIED.values(), ids=NOT_CARRIED.keys())
def test_what_no_store_carries_is_told_at_once(value: Any, why: str) -> None:
    assert not_carried(value) == why


@pytest.mark.parametrize(
    "value", [None, True, 2**64 - 1, -(2**63), 1.5, "ñ 👍", nested(MOST_DEPTH), {"a": (1, [2])}, [0] * (MOST_PARTS - 1)]
)
def test_what_a_checkpoint_and_json_carry_is_carried(value: Any) -> None:
    assert not_carried(value) is None
    serde = JsonPlusSerializer()
    assert serde.loads_typed(serde.dumps_typed(json.loads(json.dumps(value)))) == json.loads(json.dumps(value))
