"""Filling a tool's arguments from what the request shows. Nothing is guessed: a value is found, or it is missing."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import JsonValue

from graph.models.reading import Reading
from graph.models.words import fold

_WORD = re.compile(r"[^\s,;:!?¿¡\"'“”‘’()\[\]{}<>]+")


class Filled(NamedTuple):
    """The arguments found; the required ones not found, each with the shown values between which nothing decides.

    What the user said is not repeated there: the turn stays the only place that holds it.
    """

    arguments: dict[str, JsonValue]
    missing: dict[str, tuple[str, ...]]


def fill(parameters: dict[str, Any], reading: Reading) -> Filled:
    """The arguments of a tool with these parameters.

    The user's own words come first. A required argument may also come from a fact or a trusted observation of the
    same name, an optional one may not.
    """
    arguments: dict[str, JsonValue] = {}
    missing: dict[str, tuple[str, ...]] = {}
    required = parameters.get("required", [])
    for name, schema in parameters.get("properties", {}).items():
        alternatives = list(_alternatives(schema, parameters.get("$defs", {})))
        said = list(dict.fromkeys(_said(alternatives, reading.turn)))
        known = list(dict.fromkeys(_known(name, alternatives, reading))) if name in required and not said else []
        if len(said or known) == 1:
            arguments[name] = (said or known)[0]
        elif name in required:
            missing[name] = tuple(map(str, known))
    return Filled(arguments, missing)


def _alternatives(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The plain schemas that a value may follow: unions and references resolved, null left out."""
    if "$ref" in schema:
        yield from _alternatives(definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), definitions)
    elif "anyOf" in schema or "oneOf" in schema:
        for inner in schema.get("anyOf") or schema["oneOf"]:
            yield from _alternatives(inner, definitions)
    elif schema.get("type") != "null":
        yield schema


def _said(alternatives: Iterable[dict[str, Any]], turn: str) -> Iterator[JsonValue]:
    """The whole words of the turn that follow a pattern or stand in an enumeration."""
    words = [word.rstrip(".") for word in _WORD.findall(turn)]
    for schema in alternatives:
        for word in words:
            if "enum" in schema or "const" in schema:
                allowed = schema.get("enum", [schema.get("const")])
                yield from (value for value in allowed if isinstance(value, str) and fold(value) == fold(word))
            elif "pattern" in schema and _matches(schema["pattern"], word):
                yield word


def _known(name: str, alternatives: list[dict[str, Any]], reading: Reading) -> Iterator[JsonValue]:
    """The values that facts state under this name; without one, those that trusted observations hold under it."""
    values: list[JsonValue] = [fact.value for fact in reading.facts if fact.name == name]
    if not values:
        values = [value for seen in reading.seen if seen.trusted for value in values_of(seen.fields, name)]
    for value in values:
        for schema in alternatives:
            fitting = _as_type(value, schema)
            if fitting is not None:
                yield fitting
                break


def values_of(fields: JsonValue, name: str) -> Iterator[JsonValue]:
    """Every value under a name, however deep."""
    if isinstance(fields, dict):
        for key, value in fields.items():
            if key == name and not isinstance(value, dict | list) and value is not None:
                yield value
            else:
                yield from values_of(value, name)
    elif isinstance(fields, list):
        for item in fields:
            yield from values_of(item, name)


def _as_type(value: JsonValue, schema: dict[str, Any]) -> JsonValue:
    """The value as the schema wants it, or None when it does not fit."""
    if "enum" in schema and value not in schema["enum"]:
        return None
    match schema.get("type"):
        case "string" | None:
            fits = isinstance(value, str) and ("pattern" not in schema or _matches(schema["pattern"], value))
            return value if fits else None
        case "integer":
            return int(str(value)) if re.fullmatch(r"-?\d{1,18}", str(value)) else None
        case "number":
            return float(str(value)) if re.fullmatch(r"-?\d{1,18}(\.\d+)?", str(value)) else None
        case "boolean":
            return {"true": True, "false": False}.get(str(value).lower())
        case _:
            return None


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return False  # a pattern in another dialect matches nothing, so that its argument is asked for
