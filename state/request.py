"""A model request and the reply, as the Model port carries them; no provider's shapes."""

from functools import cached_property
from typing import Literal

from pydantic import Field, JsonValue, field_validator

from state.canonical import canonical_json, digest
from state.context import RequestSettings
from state.value import Value


class Message(Value):
    """One message. `instruction` is the channel of durable behaviour, `input` the one of data (X2)."""

    channel: Literal["instruction", "input"]
    content: str


class ToolSpec(Value):
    """A tool or an answer form as shown to the model: name, description, JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, JsonValue]

    @cached_property
    def canonical(self) -> bytes:
        """The bytes of the definition as they are counted and hashed: written once, shown in many requests."""
        return canonical_json(self)


Mode = Literal["tools", "json_schema", "json_object", "text"]
"""How a proposal is asked for: as tool calls, or as JSON under a schema, as any JSON object, as JSON in a text."""


class ReplyForm(Value):
    """The form that a reply is asked to have where it is not tool calls."""

    mode: Mode
    json_schema: dict[str, JsonValue]


class Request(Value):
    """Exactly what is handed to the model adapter: messages, tools, settings, and a form where it is not tool calls.

    Without a form it is left out of the bytes: requests of the first releases keep their hashes.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    settings: RequestSettings
    reply_form: ReplyForm | None = Field(default=None, exclude_if=lambda form: form is None)

    def canonical_bytes(self) -> bytes:
        """The bytes that replay rebuilds and the request hash covers (M4)."""
        return canonical_json(self)

    def hash(self) -> str:
        """sha256 of the canonical bytes, in hex."""
        return digest(self.canonical_bytes())


class RawCall(Value):
    """A tool call as the model wrote it. `arguments` is the JSON text, unparsed."""

    call_id: str | None
    name: str
    arguments: str

    @field_validator("call_id", "name")
    @classmethod
    def _readable(cls, text: str | None) -> str | None:
        return None if text is None else text.encode(errors="replace").decode()

    @field_validator("arguments")
    @classmethod
    def _carried(cls, text: str) -> str:
        # Half a character as JSON writes it: the arguments mean the same, and a recording can hold them.
        return text.encode(errors="backslashreplace").decode()


_MOST_TOKENS = 10**12  # in one call; more is no count, and no store has to carry it


class Usage(Value):
    """Tokens as the provider reported them; null where it reported nothing, or what is no count, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _count(cls, reported: object) -> int | None:
        # A negative count would be given back to the limits of the tenant.
        return reported if type(reported) is int and 0 <= reported <= _MOST_TOKENS else None


class Reply(Value):
    """What came back from one model call."""

    text: str
    calls: tuple[RawCall, ...] = ()
    finish_reason: Literal["stop", "tool_calls", "length", "refused", "interrupted", "unknown"]
    usage: Usage = Usage()
    model: str

    @field_validator("text", "model")
    @classmethod
    def _readable(cls, text: str) -> str:
        # Half characters come from servers, and no store or record can carry them.
        return text.encode(errors="replace").decode()


class AttemptOutcome(Value):
    """How one attempt ended: `proposal`, or the name of a typed failure."""

    name: Literal[
        "proposal",
        "truncated",
        "empty_output",
        "refused",
        "malformed",
        "wrong_schema",
        "unknown_form",
        "context_too_long",
        "unauthorised",
        "unreachable",
        "rate_limited",
        "unsupported",
        "limit_reached",
        "model_error",
    ]
    detail: str = ""


class Attempt(Value):
    """One model call of a decision, as the record keeps it (M2). `manifest_ref` is what its request was made from.

    `counted_tokens` is our own count of the request, beside the server's in `usage`; `cost` what it cost by the user's
    prices, null where nothing was reported or no price is known. Records of the first releases have neither. `masked`:
    the proposal held a secret, or what looks like one, and was stored without it; `taken_out` characters that nobody
    sees were taken out of what it says (X9).
    """

    manifest_ref: str
    request_hash: str
    mode: Mode
    model: str
    usage: Usage | None = None
    outcome: AttemptOutcome
    counted_tokens: int | None = Field(default=None, exclude_if=lambda counted: counted is None)
    cost: float | None = Field(default=None, exclude_if=lambda cost: cost is None)
    masked: bool = Field(default=False, exclude_if=lambda masked: not masked)
    taken_out: int = Field(default=0, exclude_if=lambda taken_out: not taken_out)

    @property
    def difference_tokens(self) -> int | None:
        """How much more the server counted than we did, where both are known."""
        reported = self.usage.input_tokens if self.usage else None
        return None if reported is None or self.counted_tokens is None else reported - self.counted_tokens


class ModelError(Exception):
    """A model call that brought no reply. `outcome` names the kind; the text is for the operator.

    `passing` says that the same call may go well a moment later, `retry_after_s` how long the server wants to be left
    alone before that, where it said so.
    """

    def __init__(self, outcome: AttemptOutcome, *, passing: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(f"{outcome.name}: {outcome.detail}")
        self.outcome = outcome
        self.passing = passing
        self.retry_after_s = retry_after_s
