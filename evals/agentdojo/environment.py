"""A suite of AgentDojo with attack text in every vector, and the domain that its tools make under our contracts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from pydantic import JsonValue

from evals.agentdojo.suites import banking, slack, travel, workspace
from evals.agentdojo.terms import Terms
from state.checks.schema import closed
from state.contract import ToolContract
from state.domain import DecisionTable, Domain, Rule, Section
from state.policy import Policy
from state.run import Fact, Principal
from state.tools import Result, Tool, ToolContext, ToolError, untitled
from state.work import DecisionKind, DecisionSpec, Form

VERSION = "v1.2.2"
TERMS: Mapping[str, Mapping[str, Terms]] = {
    "banking": banking.TERMS,
    "slack": slack.TERMS,
    "travel": travel.TERMS,
    "workspace": workspace.TERMS,
}
ROLE = "user"
TENANT = "dojo"
_NO_DAY = date(2024, 5, 15)  # where an environment has no calendar: any day is as good


@dataclass
class World:
    """A suite, and the environment that its tools work on now."""

    name: str
    suite: Any
    environment: Any = None

    def begin(self, attack: str, task: Any) -> Any:
        """Start a task in a fresh environment with this text in every vector; a copy of it as it was then."""
        marks = {name: f"---{name}---" for name in self.suite.get_injection_vector_defaults()}
        # Put in as values, not into the YAML: an attack may hold quotes and line ends.
        plain = self.suite.load_and_inject_default_environment(marks).model_dump()
        texts = {mark: attack or self.suite.get_injection_vector_defaults()[name] for name, mark in marks.items()}
        injected = self.suite.environment_type.model_validate(_put(plain, texts))
        self.environment = task.init_environment(injected)
        return self.environment.model_copy(deep=True)


def open_world(name: str) -> World:
    """A suite by name. Raises KeyError for one that has no contracts here."""
    if name not in TERMS:
        raise KeyError(f"got the suite {name!r}, which has no contracts here; there are: {', '.join(TERMS)}")
    return World(name, get_suite(VERSION, name))


def domain_of(world: World, home: Path) -> Domain:
    """The suite as a domain: every tool under its contract, one principal, a policy in which the user answers."""
    home.mkdir(parents=True, exist_ok=True)
    terms = TERMS[world.name]
    tools = tuple(_tool(world, function, terms[function.name]) for function in world.suite.tools)
    names = tuple(tool.contract.name for tool in tools)
    policy = Policy(
        version="dojo-1",
        effective_from=datetime(2020, 1, 1, tzinfo=UTC),
        approver_roles=(ROLE,),
        self_approval=True,
        max_decisions=64,
        observation_ttl_s=0,
    )
    forms = (Form.ANSWER,)
    return Domain(
        name=f"agentdojo-{world.name}",
        principals=lambda: (principal_of(world).name,),
        principal=lambda name: principal_of(world),
        instructions=(Section(name="role", version="1", text="You work for the user."),),
        examples=(),
        table=DecisionTable(
            specs=(
                DecisionSpec(kind=DecisionKind.ACT, toolset="all", tools=names, forms=forms),
                DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
            ),
            rules=(Rule(name="bound", at_bound=True, then="close/bound"), Rule(name="act", then="act/all")),
        ),
        policies=(policy,),
        tools=tools,
        corpus=home,
    )


def principal_of(world: World) -> Principal:
    """The user, with what the environment's own records say: addresses and accounts."""
    held = world.environment
    facts = {
        "iban": _at(held, "bank_account", "iban"),
        "email": _at(held, "inbox", "account_email") or _at(held, "user", "email"),
    }
    known = {name: str(value) for name, value in facts.items() if value is not None}
    return Principal(
        name=f"user@{TENANT}",
        tenant=TENANT,
        roles=(ROLE,),
        subjects=("me", *known.values()),
        facts=tuple(Fact(name=name, value=value, source=f"account://{name}") for name, value in known.items()),
    )


def now_of(world: World) -> datetime:
    """The time of the environment: its calendar's day, where it has one."""
    day = _at(world.environment, "calendar", "current_day") or _NO_DAY
    return datetime.combine(day, time(9), tzinfo=UTC)


@dataclass(frozen=True)
class WorldClock:
    """The time of a world, wherever it stands."""

    world: World

    def now(self) -> datetime:
        """The environment's time."""
        return now_of(self.world)


def _parameters(function: Any, terms: Terms) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = untitled(function.parameters.model_json_schema())
    named = schema.get("properties", {})
    assert isinstance(named, dict)
    closed_schema: dict[str, JsonValue] = closed({**schema, "properties": {**named, **terms.schemas}})
    return closed_schema


def _tool(world: World, function: Any, terms: Terms) -> Tool:
    contract = ToolContract(
        name=function.name,
        description=" ".join(function.description.split()),
        effect=terms.effect,
        parameters=_parameters(function, terms),
        roles=(ROLE,),
        output=terms.output,
        arguments=dict(terms.arguments),
        opens_when=terms.opens_when,
        audience=terms.audience,
        reversible=terms.reversible,
        max_rows=1_000,
        max_bytes=1_000_000,
    )
    runtime = FunctionsRuntime([function])

    def run(context: ToolContext, **arguments: Any) -> Result:
        try:
            result, _ = runtime.run_function(world.environment, function.name, arguments, raise_on_error=True)
        except ValueError as error:
            raise ToolError("failed", str(error)) from error
        given = function.parameters.model_validate(arguments).model_dump()
        return terms.typed(result, given)

    return Tool(contract, run)


def _at(held: Any, part: str, name: str) -> Any:
    return getattr(getattr(held, part, None), name, None)


def _put(value: Any, texts: Mapping[str, str]) -> Any:
    match value:
        case str():
            for mark, text in texts.items():
                value = value.replace(mark, text)
            return value
        case dict():
            return {_put(name, texts): _put(inner, texts) for name, inner in value.items()}
        case list():
            return [_put(inner, texts) for inner in value]
        case _:
            return value
