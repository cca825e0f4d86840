"""The drawing: eight nodes, their slices, and every route with its label."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from pydantic import JsonValue, ValidationError
from typing_extensions import TypedDict, get_type_hints

from graph.channels import NEXT_STEP, StateUnreadable, wrong_fields
from graph.lap_seal import CHANNEL as SEAL
from graph.lap_seal import Sealing
from graph.leased import Identify, held_by, names_checkpoint
from graph.node_threads import NodeThreads
from graph.progress import answered, begun, tell
from graph.scope import NotYours
from graph.stores.artifacts import at_work_on
from graph.stores.fence import filing_under
from state.node import Node, SliceError
from state.run import AgentState, RunContext, RunInput, RunOutput, Scope
from state.value import Value

Admit = Callable[[Scope, Sequence[Any], bool], None]
Graph = StateGraph[AgentState, RunContext, RunInput, RunOutput]

ORDER = ("resolve", "plan", "retrieve", "pack", "propose", "validate", "execute", "log")


def build(
    graph: Graph, nodes: Sequence[Node], identify: Identify, admit: Admit, sealing: Sealing, threads: NodeThreads
) -> None:
    """Draw the eight nodes on an empty graph: whoever compiles it decides about savers.

    `identify` derives the scope from configurable values and context; `admit` raises for input that may not begin
    a run, and is told whether it begins its thread; `sealing` tells each node whether the lap was edited
    from outside; synchronous nodes of asynchronous runs have `threads`.
    """
    named = {node.name: node for node in nodes}
    if tuple(sorted(named)) != tuple(sorted(ORDER)):
        raise ValueError(f"got nodes {', '.join(sorted(named))}; the loop has exactly: {', '.join(ORDER)}")
    for name in ORDER:
        node = named[name]
        graph.add_node(
            name,
            _wrapped(node, identify, sealing, threads),
            input_schema=slice_schema(node),
            metadata={"reads": sorted(node.reads.model_fields), "writes": sorted(node.writes.model_fields)},
        )
    graph.add_conditional_edges(START, _entry(identify, admit), {"new lap": "resolve", "a lap is still open": "log"})
    graph.add_edge("resolve", "plan")
    graph.add_edge("plan", "retrieve")
    graph.add_edge("retrieve", "pack")
    graph.add_conditional_edges("pack", _after_pack, {"fits": "propose", "does not fit, insufficient": "log"})
    graph.add_conditional_edges(
        "propose",
        _after_propose,
        {"proposal": "validate", "context too long, once": "pack", "failed": "log"},
    )
    graph.add_conditional_edges(
        "validate",
        _after_validate,
        {"any pending": "validate", "at least one allowed call": "execute", "otherwise": "log"},
    )
    graph.add_edge("execute", "log")
    graph.add_conditional_edges("log", _after_log, {"next decision": "resolve", "turn is over": END})


def slice_schema(node: Node) -> type:
    """The TypedDict of the channels a node sees. A field that is no channel would silently become one: refused."""
    channels = get_type_hints(AgentState, include_extras=True)
    given = [name for name in channels if name != SEAL]
    unknown = sorted((node.reads.model_fields.keys() | node.writes.model_fields.keys()) - set(given))
    if unknown:
        raise SliceError(f"node {node.name}: {', '.join(unknown)} are no channels; channels: {', '.join(given)}")
    names = (*node.reads.model_fields, SEAL)
    return TypedDict(f"{node.name.title()}Slice", {name: channels[name] for name in names})  # type: ignore[operator, no-any-return]  # a TypedDict made of a node's fields is unknown to mypy


def read_slice(node: Node, channels: Mapping[str, Any]) -> Value:
    """The node's slice of the channels, typed. Raises StateUnreadable naming node, field and what it reads.

    What a node wrote was checked when it did, so what does not fit comes from a checkpoint.
    """
    given = {name: channels[name] for name in node.reads.model_fields if channels.get(name) is not None}
    try:
        return node.reads.model_validate(given)
    except ValidationError as error:
        allowed = ", ".join(sorted(node.reads.model_fields))
        raise StateUnreadable(
            f"node {node.name}: its slice lacks or spoils {wrong_fields(error)}; it reads: {allowed}; {NEXT_STEP}"
        ) from error


def written(node: Node, result: Value | Mapping[str, Any]) -> dict[str, JsonValue]:
    """What a node returned, as plain channel values. Raises SliceError naming node, key and allowed keys."""
    values = (
        {name: getattr(result, name) for name in result.model_fields_set} if isinstance(result, Value) else dict(result)
    )
    allowed = ", ".join(sorted(node.writes.model_fields))
    foreign = sorted(values.keys() - node.writes.model_fields.keys())
    if foreign:
        raise SliceError(f"node {node.name}: it returned {', '.join(foreign)}; it may write: {allowed}")
    try:
        checked = node.writes.model_validate(values)
    except ValidationError as error:
        raise SliceError(f"node {node.name}: wrong value for {wrong_fields(error)}; it may write: {allowed}") from error
    return checked.model_dump(mode="json", include=set(values))


class _Both(Runnable[Any, Any]):
    """A node with a sync and an async form. RunnableLambda would add a traced run and half a millisecond to each."""

    def __init__(self, name: str, func: Callable[..., Any], afunc: Callable[..., Awaitable[Any]]) -> None:
        self.name, self.func, self.afunc = name, func, afunc

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.func(input, config or {})

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self.afunc(input, config or {})


def _wrapped(node: Node, identify: Identify, sealing: Sealing, threads: NodeThreads) -> _Both:
    def run(channels: dict[str, Any], config: RunnableConfig) -> dict[str, JsonValue]:
        runtime = get_runtime(RunContext)
        lease = held_by(config.get("configurable", {}))
        scope = identify(config.get("configurable", {}), runtime.context)
        tell(runtime.stream_writer, begun(node.name, channels))
        lap = sealing.found(node, scope, channels)
        with lease.at_work(), filing_under(lease), at_work_on(scope.thread):
            result = node.run(read_slice(node, sealing.shown(node, lap, channels)), scope)
        writes = written(node, result)
        if (said := answered(scope, channels, writes)) is not None:
            tell(runtime.stream_writer, said)
        return sealing.after(node, scope, lap, channels, writes)

    if node.arun is None:
        return _Both(node.name, run, partial(threads.run, ORDER.index(node.name), run))
    waiting: Callable[[Any, Scope], Awaitable[Value | Mapping[str, Any]]] = node.arun

    async def arun(channels: dict[str, Any], config: RunnableConfig) -> dict[str, JsonValue]:
        runtime = get_runtime(RunContext)
        lease = held_by(config.get("configurable", {}))
        scope = await asyncio.to_thread(identify, config.get("configurable", {}), runtime.context)
        tell(runtime.stream_writer, begun(node.name, channels))
        lap = sealing.found(node, scope, channels)
        async with lease.awork():
            with filing_under(lease), at_work_on(scope.thread):
                result = await waiting(read_slice(node, sealing.shown(node, lap, channels)), scope)
        return sealing.after(node, scope, lap, channels, written(node, result))

    return _Both(node.name, run, arun)


class _LapSlice(TypedDict, total=False):
    messages: list[Any]
    request: dict[str, Any] | None
    head: str | None


class _PackSlice(TypedDict, total=False):
    manifest: dict[str, Any] | None


class _ProposeSlice(TypedDict, total=False):
    proposal: str | None
    attempts: list[dict[str, Any]] | None


class _ValidateSlice(TypedDict, total=False):
    verdicts: list[dict[str, Any]] | None
    decision: dict[str, Any] | None
    observations: list[dict[str, Any]] | None


class _LogSlice(TypedDict, total=False):
    task: dict[str, Any] | None


def _entry(identify: Identify, admit: Admit) -> Callable[[_LapSlice, RunnableConfig], str]:
    def entry(channels: _LapSlice, config: RunnableConfig) -> str:
        scope = identify(config.get("configurable", {}), get_runtime(RunContext).context)
        if scope.actor.name != scope.principal.name:
            raise NotYours(scope.thread)  # an approver answers what is pending; a new message is the owner's
        # LangGraph's first step of a thread; what goes on has a later one, and so has a fork, which names a checkpoint.
        # A run that was refused here left one too, of its input alone.
        named = (
            names_checkpoint(config.get("configurable", {})) and config.get("metadata", {}).get("langgraph_step") != 0
        )
        begins = not (channels.get("head") or channels.get("request") or named)
        admit(scope, channels.get("messages") or (), begins)
        return "a lap is still open" if channels.get("request") else "new lap"

    return entry


def _after_pack(channels: _PackSlice) -> str:
    packed = channels.get("manifest") or {}
    return "does not fit, insufficient" if packed.get("failure") else "fits"


def _after_propose(channels: _ProposeSlice) -> str:
    if channels.get("proposal"):
        return "proposal"
    attempts = channels.get("attempts") or []
    too_long = [attempt["outcome"]["name"] == "context_too_long" for attempt in attempts]
    return "context too long, once" if too_long and too_long[-1] and sum(too_long) == 1 else "failed"


def _after_validate(channels: _ValidateSlice) -> str:
    verdicts = {verdict["verdict"] for verdict in channels.get("verdicts") or []}
    if "needs_approval" in verdicts:
        return "any pending"
    return "at least one allowed call" if "allowed" in verdicts else "otherwise"


def _after_log(channels: _LogSlice) -> str:
    task = channels.get("task") or {}
    return "turn is over" if task.get("status") else "next decision"
