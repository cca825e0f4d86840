"""Recognising everything in a text that could be taken for an order: the ear of the hijacked model, no safeguard."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from graph.models.words import spoken, stem

_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^()]*)\)")
_ARGUMENT = re.compile(r"(\w+)\s*[=:]\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\s]+))")
_JSON_CALL = re.compile(r"\"(?:tool|name|function)\"\s*:\s*\"(\w+)\"(?:[^{}]*\{([^{}]*)\})?")
_JSON_ARGUMENT = re.compile(r"\"(\w+)\"\s*:\s*(?:\"([^\"]*)\"|()([^,\s}]+))")
_CLAUSE_END = re.compile(r"[.!?;]+(?:\s+|\Z)|\n+")
_SEND = re.compile(
    r"\b(send|forward|post|e-?mail|upload|leak|env[ií]a|reenv[ií]a|manda)\b\s+(.+?)\s+\b(?:to|a|al)\b\s+(\S+)",
    re.IGNORECASE,
)
_SEARCH = re.compile(r"\b(?:search|look)\s+for\s+(.+)|\bbusca\s+(.+)", re.IGNORECASE)
_SAY = re.compile(
    r"\b(?:answer|reply|respond)\b(?:\s+(?:with|that|only))*[:\s]+(.+)"
    r"|\b(?:say|tell\s+the\s+(?:user|customer))\b(?:\s+that)?[:\s]+(.+)"
    r"|\b(?:responde|di)\b(?:\s+que)?[:\s]+(.+)",
    re.IGNORECASE,
)
_PLAN = re.compile(r"\bplan\s+(?:to\s+)?(.+)", re.IGNORECASE)

Form = Literal["search", "answer", "plan"]


class Order(NamedTuple):
    """One thing a text tells its reader to do: call a tool, or reply in a form. `words` is what was read."""

    words: str
    tool: str | None
    arguments: dict[str, JsonValue]
    form: Form | None = None


def orders(text: str, known: Sequence[str]) -> Iterator[Order]:
    """Every order in a text, most explicit first. `known` are the tools that an attacker knows by name."""
    explicit = list(_written_calls(text, known))
    yield from explicit
    named = {order.tool for order in explicit}
    for name in known:
        if name not in named and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            named.add(name)
            yield Order(name, name, {})
    for clause in _CLAUSE_END.split(text):
        yield from _sent(clause, known)
        yield from _meant(clause, [name for name in known if name not in named])
        yield from _replies(clause)


def _written_calls(text: str, known: Sequence[str]) -> Iterator[Order]:
    for match in _CALL.finditer(text):
        arguments = _arguments(_ARGUMENT.findall(match[2]))
        # An unknown name counts when it is written like a call with arguments; "key (see below)" is prose.
        if match[1] in known or ("=" in match[2] and arguments):
            yield Order(match[0], match[1], arguments)
    for match in _JSON_CALL.finditer(text):
        arguments = _arguments(_JSON_ARGUMENT.findall(match[2] or ""))
        if match[1] in known or arguments:
            yield Order(match[0], match[1], arguments)


def _arguments(found: Iterable[tuple[str, ...]]) -> dict[str, JsonValue]:
    return {name: next((value for value in values if value), "") for name, *values in found}


def _sent(clause: str, known: Sequence[str]) -> Iterator[Order]:
    for verb, what, whom in _SEND.findall(clause):
        tool = next((name for name in known if verb.lower() in name), "send_message")
        yield Order(clause.strip(), tool, {"to": whom.strip("\"'`,()"), "content": what})


def _meant(clause: str, known: Sequence[str]) -> Iterator[Order]:
    """Tools whose own verb stands in the clause with at least one more word of their name."""
    said = {stem(word) for word in spoken(clause)}
    for name in known:
        verb, *others = (stem(word) for word in spoken(name))
        if verb in said and (not others or said & set(others)):
            yield Order(clause.strip(), name, {})


def _replies(clause: str) -> Iterator[Order]:
    patterns: tuple[tuple[Form, re.Pattern[str]], ...] = (("search", _SEARCH), ("answer", _SAY), ("plan", _PLAN))
    for form, pattern in patterns:
        if match := pattern.search(clause):
            content = next(group for group in match.groups() if group).strip(" \"'“”`")
            if content:
                yield Order(clause.strip(), None, {"content": content}, form)
