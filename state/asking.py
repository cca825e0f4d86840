"""From a manifest's request to that of one attempt: its mode, and what was wrong with the reply before.

Pure, so that replay is asking again (M4): what an attempt sent follows from its manifest, its mode and the outcomes of
the attempts before it, all of which the record holds.
"""

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field, JsonValue

from state.canonical import canonical_json
from state.forms import FORMS
from state.request import Attempt, AttemptOutcome, Message, Mode, ReplyForm, Request, ToolSpec
from state.spending import Price
from state.value import Value
from state.work import MOST_CALLS

CALLS = "calls"
"""The one field of a proposal that is written as JSON: a list of {"name": ..., "arguments": {...}}."""

# What a model can do better when it is told; anything else is the server's, or the model's last word.
_NEXT = {
    "truncated": "Reply again, and shorter.",
    "empty_output": "Reply with calls of the offered tools, or with exactly one form.",
    "malformed": "Reply again, in the form that is asked for and with nothing else.",
    "wrong_schema": "Reply again, with arguments that fit the schema.",
    "unknown_form": "Reply again, with what is offered.",
}
CORRECTABLE = frozenset(_NEXT)


class CallTerms(Value):
    """How a model may be asked: its modes, the best first; how many failures of a decision may be tried again, beside
    one change of mode; how long all of that may wait, in seconds; what models cost, by name."""

    modes: tuple[Mode, ...] = Field(default=("tools",), min_length=1)
    retries: int = Field(default=0, ge=0)
    wait_s: float = Field(default=0.0, ge=0)
    prices: dict[str, Price] = {}


class Waiting(Protocol):
    """The port that waits between two attempts, in a thread or without holding one."""

    def wait(self, duration_s: float) -> None: ...

    async def await_(self, duration_s: float) -> None: ...


def asked(request: Request, mode: Mode, before: Sequence[Attempt], manifest_ref: str) -> Request:
    """The request of an attempt in this mode, after the attempts `before` it in its decision."""
    if mode != "tools":
        request = _as_json(request, mode)
    outcome = _to_correct(before, manifest_ref)
    return request if outcome is None else _corrected(request, outcome)


def calls_schema(tools: Sequence[ToolSpec]) -> dict[str, JsonValue]:
    """The JSON schema of a proposal as one object: calls of these tools, or of one form among them."""
    each: list[JsonValue] = [
        {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": [tool.name]}, "arguments": tool.parameters},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {
        "type": "object",
        "properties": {CALLS: {"type": "array", "items": {"anyOf": each}, "minItems": 1, "maxItems": MOST_CALLS}},
        "required": [CALLS],
        "additionalProperties": False,
    }


def _as_json(request: Request, mode: Mode) -> Request:
    """The same request for a reply that is JSON: what was offered as tools stands behind the instructions, which are
    the operator's as well."""
    forms = {form.value for form in FORMS}
    offered = "\n".join(canonical_json(tool).decode() for tool in request.tools)
    alone = ", ".join(tool.name for tool in request.tools if tool.name in forms)
    told = (
        '<section name="reply">\n'
        "Reply with one JSON object and nothing else: "
        f'{{"{CALLS}": [{{"name": "...", "arguments": {{...}}}}]}}\n'
        "Each call names one of the following and gives its arguments by its schema."
        f"{f' One of these stands alone: {alone}.' if alone else ''}\n"
        f"{offered}\n</section>"
    )
    instruction, *data = request.messages
    return request.model_copy(
        update={
            "messages": (instruction.model_copy(update={"content": f"{instruction.content}\n\n{told}"}), *data),
            "tools": (),
            "reply_form": ReplyForm(mode=mode, json_schema=calls_schema(request.tools)),
        }
    )


def _to_correct(before: Sequence[Attempt], manifest_ref: str) -> AttemptOutcome | None:
    """What was wrong with the newest reply to this manifest; a server that was away since does not make it right."""
    wrong = (
        attempt.outcome
        for attempt in reversed(before)
        if attempt.manifest_ref == manifest_ref and attempt.outcome.name in CORRECTABLE
    )
    return next(wrong, None)


def _corrected(request: Request, outcome: AttemptOutcome) -> Request:
    """The request with a last block that says what was wrong. No word of the reply is repeated in it."""
    told = (
        f'<correction outcome="{outcome.name}">\n'
        f"Your reply to this was not used: {outcome.detail}. {_NEXT[outcome.name]}\n"
        "</correction>"
    )
    *rest, last = request.messages
    return request.model_copy(
        update={"messages": (*rest, Message(channel=last.channel, content=f"{last.content}\n\n{told}"))}
    )
