"""What a JSON schema says of one value: which types it admits, and whether a found value is one of them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import JsonValue

from state.checks.schema import validator


def alternatives(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The plain schemas that a value may follow: unions and references resolved, null left out."""
    if "$ref" in schema:
        yield from alternatives(definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), definitions)
    elif "anyOf" in schema or "oneOf" in schema:
        for inner in schema.get("anyOf") or schema["oneOf"]:
            # What describes a union describes each of its members.
            yield from alternatives({"description": schema.get("description", ""), **inner}, definitions)
    elif schema.get("type") != "null":
        yield schema


def choices(schema: dict[str, Any]) -> list[JsonValue]:
    """The values between which a schema lets one choose; empty where it names none."""
    named: list[JsonValue] = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return named


def is_text(schemas: Iterable[dict[str, Any]]) -> bool:
    """Whether a value is free text: no form and no choice tells it from any other sentence."""
    plain = [schema for schema in schemas if schema.get("type") == "string"]
    return bool(plain) and not any({"pattern", "enum", "const", "format"} & schema.keys() for schema in plain)


def takes_numbers(schemas: Iterable[dict[str, Any]]) -> bool:
    """Whether a value may be any number."""
    return any(schema.get("type") in ("integer", "number") and "enum" not in schema for schema in schemas)


def as_type(value: JsonValue, schemas: Iterable[dict[str, Any]]) -> JsonValue:
    """The value as the first schema that it fits wants it, or None when it fits none."""
    return next((fitting for schema in schemas if (fitting := _as_type(value, schema)) is not None), None)


def _as_type(value: JsonValue, schema: dict[str, Any]) -> JsonValue:
    typed: JsonValue
    match schema.get("type"):
        case "string" | None:
            typed = value if isinstance(value, str) else None
        case "integer" | "number" as wanted:
            digits = re.fullmatch(r"(-?\d{1,18})(\.\d+)?", str(value))
            whole = digits is not None and not (digits[2] or "").strip(".0")
            typed = None if digits is None else int(digits[1]) if whole else float(digits[0])
            typed = None if wanted == "integer" and isinstance(typed, float) else typed
        case "boolean":
            typed = {"true": True, "false": False}.get(str(value).lower())
        case _:
            typed = None
    return typed if typed is not None and _fits(typed, schema) else None


def _fits(value: JsonValue, schema: dict[str, Any]) -> bool:
    """Whether a value keeps the schema's choices and bounds. Its pattern has to cover the whole of it."""
    if "pattern" in schema and not (isinstance(value, str) and matches(schema["pattern"], value)):
        return False
    return validator({key: said for key, said in schema.items() if key != "pattern"}).is_valid(value)


def matches(pattern: str, value: str) -> bool:
    """Whether a whole value follows a pattern."""
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return False  # a pattern in another dialect matches nothing, so that its argument is asked for
