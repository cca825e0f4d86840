"""Filling a tool's arguments from what the request shows. Nothing is guessed: a value is found, or it is missing."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from graph.models.amounts import amounts, currencies
from graph.models.reading import Reading
from graph.models.schemas import alternatives, as_type, choices, is_text, matches, takes_numbers
from graph.models.vocabulary import CURRENCIES
from graph.models.wishes import wished_verb
from graph.models.words import fold, terms

_WORD = re.compile(r"[^\s,;:!?¿¡\"'“”‘’()\[\]{}<>]+")

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")

Schemas = Sequence[dict[str, Any]]


class Filled(NamedTuple):
    """The arguments found; the required ones not found, each with the shown values between which nothing decides, or
    with those that its schema allows.

    What the user said is not repeated there: the turn stays the only place that holds it. Free texts come first among
    the missing, so that the first sentence that answers us is the first text that was asked for.
    """

    arguments: dict[str, JsonValue]
    missing: dict[str, tuple[str, ...]]


def fill(parameters: dict[str, Any], reading: Reading) -> Filled:
    """The arguments of a tool with these parameters.

    The user's own words come first. A required argument may also come from a fact or a trusted observation of the
    same name, be the only one there is, or come from what the user answered to us: we ask only for what none of these
    decides. An optional one comes from the opening turn alone, and is asked for where what stands there does not fit.
    """
    arguments: dict[str, JsonValue] = {}
    missing: dict[str, tuple[str, ...]] = {}
    required = parameters.get("required", [])
    schemas = {
        name: list(alternatives(schema, parameters.get("$defs", {})))
        for name, schema in parameters.get("properties", {}).items()
    }
    texts, answers = _told(schemas, required, reading)
    for name, schema in schemas.items():
        said = _said(name, schema, reading.turn, name in required) or _word_for_word(schema, reading.turn)
        if name not in required and None not in said:
            arguments |= {name: said[0]} if len(said) == 1 else {}
            continue
        known = [] if said else list(dict.fromkeys(_known(name, schema, reading))) or _only(schema)
        answered = (_said(name, schema, answer, True) for answer in reversed(answers))
        texted = [texts[name]] if name in texts else []
        found = next((one for one in (said, known, texted, *answered) if len(one) == 1 and one[0] is not None), None)
        if found is None:
            missing[name] = tuple(
                map(str, known or [value for each in schema for value in choices(each) if value is not None])
            )
        else:
            arguments[name] = found[0]
    return Filled(arguments, dict(sorted(missing.items(), key=lambda one: not is_text(schemas[one[0]]))))


def _told(
    schemas: dict[str, list[dict[str, Any]]], required: Sequence[str], reading: Reading
) -> tuple[dict[str, JsonValue], list[str]]:
    """The free texts that were asked for and answered, and the answers that are left for other arguments.

    A sentence given as a text is no source of anything else: an id in it is what it says. "Thanks" is none.
    """
    wanted = [
        name
        for name, schema in schemas.items()
        if name in required
        and is_text(schema)
        and not _repeats(schema)
        and len(set(_known(name, schema, reading))) != 1
    ]
    others = [(name, schema) for name, schema in schemas.items() if name in required and not is_text(schema)]
    texts: dict[str, JsonValue] = {}
    left = []
    for answer in reading.answers:
        if not terms(answer) and not any(map(str.isdigit, answer)):
            continue
        if wanted and (terms(answer) or not any(_said(name, schema, answer, True) for name, schema in others)):
            fitting = as_type(answer.strip(), schemas[wanted[0]])
            texts |= {} if fitting is None else {wanted.pop(0): fitting}
        else:
            left.append(answer)
    return texts, left


def _said(name: str, schemas: Schemas, text: str, counted: bool) -> list[JsonValue]:
    """The values in a text that follow a pattern, stand in an enumeration, or are amounts where those `counted`.

    None stands for a number or for money that is unclear or does not fit: it is there, so that no other one is the only
    one.
    """
    found: list[JsonValue] = list(dict.fromkeys((*_words(schemas, text), *_money(schemas, text))))
    if counted and takes_numbers(schemas):
        about = " ".join((name.replace("_", " "), *(str(schema.get("description", "")) for schema in schemas)))
        own = {*terms(about), *filter(None, [wished_verb(text)])}
        found += dict.fromkeys(None if one is None else as_type(one, schemas) for one in amounts(text, own))
    return found


def _repeats(schemas: Schemas) -> bool:
    """Whether a text is to be the user's own, by what the schema says of it."""
    return is_text(schemas) and any("word for word" in str(schema.get("description", "")) for schema in schemas)


def _word_for_word(schemas: Schemas, turn: str) -> list[JsonValue]:
    """The sentence that utters the turn's wish, where a text is to be the user's own."""
    sentences = [found[0].strip() for found in _SENTENCE.finditer(turn)] if _repeats(schemas) else []
    wished = next((one for one in sentences if wished_verb(one)), None)
    return [] if wished is None else [wished]


def _words(schemas: Schemas, text: str) -> Iterator[JsonValue]:
    words = [word.rstrip(".") for word in _WORD.findall(text)]
    for schema in schemas:
        for word in words:
            if allowed := choices(schema):
                yield from (value for value in allowed if isinstance(value, str) and fold(value) == fold(word))
            elif "pattern" in schema and matches(schema["pattern"], word):
                yield word


def _money(schemas: Schemas, text: str) -> Iterator[JsonValue]:
    """The currencies that a text names, where a value is one of several or the one allowed."""
    allowed = {value for schema in schemas for value in choices(schema) if isinstance(value, str)}
    if allowed and allowed <= CURRENCIES.keys():
        for meant in currencies(text):
            fitting = sorted(meant & allowed)
            yield fitting[0] if len(fitting) == 1 else None


def _only(schemas: Schemas) -> list[JsonValue]:
    """The value of an argument that can have no other."""
    allowed = [choices(schema) for schema in schemas]
    return allowed[0] if len(allowed) == 1 and len(allowed[0]) == 1 else []


def _known(name: str, schemas: Schemas, reading: Reading) -> Iterator[JsonValue]:
    """The values that facts state under this name; without one, those that trusted observations hold under it."""
    values: list[JsonValue] = [fact.value for fact in reading.facts if fact.name == name]
    if not values:
        values = [value for seen in reading.seen if seen.trusted for value in values_of(seen.fields, name)]
    yield from (fitting for value in values if (fitting := as_type(value, schemas)) is not None)


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
