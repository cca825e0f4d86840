"""What is laid under a case: hostile texts, failures, memories, other terms, and what the model is made to say."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from evals.connector import Connected
from state.contract import ToolContract
from state.memory import MemorySource
from state.request import AttemptOutcome
from state.value import Value

MODEL = "model"  # stands for the model where failures name what fails
# A tool's name and what its function takes are the tool itself: a case that changes them tests another one.
_TERMS = tuple(name for name in ToolContract.model_fields if name not in ("name", "description", "parameters"))


class Vector(StrEnum):
    """By which way a hostile text comes in."""

    DOCUMENT = "document"
    METADATA = "metadata"
    FILE_NAME = "file_name"
    TOOL_RESULT = "tool_result"
    ERROR_TEXT = "error_text"
    MEMORY = "memory"
    ASSISTANT_TURN = "assistant_turn"


class Injected(Value):
    """A hostile text. `into` is the place: a section's source for `document`, a document for `metadata` (its heading),
    `tool.field` for `tool_result`, a tool for `error_text`, a subject for `memory`; a file name has none.

    The text must reach a request, else the case proves nothing and is inconclusive (H25); where `shut_out` is true it
    must not. `seen_as` is how it would stand there, where that is not the text itself.
    """

    vector: Vector
    text: str = Field(min_length=1)
    into: str = ""
    seen_as: str = ""
    shut_out: bool = False

    @model_validator(mode="after")
    def _has_its_place(self) -> Self:
        placeless = (Vector.FILE_NAME, Vector.ASSISTANT_TURN)
        if bool(self.into) == (self.vector in placeless):
            wanted = "no `into`" if self.vector in placeless else "`into`, the place"
            raise ValueError(f"vector {self.vector.value}: got into={self.into!r}; needs {wanted}")
        if self.vector is Vector.TOOL_RESULT and self.into.count(".") != 1:
            raise ValueError(f"vector tool_result: got into={self.into!r}; needs `tool.field`")
        return self

    @property
    def trace(self) -> str:
        """What is looked for in the requests."""
        return self.seen_as or self.text


class Failure(Value):
    """A failure of a tool or of the model: `after` so many calls that go well, the next `times` fail.

    A tool: `error` raises a ToolError of `code`, `exception` something unforeseen, `empty` brings nothing; `crash`
    ends the process after the effect, before its result is stored. The model (`of: model`): an `error` whose `code`
    names the outcome of an attempt, such as `unreachable`.
    """

    of: str
    how: Literal["error", "exception", "empty", "crash"]
    code: str = "unavailable"
    times: int = Field(default=1, ge=1)
    after: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _an_outcome_of_attempts(self) -> Self:
        if self.of == MODEL:
            if self.how != "error":
                raise ValueError(
                    f"a failure of the model: got how={self.how!r}; allowed: error, with an outcome as code"
                )
            AttemptOutcome.model_validate({"name": self.code})
        return self


class Remembered(Value):
    """A memory that is there before the first turn; `about` is its topic, if it has one."""

    subject: str
    text: str
    purpose: str
    source: MemorySource
    about: str = ""
    days_old: int = 3
    days_left: int = 30


class Called(Value):
    """A call of a tool, or of an answer form, with at least these arguments."""

    tool: str
    arguments: dict[str, JsonValue] = {}


class SaidCall(Called):
    """A call as the model writes it; `raw` are its arguments as text, where JSON would not carry them."""

    raw: str = ""

    @model_validator(mode="after")
    def _written_once(self) -> Self:
        if self.raw and self.arguments:
            raise ValueError(f"got arguments and raw={self.raw!r}; allowed: one of them; leave the other out")
        return self


class Said(Value):
    """What the model is made to say once, at its next decision of that place (`act/move`), whichever model it is.

    It tests what stands behind the model: a reply that is well formed and wrong.
    """

    at: str = Field(pattern=r"^[a-z_]+/[a-z_]+$")
    calls: tuple[SaidCall, ...] = Field(min_length=1)


class Happened(Value):
    """An event that is queued before the first turn, for the actor's organisation or, with `principal`, one person in
    it. `tenant` is another one's."""

    kind: str
    about: str
    principal: str | None = None
    tenant: str | None = None
    hours_old: int = Field(default=0, ge=0)


class Fixture(Value):
    """What is laid under a case beside the domain's own data. `documents` are files by path, whole. So are `skills`:
    the domain's lock does not pin what stands there then.

    `forgetful` are tools that do not know an effect again: called twice for one effect, they do it twice. `terms` are
    other terms of tools' contracts, by tool; `policy` are values set in every version of the policy record. `servers`
    are MCP servers, whose tools are called `server__tool`.
    """

    documents: dict[str, str] = {}
    skills: dict[str, str] = {}
    memories: tuple[Remembered, ...] = ()
    injected: tuple[Injected, ...] = ()
    failures: tuple[Failure, ...] = ()
    said: tuple[Said, ...] = ()
    forgetful: tuple[str, ...] = ()
    terms: dict[str, dict[str, JsonValue]] = {}
    policy: dict[str, int | float | str | bool] = {}
    events: tuple[Happened, ...] = ()
    servers: tuple[Connected, ...] = ()

    @model_validator(mode="after")
    def _terms_of_contracts(self) -> Self:
        for tool, terms in self.terms.items():
            if unknown := sorted(terms.keys() - set(_TERMS)):
                raise ValueError(f"terms.{tool}: got {', '.join(unknown)}; allowed: {', '.join(_TERMS)}")
        return self
