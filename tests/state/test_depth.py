"""What is stored can be read again: JSON data is nested as deep as every parser behind it takes."""

import json
from typing import Any

import pytest
from pydantic import JsonValue, TypeAdapter

from state.checks.depth import MOST_DEPTH, too_deep

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
