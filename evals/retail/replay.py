"""The 115 tasks' expected actions through the gate, against the tables they make without one."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from evals.bench.subject import NoEmbedder
from evals.gate import Gate, Person, Step
from evals.retail.changes import changing_tools
from evals.retail.policy import preconditions, resources
from evals.retail.reading import ROLE, reading_tools
from evals.retail.store import ADDRESS, Store, load
from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.settings import Settings
from state.contract import Effect
from state.domain import DecisionTable, Domain, Rule, Section
from state.policy import Policy
from state.run import Fact, Principal, Scope
from state.tools import Tool, ToolContext, ToolError
from state.value import Value
from state.work import DecisionKind, DecisionSpec, Form

NOW = datetime(2026, 7, 15, 9, tzinfo=UTC)
TENANT = "retail"


class Task(Value):
    """One shared task: who asks, in which words, and the actions that are expected."""

    id: str
    user_id: str
    instruction: str
    actions: tuple[dict[str, JsonValue], ...]
    outputs: tuple[JsonValue, ...] = ()

    @property
    def calls(self) -> Iterator[tuple[str, dict[str, JsonValue]]]:
        """The actions as calls."""
        for action in self.actions:
            arguments = action.get("arguments")
            yield str(action["name"]), dict(arguments) if isinstance(arguments, dict) else {}


class Replayed(Value):
    """What became of a task: its steps, and whether the tables are those that the actions make without a gate."""

    task: str
    steps: tuple[Step, ...]
    same: bool

    @property
    def writes(self) -> tuple[Step, ...]:
        """The steps that would change something."""
        return tuple(step for step in self.steps if step.writes)


class Desk:
    """The retail desk behind one app. Each task begins on fresh tables."""

    def __init__(self, app: App, store: Store, fresh: Path, path: Path) -> None:
        self._app, self._store, self._fresh, self._path = app, store, fresh, path
        self._tools = {tool.contract.name: tool for tool in app.ports.domain.tools}
        self._threads = 0

    def replay(self, task: Task) -> Replayed:
        """The task's actions as its customer, who says yes to each."""
        self.begin()
        customer = self.customer(task)
        expected = self._without_a_gate(task, customer)
        self.begin()
        gate = self.gate(customer, task.instruction, lambda call_id, shown: True)
        steps = tuple(gate.call(name, arguments) for name, arguments in task.calls)
        return Replayed(task=task.id, steps=steps, same=self._store.tables() == expected)

    def begin(self) -> None:
        """The tables as they were first."""
        shutil.copyfile(self._fresh, self._path)

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """The tables as they are."""
        return self._store.tables()

    def gate(self, customer: Principal, words: str, person: Person) -> Gate:
        """A conversation of a customer."""
        self._threads += 1
        return Gate(self._app, customer, words, f"retail-{self._threads}", NOW, person)

    def principal(self, user_id: str) -> Principal:
        """A customer with what the desk holds about them."""
        with self._store.open() as connection:
            user = connection.execute("SELECT * FROM users WHERE user_id = ?", (user_id,)).fetchone()
            methods = connection.execute("SELECT payment_method_id FROM payment_methods WHERE user_id = ?", (user_id,))
            held = [("payment_method", row[0]) for row in methods]
            orders = connection.execute("SELECT order_id FROM orders WHERE user_id = ? ORDER BY order_id", (user_id,))
            held += [("order", row[0]) for row in orders]
        held += [("user_id", user_id), ("email", user["email"]), *((name, user[name]) for name in ADDRESS)]
        facts = (
            Fact(name=f"{name}_{at}", value=value, source=f"retail://{name}") for at, (name, value) in enumerate(held)
        )
        return Principal(name=user_id, tenant=TENANT, roles=(ROLE,), facts=tuple(facts))

    def customer(self, task: Task) -> Principal:
        """Who the desk finds by what the customer says: the record's own id, where that finds nobody.

        One task's record names another customer than the one who speaks in it.
        """
        for name, given in task.calls:
            found = self._found(name, given)
            if found is not None:
                return self.principal(found)
        return self.principal(task.user_id)

    def _found(self, name: str, given: Mapping[str, Any]) -> str | None:
        with self._store.open() as connection:
            if name == "find_user_id_by_email":
                row = connection.execute("SELECT user_id FROM users WHERE email = ?", (given["email"],)).fetchone()
            elif name == "find_user_id_by_name_zip":
                row = connection.execute(
                    "SELECT user_id FROM users WHERE lower(first_name) = lower(?) AND lower(last_name) = lower(?)"
                    " AND zip = ?",
                    (given["first_name"], given["last_name"], given["zip"]),
                ).fetchone()
            else:
                return None
        return None if row is None else str(row["user_id"])

    def _without_a_gate(self, task: Task, customer: Principal) -> dict[str, list[tuple[Any, ...]]]:
        """The tables after the actions alone: what the policy's own look-ups refuse changes nothing."""
        scope = Scope(principal=customer, actor=customer, thread="direct")
        holds = preconditions(self._store)
        owns = resources(self._store)
        for name, arguments in task.calls:
            tool = self._tools[name]
            if tool.contract.effect is Effect.READ:
                continue
            mine = all(owns[kind](scope, str(arguments[at])) for at, kind in tool.contract.resources.items())
            if mine and all(holds[one](scope, arguments, NOW) for one in tool.contract.requires):
                self._run(tool, scope, arguments)
        return self._store.tables()

    def _run(self, tool: Tool, scope: Scope, arguments: Mapping[str, Any]) -> None:
        try:
            tool.run(ToolContext(scope=scope, now=NOW, idempotency_key="direct"), **arguments)
        except ToolError as error:
            raise RuntimeError(f"the expected action {tool.contract.name} failed: {error.code}") from error


def tasks(data: Path) -> tuple[Task, ...]:
    """The shared tasks."""
    return tuple(Task.model_validate(json.loads(line)) for line in (data / "tasks.jsonl").read_text().splitlines())


@contextmanager
def open_desk(data: Path, home: Path) -> Iterator[Desk]:
    """The desk with its tables from the shared folder, its stores in `home`."""
    home.mkdir(parents=True, exist_ok=True)
    fresh, path = home / "fresh.db", home / "retail.db"
    load(data, fresh)
    shutil.copyfile(fresh, path)
    store = Store(path)
    app = open_app(
        Settings.load(home=home / "app"),
        domain=_domain(store, data, home / "corpus"),
        model=ChatModelAdapter(Scripted(lines=[]), "scripted"),
        embedder=NoEmbedder(),
        clock=_Clock(),
    )
    with app:
        yield Desk(app, store, fresh, path)


class _Clock:
    """One moment."""

    def now(self) -> datetime:
        """Always the same."""
        return NOW


def _domain(store: Store, data: Path, corpus: Path) -> Domain:
    corpus.mkdir(parents=True, exist_ok=True)
    tools = (*reading_tools(store), *changing_tools(store))
    names = tuple(tool.contract.name for tool in tools)
    policy = Policy(
        version="retail-1",
        effective_from=datetime(2020, 1, 1, tzinfo=UTC),
        approver_roles=(ROLE,),
        self_approval=True,
        max_decisions=64,
        observation_ttl_s=0,
    )
    spec = DecisionSpec(kind=DecisionKind.ACT, toolset="all", tools=names, forms=(Form.ANSWER,))
    bound = DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound")
    return Domain(
        name="retail",
        principals=lambda: ("customer",),
        principal=lambda name: Principal(name=name, tenant=TENANT, roles=(ROLE,)),
        instructions=(Section(name="policy", version="1", text=(data / "policy.md").read_text(encoding="utf-8")),),
        examples=(),
        table=DecisionTable(
            specs=(spec, bound),
            rules=(Rule(name="bound", at_bound=True, then="close/bound"), Rule(name="act", then="act/all")),
        ),
        policies=(policy,),
        tools=tools,
        corpus=corpus,
        resources=resources(store),
        preconditions=preconditions(store),
    )
