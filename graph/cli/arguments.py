"""A call's arguments on the screen: as JSON, so that a text cannot pass for what stands around it, and whole."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from state.checks.lookalike import deceptive
from state.work import Quote


class Written(NamedTuple):
    """A value as a person can read it, and how many of its characters are written as their number."""

    text: str
    escaped: int = 0


def in_full(given: JsonValue) -> Written:
    """A value as JSON in one line, all of it. What is not seen, or looks like something else, is written as \\u0000."""
    match given:
        case str():
            return _text(given)
        case dict():
            pairs = [(_text(name), in_full(value)) for name, value in given.items()]
            escaped = sum(name.escaped + value.escaped for name, value in pairs)
            return Written(f"{{{', '.join(f'{name.text}: {value.text}' for name, value in pairs)}}}", escaped)
        case list():
            rows = [in_full(value) for value in given]
            return Written(f"[{', '.join(row.text for row in rows)}]", sum(row.escaped for row in rows))
        case _:
            return Written(json.dumps(given))


def of_escaped(count: int) -> str:
    """What a person is told of characters that are written as their number."""
    one = count == 1
    return (
        f"{count:,} character{'' if one else 's'} that {'is' if one else 'are'} not seen, or {'is' if one else 'are'} "
        f"easily taken for {'another' if one else 'others'}, {'is' if one else 'are'} written as \\u and "
        f"{'its' if one else 'their'} number"
    )


def is_quote(given: JsonValue) -> bool:
    """Whether a value is a stored place in a turn, which only our own code makes. An object that has the same word in
    it is an argument like any other."""
    if not isinstance(given, Mapping):
        return False
    try:
        Quote.model_validate(given)
    except ValidationError:
        return False
    return True


def _text(given: str) -> Written:
    places = deceptive(given)
    if not places:
        return Written(json.dumps(given, ensure_ascii=False))
    written = (
        f"\\u{ord(each):04x}" if place in places else json.dumps(each, ensure_ascii=False)[1:-1]
        for place, each in enumerate(given)
    )
    return Written(f'"{"".join(written)}"', len(places))
