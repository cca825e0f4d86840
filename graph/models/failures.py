"""Provider exceptions to typed outcomes, by exception type and status code; a message is never read.

A server's message may echo the prompt or the key, so none of it is kept: only the status and the short codes that
the protocol defines, with the key masked by value.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, Protocol, runtime_checkable

from langchain_core import exceptions as core
from pydantic import SecretStr, ValidationError

from graph.masking import masked as said
from state.request import AttemptOutcome, ModelError

Failure = Literal[
    "unauthorised", "unreachable", "context_too_long", "refused", "rate_limited", "unsupported", "model_error"
]

# What servers write into the fields `code` and `type`: OpenAI and vLLM, llama.cpp, Azure.
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error"}
_REFUSED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
_SHORT_CODE = re.compile(r"[\w.\-\[\]]{1,64}")
# Answered by the server itself or by a proxy before it: nobody read the request.
_NOBODY_THERE = {408, 502, 503, 504}
# The server read the request and does not know what it asks for: tools, a form of the reply, a setting.
_NOT_UNDERSTOOD = {400, 405, 415, 422, 501}
# Of what is limited, that which no waiting brings back.
_SPENT = {"insufficient_quota", "billing_hard_limit_reached"}

_PASSING = {"unreachable", "rate_limited"}
_LONGEST_S = 86_400.0

_NEXT: dict[Failure, str] = {
    "unauthorised": "the server refused the key; check EXPEDIENTE_OPENAI_API_KEY",
    "unreachable": "no answer from the model server; check EXPEDIENTE_OPENAI_BASE_URL and that the server runs",
    "context_too_long": "the request is longer than the model's window; lower EXPEDIENTE_WINDOW_TOKENS",
    "refused": "the provider's content filter refused the request; the record shows what was sent",
    "rate_limited": "the server limits the rate or the quota is used up; wait, or check the limits of the key",
    "unsupported": "the server does not accept the request; `agent doctor --model NAME` says which profile fits it",
    "model_error": "the model server failed; try again, then look at the server's own log",
}
_NEXT_BY_STATUS: dict[int | None, str] = {
    None: "the reply could not be read; check that a chat model's server stands behind EXPEDIENTE_OPENAI_BASE_URL",
    404: "the server knows no such model or address; check EXPEDIENTE_OPENAI_MODEL and EXPEDIENTE_OPENAI_BASE_URL",
}


_TOO_LARGE = "the reply is larger than any that is read; look at what stands behind EXPEDIENTE_OPENAI_BASE_URL"


class ReplyTooLarge(Exception):
    """A server sends more than any reply has, or what may become more when it is unpacked."""


def masked(text: str, secrets: Sequence[SecretStr]) -> str:
    """The text with every secret replaced, wherever it stands."""
    for secret in secrets:
        if value := secret.get_secret_value():
            text = text.replace(value, "***")
    return text


def failure(error: Exception, secrets: Sequence[SecretStr] = ()) -> ModelError:
    """The ModelError of a provider's exception: its kind, what to do next, status and codes; no key, no prompt."""
    if _of_arguments(error):
        return ModelError(AttemptOutcome(name="wrong_schema", detail="a call's arguments are not an object"))
    source = _answered(error)
    status = source.status_code if isinstance(source, _HasStatus) else None
    # The codes of a provider's exception are whatever its server sent; only short identifiers are codes.
    found = (str(getattr(source, name, None) or "") for name in ("code", "type", "param"))
    codes = tuple(dict.fromkeys(code for code in found if _SHORT_CODE.fullmatch(code)))
    name = _kind(error, status, set(codes))
    advice = _NEXT[name]
    if name == "model_error":
        advice = _TOO_LARGE if _in_chain(error, ReplyTooLarge) else _NEXT_BY_STATUS.get(status, advice)
    after_s = _retry_after_s(source)
    if after_s is not None:
        codes = (*codes, f"asks to wait {after_s:g} s")
    facts = said(", ".join((str(status) if status else type(error).__name__, *codes)))
    what, _, next_step = advice.partition("; ")
    outcome = AttemptOutcome(name=name, detail=f"{what} ({masked(facts, secrets)}); {next_step}")
    passing = (name in _PASSING and not set(codes) & _SPENT) or (name == "model_error" and (status or 0) >= 500)
    return ModelError(outcome, passing=passing, retry_after_s=after_s)


def _of_arguments(error: Exception) -> bool:
    """Whether LangChain could make no message of a reply since the arguments of a call are no object: the model's
    mistake, which it can do better when it is told."""
    return isinstance(error, ValidationError) and any(
        fault["loc"][:1] == ("tool_calls",) and fault["loc"][-1] == "args" for fault in error.errors()
    )


@runtime_checkable
class _HasStatus(Protocol):
    """An exception made from a server's answer, of whichever provider."""

    status_code: int


def _answered(error: Exception) -> BaseException:
    """The exception that holds the server's answer: a wrapper around it may have lost the status."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, _HasStatus):
        found = found.__cause__
    return found or error


def _retry_after_s(source: BaseException) -> float | None:
    """How long the server wants to be left alone, in seconds, where it says so: in a number, or as a date."""
    headers = getattr(getattr(source, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            found = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return min(found, _LONGEST_S) if found >= 0 else None
    # A date is counted from the server's own: no clock of ours has to agree with it.
    until, now = (_date(headers.get(name, "")) for name in ("retry-after", "date"))
    return None if until is None or now is None else min(max((until - now).total_seconds(), 0.0), _LONGEST_S)


def _date(text: str) -> datetime | None:
    """A date as HTTP writes it, always in GMT."""
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _in_chain(error: Exception, kind: type[Exception]) -> bool:
    found: BaseException | None = error
    while found is not None and not isinstance(found, kind):
        found = found.__cause__
    return found is not None


def _kind(error: Exception, status: int | None, codes: set[str]) -> Failure:
    if status in (401, 403) or isinstance(error, core.ModelAuthenticationError | core.ModelPermissionDeniedError):
        return "unauthorised"
    if _in_chain(error, ReplyTooLarge):
        return "model_error"
    if codes & _TOO_LONG or status == 413:
        return "context_too_long"
    if status in (None, 400) and isinstance(error, core.ContextOverflowError):
        return "context_too_long"
    if codes & _REFUSED or isinstance(error, core.ModelRefusalError):
        return "refused"
    if status in _NOBODY_THERE or isinstance(
        error, core.ModelConnectionError | core.ModelTimeoutError | ConnectionError | TimeoutError
    ):
        return "unreachable"
    if status == 429 or isinstance(error, core.ModelRateLimitError):
        return "rate_limited"
    return "unsupported" if status in _NOT_UNDERSTOOD else "model_error"
