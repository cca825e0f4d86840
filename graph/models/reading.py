"""Reading a request the way a careful person would: every block for what its marker says it is, and nothing more."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import JsonValue

from graph.models.turns import Said, matter
from graph.models.words import code_names, is_spanish, spoken
from state.context import Trust
from state.render import Block, blocks
from state.work import DecisionKind, Form

OBJECTIVE = "objective"
ASKED_BACK = "state://asked-back"  # the block that says of an earlier turn that a question of ours ended it
_FORMS = frozenset(form.value for form in Form)


class Offered(NamedTuple):
    """A tool as it is offered, or a capability as a plan lap shows it. `changes`: a call changes something."""

    name: str
    description: str
    parameters: dict[str, Any]
    changes: bool = False
    output: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What a wish or a question is compared with."""
        return f"{self.name.replace('_', ' ')}. {self.description}"

    @property
    def verbs(self) -> str:
        """The words by which its name and its description begin: what it does."""
        return " ".join(words[0] for text in (self.name, self.description) if (words := spoken(text)))


class Fact(NamedTuple):
    """A named value that the request states."""

    name: str
    value: str
    source: str


class Seen(NamedTuple):
    """The fields that one call brought, those of one trust."""

    tool: str
    fields: dict[str, JsonValue]
    source: str
    trusted: bool


class Quoted(NamedTuple):
    """A text with its source: a document, a memory, a verdict."""

    text: str
    source: str


class Reading(NamedTuple):
    """All that a request says, sorted by what it is. `turn` opened the matter, `answers` settled our questions.

    `policy` are the values that hold for everybody: they answer questions, and are arguments of nothing. `procedures`
    are bodies of skills.
    """

    kind: str
    turn: str
    answers: tuple[str, ...]
    steps: tuple[str, ...]
    facts: tuple[Fact, ...]
    policy: tuple[Fact, ...]
    seen: tuple[Seen, ...]
    verdicts: tuple[Quoted, ...]
    documents: tuple[Quoted, ...]
    memories: tuple[Quoted, ...]
    procedures: tuple[Quoted, ...]
    capabilities: tuple[Offered, ...]
    tools: tuple[Offered, ...]
    forms: frozenset[str]

    @property
    def spanish(self) -> bool:
        """Whether to answer in Spanish."""
        return is_spanish("\n".join((self.turn, *self.answers)))

    @property
    def named(self) -> tuple[str, ...]:
        """The sources of shown documents that the turn asks for by a name as code has it."""
        names = code_names(self.turn)
        return tuple(one.source for one in self.documents if names & code_names(one.source))


def read(messages: Sequence[BaseMessage], tools: Iterable[dict[str, Any]]) -> Reading:
    """The reading of a request's messages and tool definitions. Raises ValueError when no decision is in it."""
    shown = [found for message in messages if isinstance(message, HumanMessage) for found in blocks(str(message.text))]
    decision = _lines(next((found.text for found in reversed(shown) if found.tag == "decision"), ""))
    if "kind" not in decision:
        raise ValueError("the request names no decision: a block <decision> with a line `kind: ...` is missing")
    kind = DecisionKind(decision["kind"])
    offered = [_offered(tool, changes=kind is DecisionKind.ACT) for tool in tools]
    capabilities = tuple(_capabilities(shown))
    deeds = " ".join(one.verbs for one in (*capabilities, *offered) if one.changes)
    about = matter(_earlier(shown), _current(shown), deeds)
    return Reading(
        kind=kind,
        turn=about.opening,
        answers=about.answers,
        steps=tuple(step.strip() for step in decision.get("steps", "").split(",") if step.strip()),
        facts=tuple(_facts(shown)),
        policy=tuple(_policy(shown)),
        seen=tuple(_seen(shown)),
        verdicts=_quoted(shown, "verdict"),
        documents=_quoted(shown, "document"),
        memories=tuple(
            Quoted(found.text, found.attributes.get("source", ""))
            for found in shown
            if found.tag == "memory" and _trusted(found)
        ),
        procedures=tuple(
            Quoted(found.text, found.attributes.get("source", ""))
            for found in shown
            if found.tag == "skill_body" and found.attributes.get("trust") == Trust.POLICY
        ),
        capabilities=capabilities,
        tools=tuple(tool for tool in offered if tool.name not in _FORMS),
        forms=frozenset(tool.name for tool in offered if tool.name in _FORMS),
    )


def _current(shown: Sequence[Block]) -> str:
    return next((one.text for one in shown if one.tag == "user_turn" and one.attributes.get("id") == OBJECTIVE), "")


def _earlier(shown: Sequence[Block]) -> list[Said]:
    """The user's turns before the current one, oldest first, each with whether a question of ours ended it."""
    asked = {one.attributes.get("turn") for one in shown if one.attributes.get("source") == ASKED_BACK}
    turns = [one for one in shown if one.tag == "user_turn" and one.attributes.get("id") != OBJECTIVE]
    return [Said(one.text, one.attributes.get("turn", "") in asked) for one in turns]


def _trusted(found: Block) -> bool:
    return found.attributes.get("trust") != Trust.UNTRUSTED


def _lines(text: str) -> dict[str, str]:
    """The `name: value` lines of a text."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _facts(shown: Iterable[Block]) -> Iterable[Fact]:
    for found in shown:
        if found.tag == "fact" and _trusted(found):
            for name, value in _lines(found.text).items():
                yield Fact(name, value, found.attributes.get("source", ""))


def _policy(shown: Iterable[Block]) -> Iterable[Fact]:
    for found in shown:
        if found.tag == "policy_value" and _trusted(found):
            for name, value in _json_object(found.text).items():
                told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                yield Fact(name, told, found.attributes.get("source", ""))


def _seen(shown: Iterable[Block]) -> Iterable[Seen]:
    for found in shown:
        if found.tag == "observation":
            body = _json_object(found.text)
            fields = {name: value for name, value in body.items() if name not in ("tool", "artifact_ref")}
            yield Seen(str(body.get("tool", "")), fields, found.attributes.get("source", ""), _trusted(found))


def _quoted(shown: Iterable[Block], tag: str) -> tuple[Quoted, ...]:
    return tuple(Quoted(found.text, found.attributes.get("source", "")) for found in shown if found.tag == tag)


def _capabilities(shown: Iterable[Block]) -> Iterable[Offered]:
    for found in shown:
        body = _json_object(found.text) if found.tag == "capability" else {}
        if body:
            output = body.get("output")
            parameters = body.get("parameters")
            yield Offered(
                name=str(body.get("name", "")),
                description=str(body.get("description", "")),
                parameters=parameters if isinstance(parameters, dict) else {},
                changes=body.get("effect") != "read",
                output=tuple(map(str, output)) if isinstance(output, list) else (),
            )


def _json_object(text: str) -> dict[str, JsonValue]:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _offered(tool: dict[str, Any], *, changes: bool) -> Offered:
    function = tool.get("function", tool)
    return Offered(function["name"], function.get("description", ""), function.get("parameters", {}), changes)
