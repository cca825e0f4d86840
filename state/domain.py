"""The Domain: all that a fork supplies. The engine knows a domain only through this value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue

from state.events import Event
from state.mcp import McpServer
from state.memory import MemoryRecord
from state.policy import Policy
from state.run import Principal, Scope
from state.skill import Shelf
from state.task import TaskState
from state.tools import Tool
from state.value import Value
from state.work import Decision, DecisionKind, DecisionSpec, LapOutcome


class Section(Value):
    """A labelled section of durable instructions: role, policy, tool guidance, output."""

    name: str
    version: str
    text: str


class Example(Value):
    """A boundary case for one decision kind, the right choice beside the wrong one (S4).

    `holds_while` are the policy values under which it is right: under others it is never shown.
    """

    example_id: str
    version: str
    kind: DecisionKind
    text: str
    holds_while: dict[str, int | float | str | bool] = {}


class Rule(Value):
    """A row of the decision table: the first row whose conditions all hold decides. Conditions match no text.

    `then` names a spec as `kind/toolset`; `next_step` takes the spec that holds the plan's next open step,
    `again` the spec of the lap before. Where there is no such spec, the next row is asked. `roles` holds for a
    principal who has one of them.
    """

    name: str
    roles: tuple[str, ...] | None = None
    outcomes: tuple[LapOutcome | None, ...] | None = None
    last_kinds: tuple[DecisionKind, ...] | None = None
    steps_left: bool | None = None
    at_bound: bool | None = None
    max_denials: int | None = None
    then: str


class DecisionTable(Value):
    """The domain's decision table: specs and rules. Its last row should always hold, and one row hold the bound."""

    specs: tuple[DecisionSpec, ...]
    rules: tuple[Rule, ...]

    def spec(self, kind: DecisionKind, toolset: str) -> DecisionSpec:
        """The spec of a kind and toolset. Raises RuntimeError naming the specs there are."""
        for spec in self.specs:
            if spec.kind is kind and spec.toolset == toolset:
                return spec
        known = ", ".join(f"{spec.kind}/{spec.toolset}" for spec in self.specs)
        raise RuntimeError(f"no decision {kind}/{toolset} in the domain's table; it has: {known}")

    def decide(self, task: TaskState, max_decisions: int, roles: Sequence[str] = ()) -> Decision:
        """The next decision for a task state and the principal's roles. Raises RuntimeError where no row holds."""
        at_bound = task.laps_in_turn >= max_decisions - 1
        for rule in self.rules:
            if rule.roles is not None and not set(rule.roles) & set(roles):
                continue
            if rule.outcomes is not None and task.last_outcome not in rule.outcomes:
                continue
            if rule.last_kinds is not None and task.last_kind not in rule.last_kinds:
                continue
            if rule.steps_left is not None and rule.steps_left != bool(task.steps):
                continue
            if rule.at_bound is not None and rule.at_bound != at_bound:
                continue
            if rule.max_denials is not None and task.denials_in_turn > rule.max_denials:
                continue
            spec = self._target(rule, task)
            if spec is not None:
                return spec.decision(task.next_index, rule.name)
        raise RuntimeError(f"no rule of the decision table covers outcome {task.last_outcome}; add a last row for it")

    def _target(self, rule: Rule, task: TaskState) -> DecisionSpec | None:
        if rule.then == "next_step":
            return next((spec for spec in self.specs if task.steps and task.steps[0] in spec.tools), None)
        if rule.then == "again":
            last = (task.last_kind, task.last_toolset)
            return next((spec for spec in self.specs if (spec.kind, spec.toolset) == last), None)
        kind, _, toolset = rule.then.partition("/")
        return self.spec(DecisionKind(kind), toolset)


class DomainUnavailable(RuntimeError):
    """The domain's own data cannot be used. The text is for the operator: what was got, allowed, and the next step."""


StillSo = Callable[[Scope, Event, datetime], bool]
Owns = Callable[[Scope, str], bool]
Holds = Callable[[Scope, Mapping[str, JsonValue], datetime], bool]


@dataclass(frozen=True)
class Domain:
    """One bundle of data, tools, policy and principals.

    `principal` looks a name up and returns None for an unknown one. `resources` maps a resource kind to a
    question that reads the asker's own rows only: is this id one of mine? `preconditions` are those that contracts
    require, by name: does it hold for these arguments now? `corpus` is a folder of documents
    whose front matter says tenant, version and access. `memories` seeds the memory store. `events` are the kinds of
    events there are, each with a look at whether it is still so before anybody is told. `skills` is a folder of skills
    (S9), `lock` the JSON file of what was reviewed of skills and MCP tools (state.lock); without it nothing was.
    `shelf` is what the engine read there. `servers` are MCP servers with the contracts of their tools, which the
    decision table names as `server__tool`. `check_writable` raises DomainUnavailable where the domain's data can be
    read alone: it is asked before anything runs, and not where a thread is only looked at.
    """

    name: str
    principals: Callable[[], Sequence[str]]
    principal: Callable[[str], Principal | None]
    instructions: Sequence[Section]
    examples: Sequence[Example]
    table: DecisionTable
    policies: Sequence[Policy]
    tools: Sequence[Tool]
    corpus: Path
    resources: Mapping[str, Owns] = field(default_factory=dict)
    preconditions: Mapping[str, Holds] = field(default_factory=dict)
    memories: Sequence[MemoryRecord] = ()
    events: Mapping[str, StillSo] = field(default_factory=dict)
    skills: Path | None = None
    lock: Path | None = None
    shelf: Shelf | None = None
    servers: Sequence[McpServer] = ()
    check_writable: Callable[[], None] = lambda: None
    close: Callable[[], None] = lambda: None


LoadDomain = Callable[[Path, datetime], Domain]
"""What a domain package exports as `load`: given its own data folder and the time, the Domain."""
