"""A case: one task with its labels, its boundaries, what is laid under it, and how it has to end (E1)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, JsonValue, model_validator

from state.memory import MemorySource
from state.request import AttemptOutcome
from state.value import Value
from state.work import Status

# The time of the worked example (MISSION, W); a case that says nothing happens then.
CLOCK = datetime(2026, 7, 15, 9, 30, tzinfo=UTC)

MODEL = "model"  # stands for the model where failures name what fails

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]


class Slice(StrEnum):
    """What a case is about; success is reported per slice."""

    NORMAL = "normal"
    CONVERSATION = "conversation"
    SPANISH = "spanish"
    SOURCES = "sources"  # stale and conflicting ones
    PERMISSION = "permission"
    INJECTION = "injection"
    FAULT = "fault"
    ANTIPATTERN = "antipattern"


class Vector(StrEnum):
    """By which way a hostile text comes in."""

    DOCUMENT = "document"
    METADATA = "metadata"
    FILE_NAME = "file_name"
    TOOL_RESULT = "tool_result"
    ERROR_TEXT = "error_text"
    MEMORY = "memory"
    ASSISTANT_TURN = "assistant_turn"


class Actor(Value):
    """Who asks. Facts beside the name are not given to the run: they must equal those that the domain holds."""

    principal: str
    facts: dict[str, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _facts_beside(cls, given: object) -> object:
        if isinstance(given, dict) and "facts" not in given:
            return {
                "principal": given.get("principal"),
                "facts": {name: value for name, value in given.items() if name != "principal"},
            }
        return given


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
    """A memory that is there before the first turn."""

    subject: str
    text: str
    purpose: str
    source: MemorySource
    days_old: int = 3
    days_left: int = 30


class Called(Value):
    """A call of a tool, or of an answer form, with at least these arguments."""

    tool: str
    arguments: dict[str, JsonValue] = {}


class Said(Value):
    """What the model is made to say once, at its next decision of that place (`act/move`), whichever model it is.

    It tests what stands behind the model: a reply that is well formed and wrong.
    """

    at: str = Field(pattern=r"^[a-z_]+/[a-z_]+$")
    calls: tuple[Called, ...] = Field(min_length=1)


class Fixture(Value):
    """What is laid under a case beside the domain's own data. `documents` are files by path, whole.

    `forgetful` are tools that do not know an effect again: called twice for one effect, they do it twice.
    """

    documents: dict[str, str] = {}
    memories: tuple[Remembered, ...] = ()
    injected: tuple[Injected, ...] = ()
    failures: tuple[Failure, ...] = ()
    said: tuple[Said, ...] = ()
    forgetful: tuple[str, ...] = ()
    events: tuple[dict[str, JsonValue], ...] = ()


_ACTS = ("ask", "approve", "reject", "go_on", "rewrite")


class Turn(Value):
    """One step of a case: something is asked, or a pending call of a tool is approved or rejected.

    Two steps come from outside the conversation: `go_on` runs on where the run was cut off, as a server does, and
    `rewrite` is somebody who can write the stored state and puts other arguments into the calls that wait.
    `after_s` lets the clock run first. `ends` is how the run may stand then, `cites` what its answer must cite:
    sources, or `result:TOOL` for what a call of that tool brought in this turn. `refused` names the error that the
    step must meet, where it is to be refused.
    """

    ask: str | None = None
    approve: str | None = None
    reject: str | None = None
    go_on: Literal[True] | None = None
    rewrite: dict[str, JsonValue] | None = None
    as_: str | None = Field(default=None, alias="as")
    after_s: int = Field(default=0, ge=0)
    ends: tuple[Status, ...] = ()
    cites: tuple[str, ...] = ()
    refused: str = ""

    @model_validator(mode="after")
    def _one_act(self) -> Self:
        given = [name for name in _ACTS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a turn is one of {', '.join(_ACTS)}; got {', '.join(given) or 'none'}")
        return self

    @property
    def name(self) -> str:
        """What is told of this step where it went wrong."""
        return self.ask or self.approve or self.reject or ("go on" if self.go_on else "rewrite")


class Look(Value):
    """A look at the world after the run: a read tool, called directly, shows at least these values.

    Of several rows the first is looked at; where the tool refuses, its code is shown as `error`.
    """

    tool: str
    as_: str | None = Field(default=None, alias="as")
    arguments: dict[str, JsonValue] = {}
    shows: dict[str, JsonValue]


class Case(Value):
    """One task of the fixed set. `needs` names what is not built yet: such a case is listed and not run.

    `guard` names the part whose absence this case must notice (E1). `helpful_evidence` is what may be there beside the
    required; without either, precision is not measured. `effects` are what must have been changed, each once; what is
    not expected must not happen. `never` are calls that must not even reach their tool. `must_not_contain` holds for
    requests, record and answer, `must_not_say` for the answers alone.
    """

    name: Name
    slice: Slice
    input: str = Field(min_length=1)
    actor: Actor
    clock: AwareDatetime = CLOCK
    fixture: Fixture = Fixture()
    ends: tuple[Status, ...] = (Status.ANSWERED,)
    cites: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    required_evidence: tuple[str, ...] = ()
    helpful_evidence: tuple[str, ...] = ()
    stale_evidence: tuple[str, ...] = ()
    required_tools: tuple[str, ...] = ()
    forbidden_tools: tuple[str, ...] = ()
    never: tuple[Called, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    must_not_say: tuple[str, ...] = ()
    observed: dict[str, dict[str, JsonValue]] = {}
    effects: tuple[Called, ...] = ()
    final_state: tuple[Look, ...] = ()
    min_precision: float = Field(default=0, ge=0, le=1)
    max_tokens_per_decision: int | None = None
    expected_outcome: str = Field(min_length=1)
    guard: str = ""
    needs: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _events_need_their_queue(self) -> Self:
        if self.fixture.events and "events" not in self.needs:
            raise ValueError("fixture.events: there is no event queue yet; mark the case with needs: [events]")
        return self

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        """The input and the turns that follow it."""
        first = Turn.model_validate({"ask": self.input, "ends": self.ends, "cites": self.cites})
        return (first, *self.turns)
