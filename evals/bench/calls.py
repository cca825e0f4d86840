"""`python -m evals.bench.calls`: what judging and running one call costs, beside LangGraph's ToolNode in the same run.

Ours is the time in the nodes validate and execute on the real stores, theirs the time in a ToolNode that calls the
same function; the graphs around both are left out, and the function itself does nothing that takes time.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from langchain_core.messages import AIMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import JsonValue
from rich.console import Console
from rich.table import Table

from evals.bench.report import Ratio, ratio_of
from evals.bench.subject import NoEmbedder
from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.settings import Settings
from state.contract import Effect, OutputField
from state.domain import DecisionTable, Domain, Rule, Section
from state.node import Node
from state.policy import Policy
from state.run import Principal, Scope
from state.tools import Tool, ToolContext, tool
from state.value import Value
from state.work import Act, DecisionKind, DecisionSpec, Form, LapOutcome, ToolCall

_WHO = Principal(name="bench@tenant", tenant="tenant", roles=("operator",))
_A_THREAD = 8  # calls on one thread: as many as a plan has steps
_FORMS = (Form.ANSWER, Form.PLAN)


class Calls(Value):
    """Milliseconds per call, by effect, and as ratios to a ToolNode."""

    calls: int
    validate_ms: float
    execute_ms: float
    tool_node_ms: float
    ratio: Ratio


def measured(effect: Effect, calls: int) -> Calls:
    """Judge and run so many calls of one effect, a ToolNode's in between."""
    with tempfile.TemporaryDirectory(prefix="expediente-bench-") as folder, _opened(Path(folder), effect, calls) as app:
        name = "read_level" if effect is Effect.READ else "set_level"
        named = {node.name: node for node in app.nodes}
        theirs = _tool_node(name)
        rows: list[tuple[float, float, float]] = []
        scope, reads = _on_a_thread(app, name, 0)
        for number in range(calls):
            if number and number % _A_THREAD == 0:
                scope, reads = _on_a_thread(app, name, number)
            lap = _lap(app, reads, name, number)
            peer = theirs(number) if number % 2 else 0.0
            judged, verdicts = _timed(named["validate"], scope, lap)
            done, seen = _timed(named["execute"], scope, {**lap, "verdicts": verdicts["verdicts"]})
            if [one.outcome for one in seen["observations"]] != ["ok"]:
                raise RuntimeError(f"call {number} was not done: {verdicts}; nothing to compare")
            rows.append((judged, done, peer or theirs(number)))
    warm = rows[len(rows) // 10 :]
    return Calls(
        calls=calls,
        validate_ms=median(row[0] for row in warm) * 1000,
        execute_ms=median(row[1] for row in warm) * 1000,
        tool_node_ms=median(row[2] for row in warm) * 1000,
        ratio=ratio_of([row[0] + row[1] for row in warm], [row[2] for row in warm]),
    )


def _timed(node: Node, scope: Scope, lap: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    reads = node.reads.model_validate({name: lap[name] for name in node.reads.model_fields if name in lap})
    started = time.perf_counter()
    wrote = node.run(reads, scope)
    return time.perf_counter() - started, {name: getattr(wrote, name) for name in node.writes.model_fields}


def _on_a_thread(app: App, name: str, number: int) -> tuple[Scope, dict[str, Any]]:
    """A thread's scope, and the channels of its open lap whose proposal waits to be judged; for a write, in a turn that
    planned it."""
    scope = app.identity.owner(app.identity.principal(_WHO.name), f"calls-{number}")
    on: Any = {"configurable": {"thread_id": scope.thread}}
    given: Any = {"messages": [{"type": "human", "content": f"use {name}"}]}
    for _ in range(1 if name == "read_level" else 3):
        app.graph.invoke(given, on, context={"principal": _WHO.name}, interrupt_before=["validate"])
        given = None
    values: dict[str, Any] = app.graph.get_state(on).values
    return scope, values


def _lap(app: App, reads: dict[str, Any], name: str, number: int) -> dict[str, Any]:
    """The lap with a call of its own: each is another effect, and its result has another name."""
    arguments: dict[str, JsonValue] = {"level": number}
    call = ToolCall(call_id="call-1", tool=name, arguments=arguments)
    ref = app.ports.artifacts.put(_WHO.tenant, Act(calls=(call,)).model_dump_json())
    request = {**reads["request"], "request_id": f"req-{number}"}
    return {**reads, "request": request, "proposal": ref, "verdicts": None}


def _tool_node(name: str) -> Callable[[int], float]:
    """Seconds that a ToolNode takes for one call of the same function."""
    seconds: list[float] = []

    def level(level: int) -> dict[str, Any]:
        """Look at the level."""
        return {"level": level}

    node = ToolNode([langchain_tool(name)(level)])
    plain = node.invoke

    def timed(*given: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return plain(*given, **named)
        finally:
            seconds.append(time.perf_counter() - started)

    object.__setattr__(node, "invoke", timed)
    graph: Any = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    compiled = graph.compile()

    def call(number: int) -> float:
        calls = [{"id": f"c{number}", "name": name, "args": {"level": number}, "type": "tool_call"}]
        compiled.invoke({"messages": [AIMessage(content="", tool_calls=calls)]})
        return seconds[-1]

    return call


def _opened(home: Path, effect: Effect, calls: int) -> App:
    (home / "corpus").mkdir(parents=True)
    planned = [
        _says("plan", {"goal": "g"}),
        _says("plan", {"goal": "g", "steps": ["set_level"] * _A_THREAD}),
        _says("set_level", {"level": 0}),
    ]
    lines = ([_says("read_level", {"level": 0})] if effect is Effect.READ else planned) * (calls // _A_THREAD + 1)
    return open_app(
        Settings.load(home=home),
        domain=_domain(home / "corpus"),
        model=ChatModelAdapter(Scripted(lines=lines), "scripted"),
        embedder=NoEmbedder(),
    )


def _says(name: str, arguments: dict[str, Any]) -> AIMessage:
    call: Any = {"id": "c1", "name": name, "args": arguments, "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


def _tools() -> tuple[Tool, ...]:
    output = (OutputField(name="level", trust="system"),)

    @tool(effect=Effect.READ, roles=("operator",), output=output)
    def read_level(context: ToolContext, *, level: int) -> dict[str, Any]:
        """Look at the level."""
        return {"level": level}

    @tool(effect=Effect.WRITE, roles=("operator",), output=output)
    def set_level(context: ToolContext, *, level: int) -> dict[str, Any]:
        """Set the level."""
        return {"level": level}

    return read_level, set_level


def _domain(corpus: Path) -> Domain:
    policy = Policy(version="1", effective_from="2025-01-01T00:00:00Z", approver_roles=("lead",))  # type: ignore[arg-type]  # pydantic reads it
    return Domain(
        name="calls",
        principals=lambda: (_WHO.name,),
        principal={_WHO.name: _WHO}.get,
        instructions=(Section(name="role", version="1", text="You watch a level."),),
        examples=(),
        table=DecisionTable(
            specs=(
                DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=("read_level",), forms=_FORMS),
                DecisionSpec(kind=DecisionKind.PLAN, toolset="open", forms=_FORMS),
                DecisionSpec(kind=DecisionKind.ACT, toolset="do", tools=("set_level",), forms=_FORMS),
                DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
            ),
            rules=(
                Rule(name="begin", outcomes=(None,), then="gather/look"),
                Rule(name="plan", outcomes=(LapOutcome.PLAN_REQUESTED,), then="plan/open"),
                Rule(name="act", outcomes=(LapOutcome.PLANNED,), then="act/do"),
                Rule(name="end", then="close/bound"),
            ),
        ),
        policies=(policy,),
        tools=_tools(),
        corpus=corpus,
    )


def main(calls: Annotated[int, typer.Option(min=20, help="How many calls of each effect.")] = 200) -> None:
    """Measure validate and execute per call, beside a ToolNode."""
    table = Table("call", "validate ms", "execute ms", "ToolNode ms", "ratio (quartiles)", box=None)
    for effect in (Effect.READ, Effect.WRITE):
        found = measured(effect, calls)
        ratio = f"{found.ratio.median:.2f} ({found.ratio.lower:.2f}-{found.ratio.upper:.2f})"
        times = (found.validate_ms, found.execute_ms, found.tool_node_ms)
        table.add_row(effect.value, *(f"{ms:.2f}" for ms in times), ratio)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
