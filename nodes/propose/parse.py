"""From a reply to a typed proposal. Finish reason first; nothing half-parsed is ever used (H21)."""

from collections.abc import Callable, Sequence

from pydantic import JsonValue, ValidationError

from nodes.propose.written import NotWritten, arguments_written, calls_written, without_reasoning
from state.checks.depth import not_carried
from state.request import AttemptOutcome, Mode, RawCall, Reply
from state.work import MOST_CALLS, PROPOSAL, Act, Decision, Form, Proposal, ToolCall

_LONGEST_NAME = 64
_FORMS = frozenset(form.value for form in Form)


class NoProposal(Exception):
    """A reply that is no proposal. `outcome` is the typed reason; its detail names no value of the reply."""

    def __init__(self, outcome: AttemptOutcome) -> None:
        super().__init__(outcome.name)
        self.outcome = outcome


Quoting = Callable[[dict[str, JsonValue]], dict[str, JsonValue]]
"""Replaces what stands verbatim in a turn by a reference to it."""


def parse(reply: Reply, decision: Decision, quote: Quoting, mode: Mode) -> Proposal:
    """The proposal in a reply that was asked for in this mode. Raises NoProposal.

    A call of a tool that was not offered stays in the proposal: refusing it is validate's verdict, on record.
    """
    if reply.finish_reason == "length":
        raise _no("truncated", "the reply was cut at the output limit")
    if reply.finish_reason == "refused":
        raise _no("refused", "the model refused; ask in other words, or another model")
    if reply.finish_reason == "interrupted":
        raise _no("malformed", "the reply was broken off by the server")
    calls = reply.calls or _written(without_reasoning(reply.text), mode)
    if any(call.name in _FORMS for call in calls):
        if len(calls) > 1:
            raise _no("wrong_schema", "a form stands alone: one form, or tool calls")
        return _form(calls[0], decision)
    if len(calls) > MOST_CALLS:
        raise _no("wrong_schema", f"the reply has {len(calls)} calls; at most {MOST_CALLS} stand in a proposal")
    return Act(calls=_calls(calls, decision, quote))


def _written(text: str, mode: Mode) -> tuple[RawCall, ...]:
    if not text.strip():
        raise _no("empty_output", "the reply has neither a call nor text")
    if mode == "tools":
        raise _no("malformed", "the reply has text but calls neither a tool nor a form")
    try:
        calls = calls_written(text)
    except NotWritten as error:
        raise _no("malformed", str(error)) from None
    if not calls:
        raise _no("empty_output", "the reply's list of calls is empty")
    return calls


def _form(call: RawCall, decision: Decision) -> Proposal:
    if call.name not in decision.forms:
        allowed = ", ".join(sorted(form.value for form in decision.forms))
        raise _no("unknown_form", f"form {call.name} is not offered here; offered: {allowed}")
    try:
        return PROPOSAL.validate_python({**_arguments(call), "type": call.name})
    except ValidationError as error:
        # The name of an unknown field is the model's own text and stays out.
        named = {"unknown ones" if p["type"] == "extra_forbidden" else str(p["loc"][1]) for p in error.errors()}
        fields = ", ".join(sorted(named))
        raise _no("wrong_schema", f"form {call.name}: wrong or missing fields: {fields}") from None


def _calls(calls: Sequence[RawCall], decision: Decision, quote: Quoting) -> tuple[ToolCall, ...]:
    """Calls with ids of our own, unique in the thread. A provider's id is the model's text: it may repeat, and an id
    that stands in our own blocks must not carry words into them."""
    made = []
    for ordinal, call in enumerate(calls):
        call_id = f"call-{decision.index}-{ordinal}"
        try:
            tool = call.name
            if len(tool) > _LONGEST_NAME:
                tool = f"a name of {len(tool)} characters"  # cut, it might be a secret that nothing knows any more
            made.append(ToolCall(call_id=call_id, tool=tool, arguments=quote(_arguments(call))))
        except (ValueError, RecursionError):
            raise _no("wrong_schema", "a call's arguments have a shape that is not allowed") from None
    return tuple(made)


def _arguments(call: RawCall) -> dict[str, JsonValue]:
    try:
        arguments = arguments_written(call.arguments or "{}")
    except NotWritten:
        raise _no("malformed", "a call's arguments are not JSON") from None
    if not isinstance(arguments, dict):
        raise _no("wrong_schema", "a call's arguments are not an object")
    if why := not_carried(arguments):
        raise _no("wrong_schema", f"a call's arguments {why}")
    return arguments


def _no(name: str, detail: str) -> NoProposal:
    return NoProposal(AttemptOutcome.model_validate({"name": name, "detail": detail}))
