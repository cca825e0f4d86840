"""Calls that a model wrote as JSON in a text: read whole or not at all (H21)."""

import json
import re

from pydantic import JsonValue

from state.asking import CALLS
from state.canonical import canonical_json, named_once
from state.request import RawCall

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_ENDED = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_BEGUN = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)


class NotWritten(ValueError):
    """A text that holds no calls. Its words name nothing of the text."""


def without_reasoning(text: str) -> str:
    """The text behind a model's thoughts. Where they were not ended there is none."""
    text = _THOUGHT.sub("", text)
    ended = list(_ENDED.finditer(text))
    if ended:  # some servers keep the opening mark to themselves
        text = text[ended[-1].end() :]
    begun = _BEGUN.search(text)
    return text[: begun.start()] if begun else text


def calls_written(text: str) -> tuple[RawCall, ...]:
    """The calls of the one JSON object in a text; a fence or words around it are let be. Raises NotWritten.

    The first brace must begin the object: of a damaged one, a whole one inside would be read. A second object
    could be meant as well.
    """
    start = text.find("{")
    if start < 0:
        raise NotWritten("the reply holds no JSON object")
    try:
        found, end = _DECODER.raw_decode(text, start)
        canonical_json(found)
    except (ValueError, RecursionError):
        raise NotWritten("the reply's JSON is damaged") from None
    if "{" in text[end:]:
        raise NotWritten("the reply holds more than one JSON object")
    calls = found.get(CALLS)
    if found.keys() != {CALLS} or not isinstance(calls, list):
        raise NotWritten(f"the reply's object needs the field {CALLS}, a list, and no other")
    return tuple(map(_call, calls))


def arguments_written(text: str) -> JsonValue:
    """The JSON value that a text is, and nothing beside it. Raises NotWritten."""
    try:
        found: JsonValue = _DECODER.decode(text)
        # What JSON cannot carry is damaged, not a very large number: 1e999, half a character (H18).
        canonical_json(found)
    except (ValueError, RecursionError):
        raise NotWritten("the text is no JSON") from None
    return found


def _call(call: JsonValue) -> RawCall:
    if not isinstance(call, dict) or call.keys() != {"name", "arguments"} or not isinstance(call["name"], str):
        raise NotWritten(f"each of {CALLS} needs the fields name, a text, and arguments, and no other")
    return RawCall(call_id=None, name=call["name"], arguments=canonical_json(call["arguments"]).decode())


def _no_constant(name: str) -> JsonValue:
    raise ValueError(name)


# Not strict: a line break within a text, as many models write it, means itself.
_DECODER = json.JSONDecoder(object_pairs_hook=named_once, parse_constant=_no_constant, strict=False)
