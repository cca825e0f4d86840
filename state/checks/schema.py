"""Schemas of tools, which may be written by others: what they say is closed, stands in them, and ends (S7, H18).

A schema is checked once, when a contract is made, so that at call time nothing in it can fetch, fail or run for long.
Keywords that can open an object again, or look elsewhere, are refused; what is no keyword of JSON Schema is a note.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from pydantic import JsonValue
from referencing import Registry

from state.canonical import canonical_json, one_number
from state.checks.hidden import unseen
from state.checks.pattern import PatternRefused, check_pattern

MOST_PARTS = 2_000  # with every reference followed: what a check of one value goes through at most
_ONE, _LISTS = ("items", "additionalProperties"), ("anyOf", "oneOf", "allOf", "prefixItems")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength")
_SIZES = ("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required", "dependentRequired")
_ALLOWED = frozenset(
    (*_ONE, *_LISTS, *_NUMBERS, *_SIZES, "$ref", "type", "enum", "const", "properties", "pattern", "format")
)
_ANCHORS = ("$id", "$anchor", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary")
_REFUSED = frozenset((*Draft202012Validator.VALIDATORS, *_ANCHORS)) - _ALLOWED
_DEFINITIONS = ("$defs", "definitions")
_NOWHERE: Registry[Any] = Registry()
_SCHEMAS_BY_NAME, _SCHEMAS = ("properties", "$defs", "definitions"), ("anyOf", "oneOf", "prefixItems")


class SchemaRefused(ValueError):
    """A schema that no contract may have. The text says what was got, where, and what is allowed."""


def _unique(_: object, wanted: bool, value: Any, __: object) -> Iterator[ValidationError]:
    """`uniqueItems`, each item looked at once. The library compares each with each where they cannot be sorted."""
    if wanted and isinstance(value, list):
        found = {json.dumps(one_number(item), sort_keys=True, default=repr) for item in value}
        if len(found) < len(value):
            yield ValidationError("the items are not unique")


_Validator: Any = extend(Draft202012Validator, {"uniqueItems": _unique})  # type: ignore[no-untyped-call]  # it has no types


def validator(schema: Mapping[str, Any], formats: FormatChecker | None = None) -> Draft202012Validator:
    """What checks values by a schema, in time that grows with them. It fetches nothing: a reference leads to the
    schema's own definitions."""
    made: Draft202012Validator = _Validator(schema, registry=_NOWHERE, format_checker=formats)
    return made


def closed(schema: Any) -> Any:
    """The schema with every object in it that lists its properties closed: for one that others wrote."""
    if not isinstance(schema, Mapping):
        return schema
    made = dict(schema)
    for keyword in _SCHEMAS_BY_NAME:
        if isinstance(made.get(keyword), Mapping):
            made[keyword] = {name: closed(inner) for name, inner in made[keyword].items()}
    for keyword in _SCHEMAS:
        if isinstance(made.get(keyword), list):
            made[keyword] = [closed(inner) for inner in made[keyword]]
    if isinstance(made.get("allOf"), list) and len(made["allOf"]) == 1:
        made["allOf"] = [closed(made["allOf"][0])]  # several would each close out what the others name
    if "items" in made:
        made["items"] = closed(made["items"])
    if "properties" in made:
        made["additionalProperties"] = False
    return made


def check_schema(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> None:
    """Raises SchemaRefused for a schema that is none, looks elsewhere, never ends, or may be slow.

    `root` is where its definitions stand: in itself, where it is None.
    """
    try:
        held = canonical_json({"schema": dict(schema), "root": None if root is None else dict(root)})
    except (TypeError, ValueError, RecursionError):
        _check(schema, root)  # it is no JSON, which is found there
    else:
        _check_once(held)


@lru_cache(maxsize=1_000)
def _check_once(held: bytes) -> None:
    """Contracts are made anew with each opening and each changed copy, and most of the time goes into their schemas."""
    plain = json.loads(held)
    _check(plain["schema"], plain["root"])


def _check(schema: Mapping[str, Any], root: Mapping[str, Any] | None) -> None:
    root = schema if root is None else root
    try:
        for place in _unseen(schema, "#"):
            raise SchemaRefused(f"got characters that nobody sees at {place:.200}; allowed: texts as they are read")
        Draft202012Validator.check_schema(schema)
        for number, (place, part) in enumerate(_parts(schema, root, "#", ())):
            if number >= MOST_PARTS:
                raise SchemaRefused(f"got a schema of more than {MOST_PARTS:,} parts; make it smaller")
            if refused := sorted(_REFUSED & part.keys()):
                raise SchemaRefused(
                    f"got {refused[0]} at {place}; allowed: {', '.join(sorted(_ALLOWED))}, and definitions in $defs"
                )
            if "pattern" in part:
                _check_pattern(part["pattern"], place)
    except SchemaError as error:
        place = "/".join(("#", *map(str, error.absolute_path)))
        raise SchemaRefused(f"got no JSON schema (draft 2020-12): at {place}, {error.message:.200}") from None
    except RecursionError:
        raise SchemaRefused("got a schema that is nested too deep; make it flat") from None


def check_closed(schema: Mapping[str, Any]) -> None:
    """Raises SchemaRefused, too, for parameters that let anything through which they do not name."""
    check_schema(schema)
    if schema.get("type") != "object":
        raise SchemaRefused("got parameters that are no object; allowed: type object, with the properties of a call")
    if why := _open(schema, schema, "#"):
        raise SchemaRefused(why)


def _unseen(value: Any, place: str) -> Iterator[str]:
    """The places where a model would read what no reviewer sees: in names, notes, choices and defaults."""
    match value:
        case str() if unseen(value.replace("\r\n", "\n")):
            yield place
        case Mapping():
            for name, inner in value.items():
                yield from _unseen(str(name), f"the name of a part of {place}")
                yield from _unseen(inner, f"{place}/{name}")
        case list() | tuple():
            for number, inner in enumerate(value):
                yield from _unseen(inner, f"{place}/{number}")


def _parts(schema: Any, root: Mapping[str, Any], place: str, within: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Every part of a schema with its place, references followed."""
    if not isinstance(schema, Mapping):
        return
    yield place, schema
    if "$ref" in schema:
        ref = schema["$ref"]
        if ref in within:
            raise SchemaRefused(f"got $ref {ref!r:.80} at {place}, which leads back to itself; allowed: a fixed depth")
        yield from _parts(_definition(ref, root, place), root, place, (*within, ref))
    for name, inner in schema.get("properties", {}).items():
        yield from _parts(inner, root, f"{place}/properties/{name}", within)
    for keyword in _ONE:
        yield from _parts(schema.get(keyword), root, f"{place}/{keyword}", within)
    for keyword in _LISTS:
        for number, inner in enumerate(schema.get(keyword, ())):
            yield from _parts(inner, root, f"{place}/{keyword}/{number}", within)


def _definition(ref: str, root: Mapping[str, Any], place: str) -> JsonValue:
    where, _, name = ref.removeprefix("#/").partition("/")
    held = root.get(where) if where in _DEFINITIONS and ref.startswith("#/") else None
    if not isinstance(held, Mapping) or name not in held or not name.replace(".", "_").replace("-", "_").isidentifier():
        raise SchemaRefused(f"got $ref {ref!r:.80} at {place}; allowed: #/$defs/NAME, of a definition in the schema")
    found: JsonValue = held[name]
    return found


def _check_pattern(pattern: str, place: str) -> None:
    try:
        check_pattern(pattern)
    except PatternRefused as why:
        raise SchemaRefused(f"got pattern {pattern!r:.80} at {place}: {why}") from None


def _open(schema: Any, root: Mapping[str, Any], place: str) -> str | None:
    """Why a schema lets through what it does not name; None where it is closed. One of its terms closes it for all."""
    if schema is False:
        return None
    if schema is True or not isinstance(schema, Mapping):
        schema = {}
    if "enum" in schema or "const" in schema:
        return None
    reasons = []
    if "type" in schema:
        reasons.append(_typed_open(schema, root, place))
    if "$ref" in schema:
        reasons.append(_open(_definition(schema["$ref"], root, place), root, place))
    unions = [keyword for keyword in ("anyOf", "oneOf") if keyword in schema]
    reasons += [_first(_branches(schema, keyword, root, place)) for keyword in unions]
    reasons += _branches(schema, "allOf", root, place)
    if None in reasons:
        return None
    return _first(iter(reasons)) or f"got anything at {place}; allowed: a type, with what is in it named"


def _branches(schema: Mapping[str, Any], keyword: str, root: Mapping[str, Any], place: str) -> Iterator[str | None]:
    return (_open(inner, root, f"{place}/{keyword}/{number}") for number, inner in enumerate(schema.get(keyword, ())))


def _typed_open(schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> str | None:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "object" in types:
        if schema.get("additionalProperties") is not False:
            return f"got an open object at {place}; allowed: its properties by name, and additionalProperties false"
        named = schema.get("properties", {}).items()
        if why := _first(_open(inner, root, f"{place}/properties/{name}") for name, inner in named):
            return why
    if "array" in types:
        return _open(schema.get("items"), root, f"{place}/items") or _first(
            _branches(schema, "prefixItems", root, place)
        )
    return None


def _first(reasons: Iterator[str | None]) -> str | None:
    return next((why for why in reasons if why), None)
