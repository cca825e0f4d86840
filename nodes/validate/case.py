"""One call under judgement: everything a rule may look at, and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from pydantic import JsonValue

from nodes.validate.opened import Opened
from nodes.validate.provenance import named, own_names
from nodes.validate.repeats import Repeats
from state.checks.known import Row
from state.checks.origin import Shown
from state.checks.sources import Sources
from state.checks.trace import traced
from state.context import ContextManifest, Kind
from state.contract import Effect, ToolContract
from state.domain import Holds, Owns
from state.labels import Traced
from state.policy import Policy
from state.run import RequestContext, Scope
from state.task import TaskState
from state.tools import Observation
from state.work import Decision, ToolCall


@dataclass(frozen=True)
class Case:
    """A proposed call with its arguments read back, its contract, and the request that led to it.

    `digest` names tool and arguments, `bound` this very call, and the claim of its effect. `opened` is what a plan of
    this turn opened, `read` what calls of this turn brought, `earlier` are the calls before it in the proposal. `over`
    names the policy values of the rates that this call would exceed. `changed` names the calls of this turn that a
    person changed, as they were proposed; `typed` the arguments of this one that a person just wrote. `rows` are
    the fields that the request showed. `now` is when it is judged: a call that waited is judged at its answer.
    `repeats`: what it does was done in this turn, or settled by a person. `disputed`: the request showed a conflict.
    `lapsed`: it showed a memory that is not current any more.
    `masked` gives a text without its secrets.
    """

    call: ToolCall
    arguments: dict[str, JsonValue]
    contract: ToolContract
    decision: Decision
    request: RequestContext
    scope: Scope
    task: TaskState
    policy: Policy
    shown: tuple[Shown, ...]
    owns: dict[str, Owns]
    holds: dict[str, Holds]
    masked: Callable[[str], str]
    over: tuple[str, ...]
    opened: Opened
    read: tuple[Observation, ...]
    earlier: tuple[ToolCall, ...]
    digest: str
    bound: str
    now: datetime
    changed: frozenset[str] = frozenset()
    typed: frozenset[str] = frozenset()
    rows: tuple[Row, ...] = ()
    repeats: Repeats = field(default_factory=Repeats)
    disputed: bool = False
    lapsed: bool = False

    @cached_property
    def sources(self) -> Sources:
        """What the request showed, to be asked where a value comes from."""
        opens = self.contract.opens_when
        # An effect that only a plan opens is asked for by the verb that its name begins with.
        verb = self.contract.name.partition("_")[0]
        stems = tuple(stem for group in opens.stems for stem in group) if opens else (verb,)
        reads = self.contract.effect is Effect.READ
        own = own_names(self.scope.principal)
        return Sources(self.shown, self.rows, self.request.now.date(), own, stems, reads)

    @cached_property
    def taken_as(self) -> dict[str, JsonValue]:
        """The arguments as the tool takes them: what is left out has its default, which is bounded like any value."""
        return self.contract.with_defaults(self.arguments)

    @cached_property
    def trace(self) -> tuple[Traced, ...]:
        """Where each argument comes from."""
        return traced(self.contract, self.arguments, self.sources, self.typed)

    @property
    def by_words(self) -> bool:
        """Whether the effect is opened by the user's own words of this turn, and by no plan."""
        if self.contract.effect is Effect.READ or self.taken < self.opened.here[self.call.tool]:
            return False
        return named(self.contract.opens_when, self.shown, self.request.turn_index, self.request.now.date())

    @property
    def taken(self) -> int:
        """How many calls before this one, in the same proposal, take the same opened effect."""
        return sum(before.tool == self.call.tool for before in self.earlier)

    @property
    def slot(self) -> int | None:
        """The step of the plan that this effect would spend; None where none is left on any branch."""
        free = self.opened.free.get(self.call.tool, ())
        return free[self.taken] if self.taken < len(free) else None


def offered(decision: Decision, manifest: ContextManifest) -> Decision:
    """The decision without the tools that its request left out: of many, those that were not found (X3)."""
    left_out = {one.source for one in manifest.dropped if one.kind is Kind.TOOL}
    tools = tuple(name for name in decision.tools if f"tool://{name}" not in left_out)
    return decision if tools == decision.tools else decision.model_copy(update={"tools": tools})


@dataclass(frozen=True)
class Deny:
    """No. `reason` is ours and repeats no value of the call."""

    reason: str


@dataclass(frozen=True)
class Ask:
    """A person decides."""

    reason: str


@dataclass(frozen=True)
class Allow:
    """Yes."""


Finding = Deny | Ask | Allow
