"""Composing an answer from what was read: observed values, refusals, and sentences with their source."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from graph.models.facts import name_of, named_facts
from graph.models.questions import asks_to_do
from graph.models.reading import Reading, Seen
from graph.models.sentences import Found, bearing_on, in_order
from graph.models.words import covered, terms, terms_and_numbers

_SENTENCES = 3
_PER_SOURCE = 2
_NEXT_STEPS = 2
_ROWS = 3
_QUOTES = 2
_QUOTE_LENGTH = 160
# The only words of our own: connectives, per language.
_ENGLISH = {
    "is": "is",
    "done": "done",
    "refused": "Not done:",
    "unverified": "says, unverified",
    "recorded": "On record:",
}
_SPANISH = {
    "is": "es",
    "done": "hecho",
    "refused": "No se hizo:",
    "unverified": "dice, sin verificar",
    "recorded": "Consta:",
}
# How a call ended that brought no result, as code marks it in the observation.
_NO_RESULT = {
    "error": ("failed", "falló"),
    "empty": ("found nothing", "no encontró nada"),
    "unknown": ("ended without a known result", "terminó sin un resultado conocido"),
}


class Composed(NamedTuple):
    """An answer's parts. Without `supported`, nothing that was read bears on the question."""

    lines: tuple[str, ...]
    sources: tuple[str, ...]
    next_steps: tuple[str, ...]
    supported: bool


def compose(reading: Reading) -> Composed:
    """What can be answered from a request."""
    say = _SPANISH if reading.spanish else _ENGLISH
    trusted = [seen for seen in reading.seen if seen.trusted]
    question = terms_and_numbers(reading.turn)
    values = list(dict.fromkeys(term for seen in trusted for term in _told(seen.fields)))
    observed = [(_stated(seen, reading.spanish), seen.source) for seen in trusted]
    refused = [(f"{say['refused']} {verdict.text}", verdict.source) for verdict in reading.verdicts]
    stated = named_facts(reading)
    known = {term for fact in stated for term in name_of(fact)}
    found = bearing_on(question, values, reading.documents, reading.named, known)
    picked = _picked(found, asks_to_do(reading.turn))
    recorded = [(f"{say['recorded']} {fact.name} {say['is']} {fact.value}", fact.source) for fact in stated]
    if not observed and not picked:
        recorded += _remembered(reading, question, say)

    cited = [*observed, *refused, *recorded, *_unverified(reading, question + values, say)]
    cited += [(one.text, one.source) for one in in_order(picked)]
    sources = {one.source for one in picked}
    steps = [one for one in found if one.suggests and one not in picked and one.source in sources]
    succeeded = any(_no_result(seen) is None for seen in trusted)
    return Composed(
        lines=tuple(f"{text} [{source}]" for text, source in cited),
        sources=tuple(dict.fromkeys(source for _, source in cited)),
        next_steps=tuple(f"{one.text} [{one.source}]" for one in steps[:_NEXT_STEPS]),
        supported=bool(succeeded or refused or picked or recorded),
    )


def _picked(found: list[Found], to_do: bool) -> list[Found]:
    """The sentences that answer: explanations, and what may be done where that was asked for or nothing explains."""
    enough = [one for one in found if one.enough]
    picked: list[Found] = []
    for one in [one for one in enough if to_do or not one.suggests] or enough:
        if len(picked) < _SENTENCES and sum(other.source == one.source for other in picked) < _PER_SOURCE:
            picked.append(one)
    return picked


def _told(value: JsonValue) -> Iterator[str]:
    """The terms of observed values that are words; ids and stamps are none."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _told(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _told(inner)
    elif isinstance(value, str) and not any(character.isdigit() for character in value):
        yield from terms(value.replace("_", " "))


def _no_result(seen: Seen) -> tuple[str, str] | None:
    return _NO_RESULT.get(str(seen.fields.get("outcome")))


def _stated(seen: Seen, spanish: bool) -> str:
    """The trusted fields of one call in plain words; of a call without result, that first."""
    say = _SPANISH if spanish else _ENGLISH
    failed = _no_result(seen)
    told = _fields({name: value for name, value in seen.fields.items() if not failed or name != "outcome"}, say["is"])
    if failed is None:
        return f"{seen.tool}: {told or say['done']}"
    return f"{seen.tool} {failed[spanish]}" + (f": {told}" if told else "")


def _fields(fields: dict[str, JsonValue], verb: str) -> str:
    parts = []
    for name, value in fields.items():
        if isinstance(value, list):
            rows = [_fields(row, verb) if isinstance(row, dict) else _plain(row) for row in value[:_ROWS]]
            parts.append(f"{name} ({len(value)}): " + "; ".join(rows))
        else:
            parts.append(f"{name} {verb} {_plain(value)}")
    return ", ".join(parts)


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unverified(reading: Reading, wanted: list[str], say: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Texts that others wrote into a system of record: quoted, never stated."""
    texts = [
        (seen, name, text)
        for seen in reading.seen
        if not seen.trusted
        for name, text in _texts(seen.fields)
        if len(covered(wanted, text)) >= 2
    ]
    for seen, name, text in texts[:_QUOTES]:
        yield f"{seen.tool} {say['unverified']} ({name}): “{text[:_QUOTE_LENGTH]}”", seen.source


def _texts(value: JsonValue, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)
    elif isinstance(value, str):
        yield name, value


def _remembered(reading: Reading, question: list[str], say: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Memories about the question: the last thing to answer with."""
    for memory in reading.memories:
        if len(covered(question, memory.text)) >= 2:
            yield f"{say['recorded']} {memory.text}", memory.source
