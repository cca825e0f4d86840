"""Schemas of tools are closed, look nowhere else and end; others may have written them (S7, H18)."""

import time
from typing import Any

import pytest
from pydantic import ValidationError
from referencing.exceptions import Unresolvable

from state.checks.schema import validator
from state.contract import Effect, OutputField, ToolContract

TEXT: dict[str, Any] = {"type": "string"}
CLOSED: dict[str, Any] = {"type": "object", "properties": {"x": TEXT}, "additionalProperties": False}
OPEN: dict[str, Any] = {"type": "object", "properties": {"x": TEXT}}


def parameters(of: Any, **more: Any) -> dict[str, Any]:
    """The parameters of a tool with one argument."""
    return {"type": "object", "properties": {"a": of}, "additionalProperties": False, **more}


def contract(schema: dict[str, Any]) -> ToolContract:
    return ToolContract(name="look", description="d", effect=Effect.READ, parameters=schema, roles=(), output=())


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "additionalProperties": False}, id="no argument"),
        pytest.param(parameters(CLOSED), id="a closed object"),
        pytest.param(parameters({"$ref": "#/$defs/A"}, **{"$defs": {"A": CLOSED}}), id="a definition"),
        pytest.param(parameters({"anyOf": [CLOSED, {"type": "null"}]}), id="or nothing"),
        pytest.param(parameters({"allOf": [OPEN, CLOSED]}), id="one of all closes it"),
        pytest.param(parameters({"type": "array", "items": TEXT}), id="a list"),
        pytest.param(parameters({"enum": [1, "b"]}), id="a choice"),
        pytest.param(parameters({**TEXT, "pattern": "^A-[0-9]{3}$", "format": "date"}), id="a form"),
        pytest.param(parameters(TEXT, **{"$schema": "http://json-schema.org/draft-07/schema#"}), id="notes"),
    ],
)
def test_a_closed_schema_is_taken_as_it_is(schema: dict[str, Any]) -> None:
    assert contract(schema).parameters == schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        pytest.param({}, "got parameters that are no object", id="nothing said"),
        pytest.param(OPEN, "got an open object at #", id="open parameters"),
        pytest.param(parameters(OPEN), "got an open object at #/properties/a", id="an open object"),
        pytest.param(parameters({"type": "object"}), "got an open object at #/properties/a", id="one of no properties"),
        pytest.param(parameters({"type": ["string", "object"]}), "got an open object", id="a text or an open object"),
        pytest.param(parameters({}), "got anything at #/properties/a", id="anything"),
        pytest.param(parameters(True), "got anything at #/properties/a", id="true"),
        pytest.param(parameters({"type": "array"}), "got anything at #/properties/a/items", id="a list of anything"),
        pytest.param(parameters({"allOf": [OPEN]}), "got an open object at #/properties/a/allOf/0", id="all of"),
        pytest.param(parameters({"anyOf": [TEXT, OPEN]}), "got an open object at #/properties/a/anyOf/1", id="any of"),
        pytest.param(parameters({"$ref": "#/$defs/A"}, **{"$defs": {"A": OPEN}}), "got an open object", id="by ref"),
        pytest.param(
            parameters({**CLOSED, "patternProperties": {".*": {}}}), "got patternProperties at", id="by pattern"
        ),
        pytest.param(parameters({**TEXT, "if": {}, "then": {}}), "got if at #/properties/a", id="by condition"),
        pytest.param(parameters({"$ref": "http://127.0.0.1:9/s.json"}), "got $ref 'http:", id="from a server"),
        pytest.param(parameters({"$ref": "file:///etc/passwd"}), "got $ref 'file:", id="from a file"),
        pytest.param(parameters({"$ref": "#/nowhere"}), "got $ref '#/nowhere'", id="from nowhere"),
        pytest.param(
            parameters({"$ref": "#/$defs/B"}, **{"$defs": {"A": TEXT}}), "got $ref '#/$defs/B'", id="not there"
        ),
        pytest.param(parameters(TEXT, **{"$id": "http://127.0.0.1:9/"}), "got $id at #", id="a base elsewhere"),
        pytest.param(
            parameters({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}}), "back to itself", id="a ring"
        ),
        pytest.param(
            parameters(
                {"$ref": "#/$defs/A0"},
                **{"$defs": {f"A{n}": {"anyOf": [{"$ref": f"#/$defs/A{n + 1}"}] * 3} for n in range(9)} | {"A9": TEXT}},
            ),
            "more than 2,000 parts",
            id="one that multiplies",
        ),
        pytest.param(parameters({"type": "strnig"}), "got no JSON schema", id="a type that is none"),
        pytest.param(
            parameters({**TEXT, "description": "a\u200bb"}),
            "got characters that nobody sees at #/properties/a/description",
            id="a hidden note",
        ),
        pytest.param(
            parameters({"enum": ["a", "b\U000e0041"]}),
            "got characters that nobody sees at #/properties/a/enum/1",
            id="a hidden choice",
        ),
        pytest.param(
            parameters(TEXT, **{"$defs": {"A\u202e": TEXT}}),
            "got characters that nobody sees at the name of a part of #/$defs",
            id="a hidden name",
        ),
        pytest.param(parameters({**TEXT, "pattern": "(["}), "at #/properties/a", id="a pattern that is none"),
        pytest.param(parameters({**TEXT, "pattern": "^(a+)+$"}), "got pattern '^(a+)+$'", id="a pattern without end"),
    ],
)
def test_one_that_is_open_or_unsafe_makes_no_contract(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError) as refused:
        contract(schema)
    (error,) = refused.value.errors()
    assert (error["loc"], why in error["msg"], "\n" in error["msg"]) == (("parameters",), True, False), error["msg"]


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "http://127.0.0.1:9/s.json"}, {"$ref": "#/$defs/A", "$defs": {"A": TEXT}}, {"pattern": "^(a+)+$"}],
)
def test_the_schema_of_a_result_is_as_safe_and_refers_to_nothing(schema: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="json_schema"):
        OutputField(name="x", json_schema=schema)


def test_what_a_result_may_hold_can_stay_open() -> None:
    assert OutputField(name="x", json_schema={"type": "object"}).json_schema == {"type": "object"}


def test_a_description_that_nobody_sees_whole_makes_no_contract() -> None:
    with pytest.raises(ValidationError, match="got a description with characters that nobody sees"):
        ToolContract(
            name="look", description="Look.\u2062", effect=Effect.READ, parameters=parameters(TEXT), roles=(), output=()
        )


@pytest.mark.parametrize(
    ("value", "unique"),
    [
        ([], True),
        ([1, "1", True, None, [1], {"a": 1}], True),
        ([1, 1.0], False),
        ([{"a": 1, "b": [2.0]}, {"b": [2], "a": 1}], False),
        ([0, False, "", None], True),
        ([1, "a", 1], False),
    ],
)
def test_items_are_unique_as_json_tells_them_apart(value: list[Any], unique: bool) -> None:
    assert validator({"uniqueItems": True}).is_valid(value) is unique
    assert validator({"uniqueItems": False}).is_valid(value)


def test_unique_items_are_told_in_time_that_grows_with_them() -> None:
    """Items of two types cannot be sorted; the library would compare 200 million pairs."""
    many: list[Any] = [[number, str(number)] if number % 2 else {"a": number} for number in range(20_000)]
    began = time.process_time()
    assert validator({"uniqueItems": True}).is_valid(many)
    assert time.process_time() - began < 5


def test_a_validator_fetches_nothing() -> None:
    with pytest.raises(Unresolvable):
        validator({"$ref": "http://127.0.0.1:9/schema.json"}).is_valid(1)
