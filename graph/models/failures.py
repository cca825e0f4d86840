"""Provider exceptions to typed outcomes, by exception type and status code; a message is never read.

A server's message may echo the prompt or the key, so none of it is kept: only the status and the short codes that
the protocol defines, with the key masked by value.
"""

import re
from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from langchain_core import exceptions as core
from pydantic import SecretStr

from graph.masking import masked as said
from state.request import AttemptOutcome, ModelError

Failure = Literal["unauthorised", "unreachable", "context_too_long", "refused", "model_error"]

# What servers write into the fields `code` and `type`: OpenAI and vLLM, llama.cpp, Azure.
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error"}
_REFUSED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
_SHORT_CODE = re.compile(r"[\w.\-\[\]]{1,64}")
# Answered by the server itself or by a proxy before it: nobody read the request.
_NOBODY_THERE = {408, 502, 503, 504}

_NEXT: dict[Failure, str] = {
    "unauthorised": "the server refused the key; check EXPEDIENTE_OPENAI_API_KEY",
    "unreachable": "no answer from the model server; check EXPEDIENTE_OPENAI_BASE_URL and that the server runs",
    "context_too_long": "the request is longer than the model's window; lower EXPEDIENTE_WINDOW_TOKENS",
    "refused": "the provider's content filter refused the request; the record shows what was sent",
    "model_error": "the model server failed; try again, then look at the server's own log",
}
_NEXT_BY_STATUS: dict[int | None, str] = {
    None: "the reply could not be read; check that a chat model's server stands behind EXPEDIENTE_OPENAI_BASE_URL",
    400: "the server does not accept the request; check that the model supports tools and these settings",
    404: "the server knows no such model or address; check EXPEDIENTE_OPENAI_MODEL and EXPEDIENTE_OPENAI_BASE_URL",
    422: "the server does not accept the request; check that the model supports tools and these settings",
    429: "the server limits the rate or the quota is used up; wait, or check the limits of the key",
}


def masked(text: str, secrets: Sequence[SecretStr]) -> str:
    """The text with every secret replaced, wherever it stands."""
    for secret in secrets:
        if value := secret.get_secret_value():
            text = text.replace(value, "***")
    return text


def failure(error: Exception, secrets: Sequence[SecretStr] = ()) -> ModelError:
    """The ModelError of a provider's exception: its kind, what to do next, status and codes; no key, no prompt."""
    source = _answered(error)
    status = source.status_code if isinstance(source, _HasStatus) else None
    # The codes of a provider's exception are whatever its server sent; only short identifiers are codes.
    found = (str(getattr(source, name, None) or "") for name in ("code", "type", "param"))
    codes = tuple(dict.fromkeys(code for code in found if _SHORT_CODE.fullmatch(code)))
    name = _kind(error, status, set(codes))
    advice = _NEXT[name]
    if name == "model_error":
        advice = _NEXT_BY_STATUS.get(status, advice)
    facts = said(", ".join((str(status) if status else type(error).__name__, *codes)))
    what, _, next_step = advice.partition("; ")
    return ModelError(AttemptOutcome(name=name, detail=f"{what} ({masked(facts, secrets)}); {next_step}"))


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


def _kind(error: Exception, status: int | None, codes: set[str]) -> Failure:
    if status in (401, 403) or isinstance(error, core.ModelAuthenticationError | core.ModelPermissionDeniedError):
        return "unauthorised"
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
    return "model_error"
