"""A case: one task with its labels, its boundaries, what is laid under it, and how it has to end (E1)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue, model_validator

from evals.fixture import Called, Fixture
from evals.turn import Turn
from state.value import Value
from state.work import Status

# The time of the worked example (MISSION, W); a case that says nothing happens then.
CLOCK = datetime(2026, 7, 15, 9, 30, tzinfo=UTC)

CallOutcome = Literal["ok", "empty", "error", "unknown"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]


class Slice(StrEnum):
    """What a case is about; success is reported per slice."""

    NORMAL = "normal"
    CONVERSATION = "conversation"
    SPANISH = "spanish"
    SOURCES = "sources"  # stale and conflicting ones
    PERMISSION = "permission"
    TOOLS = "tools"  # their contracts: arguments, approval, execution
    SKILLS = "skills"
    INJECTION = "injection"
    FAULT = "fault"
    MEMORY = "memory"  # what is remembered, and what is not
    ANTIPATTERN = "antipattern"


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


class Look(Value):
    """A look at the world after the run: a read tool, called directly, shows at least these values.

    Of several rows the first is looked at; where the tool refuses, its code is shown as `error`.
    """

    tool: str
    as_: str | None = Field(default=None, alias="as")
    arguments: dict[str, JsonValue] = {}
    shows: dict[str, JsonValue]


class Ruled(Value):
    """A rule of the engine that must have judged a call of that tool: what stops a call is what should stop it."""

    tool: str
    rule: str


class Case(Value):
    """One task of the fixed set. `needs` names what is not built yet: such a case is listed and not run.

    `guard` names the part whose absence this case must notice (E1). `helpful_evidence` is what may be there beside the
    required; without either, precision is not measured. `effects` are what must have been changed, each once; what is
    not expected must not happen. `never` are calls that must not even reach their tool, `at_most` says how often a tool
    may run. `outcomes` says by tool how its calls ended, in order, `ruled` which rules must have judged one.
    `skills` are those whose bodies are shown, and no others, where a case says so.
    `told` is what notices of events are about, each told in one request; where events are laid, no others.
    `must_not_contain` holds for requests, record and answer, `must_not_say` for the answers alone.
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
    at_most: dict[str, Annotated[int, Field(ge=1)]] = {}
    ruled: tuple[Ruled, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    must_not_say: tuple[str, ...] = ()
    observed: dict[str, dict[str, JsonValue]] = {}
    outcomes: dict[str, tuple[CallOutcome, ...]] = {}
    effects: tuple[Called, ...] = ()
    final_state: tuple[Look, ...] = ()
    skills: tuple[str, ...] | None = None
    told: tuple[str, ...] = ()
    min_precision: float = Field(default=0, ge=0, le=1)
    max_tokens_per_decision: int | None = None
    expected_outcome: str = Field(min_length=1)
    guard: str = ""
    needs: tuple[str, ...] = ()

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        """The input and the turns that follow it."""
        first = Turn.model_validate({"ask": self.input, "ends": self.ends, "cites": self.cites})
        return (first, *self.turns)
