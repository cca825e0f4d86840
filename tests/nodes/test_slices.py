"""What each node can see and may write: asserted on the real graph, and for each node alone."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.types import Command

from graph.app import App
from graph.build import ORDER, build, read_slice, slice_schema, written
from graph.channels import NEXT_STEP, StateUnreadable
from graph.lap_seal import CHANNEL as SEAL
from graph.lap_seal import Sealing
from graph.node_threads import NodeThreads
from state.context import Packed
from state.node import Node, SliceError
from state.run import AgentState, RunContext, RunInput, RunOutput
from state.value import Value
from state.work import Decision
from tests.desk import AGENT, LEAD, Desk
from tests.fakes import FakeSeal
from tests.graph.order_desk import ENDS, OPENS, PLANS, message, order_desk
from tests.nodes.filing import ALLOWED, SEEN
from tests.nodes.parts import Parts, act, attempts, decision

SEES = {
    "resolve": {"messages", "task", "head"},
    "plan": {"request", "task"},
    "retrieve": {"request", "decision", "task"},
    "pack": {"request", "decision", "task", "candidates", "attempts"},
    "propose": {"request", "decision", "manifest", "attempts"},
    "validate": {"request", "decision", "proposal", "manifest", "task", "attempts", "verdicts"},
    "execute": {"request", "decision", "proposal", "verdicts"},
    "log": {
        "messages",
        "request",
        "task",
        "head",
        "decision",
        "candidates",
        "manifest",
        "proposal",
        "attempts",
        "verdicts",
        "observations",
    },
}
NEEDS = {
    "resolve": {"messages"},
    "plan": {"request", "task"},
    "retrieve": {"request", "decision", "task"},
    "pack": {"request", "decision", "task"},
    "propose": {"request", "decision", "manifest"},
    "validate": {"request", "decision", "proposal", "manifest", "task"},
    "execute": {"request", "decision", "proposal", "verdicts"},
    "log": {"messages", "request", "task"},
}
MAY_WRITE = {
    "resolve": {"messages", "request", "task"},
    "plan": {"decision"},
    "retrieve": {"candidates"},
    "pack": {"manifest"},
    "propose": {"proposal", "attempts"},
    "validate": {"verdicts"},
    "execute": {"observations"},
    "log": SEES["log"],
}
CHANNELS = {*AgentState.__annotations__} - {SEAL}  # which is the wrapper's alone


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The desk, whose model asks for a plan, opens a payment, pays, and reports."""
    pays = message(("c1", "pay", {"vendor": "A", "amount": 120}))
    with ExitStack() as stack:
        yield stack.enter_context(order_desk(tmp_path_factory.mktemp("desk"), Desk(), [PLANS, OPENS, pays, ENDS]))


class Probe:
    """Records the keys of the dict that LangGraph hands to each node, and lets the node do its work."""

    def __init__(self) -> None:
        self.seen: dict[str, list[set[str]]] = {name: [] for name in ORDER}

    def around(self, name: str, node: Runnable[Any, Any]) -> Runnable[Any, Any]:
        def recorded(channels: dict[str, Any], config: RunnableConfig) -> Any:
            self.seen[name].append({*channels})
            return node.invoke(channels, config)

        return RunnableLambda(recorded)


def test_a_node_sees_exactly_its_channels_on_the_compiled_graph(app: App) -> None:
    """Four laps with a pause: from the second lap on every channel has been written, so a leak would show."""
    probe = Probe()
    drawing = app.drawing
    whole = dict(drawing.nodes)
    for name, spec in whole.items():
        drawing.nodes[name] = replace(spec, runnable=probe.around(name, spec.runnable))  # type: ignore[arg-type]  # any runnable is a node
    compiled = drawing.compile(checkpointer=InMemorySaver())
    drawing.nodes.update(whole)

    config: RunnableConfig = {"configurable": {"thread_id": "T"}}
    question: Any = {"messages": [{"type": "human", "content": "Pay vendor A 120"}]}
    paused = compiled.invoke(question, config, context={"principal": AGENT.name})
    (waiting,) = compiled.get_state(config).interrupts
    (asked,) = waiting.value["approvals"]
    answer = {asked["call_id"]: {"approval_id": asked["approval_id"], "decision": "approve"}}
    done = compiled.invoke(Command(resume={waiting.id: answer}), config, context={"principal": LEAD.name})
    assert (paused["task"]["status"], done["task"]["status"]) == (None, "answered")

    assert {name: set.union(*seen) - {SEAL} for name, seen in probe.seen.items()} == SEES
    visits = {name: len(seen) for name, seen in probe.seen.items()}
    assert visits == {**dict.fromkeys(ORDER, 4), "validate": 6, "execute": 1}
    held = {*compiled.get_state(config).values}
    assert held == CHANNELS | {SEAL}
    for name in ORDER:
        assert probe.seen[name][-1] - {SEAL} == SEES[name]


@pytest.mark.parametrize("name", ORDER)
def test_the_slices_of_the_table_are_those_of_the_graph(app: App, name: str) -> None:
    node = of(app, name)
    assert {*slice_schema(node).__annotations__} == SEES[name] | {SEAL}
    assert {*node.writes.model_fields} == MAY_WRITE[name]
    assert SEES[name] | MAY_WRITE[name] <= CHANNELS


def of(app: App, name: str) -> Node:
    return next(node for node in app.nodes if node.name == name)


def full(parts: Parts) -> dict[str, Any]:
    """Every channel with a value."""
    return {
        "messages": [{"type": "human", "content": "hola"}],
        "task": parts.task().model_dump(mode="json"),
        "head": "head",
        "request": parts.request().model_dump(mode="json"),
        "decision": decision().model_dump(mode="json"),
        "candidates": "art-c",
        "manifest": Packed(ref="art-m").model_dump(mode="json"),
        "proposal": parts.proposal(act(("c1", "lookup", {"order": "A1"}))),
        "attempts": [attempt.model_dump(mode="json") for attempt in attempts("proposal")],
        "verdicts": [ALLOWED.model_dump(mode="json")],
        "observations": [SEEN.model_dump(mode="json")],
    }


@pytest.mark.parametrize("name", ORDER)
def test_a_node_alone_gets_its_slice_and_nothing_else(app: App, parts: Parts, name: str) -> None:
    given = read_slice(of(app, name), full(parts))
    assert {field: getattr(given, field) is not None for field in type(given).model_fields} == dict.fromkeys(
        SEES[name], True
    )


@pytest.mark.parametrize(("name", "field"), [(name, field) for name in ORDER for field in sorted(NEEDS[name])])
@pytest.mark.parametrize("lack", ["missing", "null"])
def test_a_slice_that_lacks_a_field_names_node_field_and_what_it_reads(
    app: App, parts: Parts, name: str, field: str, lack: str
) -> None:
    channels = {key: value for key, value in full(parts).items() if key != field}
    if lack == "null":
        channels[field] = None
    reads = ", ".join(sorted(SEES[name]))
    with pytest.raises(StateUnreadable) as lacking:
        read_slice(of(app, name), channels)
    assert str(lacking.value) == f"node {name}: its slice lacks or spoils {field}; it reads: {reads}; {NEXT_STEP}"


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name in ORDER for field in sorted(SEES[name] - NEEDS[name])]
)
def test_a_field_that_a_node_does_not_need_may_be_missing(app: App, parts: Parts, name: str, field: str) -> None:
    given = read_slice(of(app, name), {**full(parts), field: None})
    assert getattr(given, field) is None


@pytest.mark.parametrize(
    ("name", "field", "spoiled"),
    [
        ("plan", "task", {"opened": ["refund"]}),
        ("resolve", "head", 7),
        ("execute", "verdicts", [{"verdict": "allowed"}]),
        ("propose", "manifest", "art-m"),
        ("log", "decision", {"kind": "act"}),
    ],
)
def test_a_spoiled_field_is_named_too(app: App, parts: Parts, name: str, field: str, spoiled: Any) -> None:
    with pytest.raises(StateUnreadable, match=f"node {name}: its slice lacks or spoils {field}; it reads: "):
        read_slice(of(app, name), {**full(parts), field: spoiled})


FOREIGN = [(name, key) for name in ORDER for key in sorted((CHANNELS | {"approved"}) - MAY_WRITE[name])]


@pytest.mark.parametrize(("name", "key"), FOREIGN)
def test_a_key_that_a_node_may_not_write_names_node_key_and_what_it_may(
    app: App, parts: Parts, name: str, key: str
) -> None:
    values = {**full(parts), "approved": True}
    result = {field: values[field] for field in MAY_WRITE[name]} | {key: values[key]}
    allowed = ", ".join(sorted(MAY_WRITE[name]))
    with pytest.raises(SliceError) as foreign:
        written(of(app, name), result)
    assert str(foreign.value) == f"node {name}: it returned {key}; it may write: {allowed}"


@pytest.mark.parametrize(
    ("name", "result", "wrong"),
    [
        ("resolve", {}, "request, task"),
        ("plan", {"decision": None}, "decision"),
        ("plan", {"decision": {"kind": "rule the world"}}, "decision"),
        ("retrieve", {}, "candidates"),
        ("propose", {"proposal": 7, "attempts": ()}, "proposal"),
        ("log", {"head": "h", "task": {}, "request": {}}, "request"),
    ],
)
def test_a_wrong_or_missing_value_is_named(app: App, name: str, result: dict[str, Any], wrong: str) -> None:
    with pytest.raises(SliceError, match=f"node {name}: wrong value for {wrong}; it may write: "):
        written(of(app, name), result)


class Elsewhere(Value):
    """What a node of somebody else's would write."""

    approved: bool


def test_a_value_of_another_shape_is_refused_by_its_keys(app: App) -> None:
    with pytest.raises(SliceError, match="node validate: it returned approved; it may write: verdicts"):
        written(of(app, "validate"), Elsewhere(approved=True))


def test_only_what_a_node_set_is_written_as_plain_json(app: App, parts: Parts) -> None:
    node = of(app, "log")
    set_by_log = node.writes.model_validate({"head": "h", "task": parts.task(), "request": None})
    assert written(node, set_by_log) == {"head": "h", "task": parts.task().model_dump(mode="json"), "request": None}
    decided: Decision = decision()
    assert written(of(app, "plan"), {"decision": decided}) == {"decision": decided.model_dump(mode="json")}


def drawn(app: App, nodes: Sequence[Node]) -> None:
    graph = StateGraph(AgentState, context_schema=RunContext, input_schema=RunInput, output_schema=RunOutput)
    build(graph, nodes, app.identity.scope, lambda *_: None, Sealing(FakeSeal()), NodeThreads())


class Stray(Value):
    """A slice with a field that is no channel."""

    approved: bool = True


@pytest.mark.parametrize("change", [{"reads": Stray}, {"writes": Stray}], ids=["reads", "writes"])
def test_a_field_that_is_no_channel_is_refused_when_the_graph_is_built(app: App, change: dict[str, Any]) -> None:
    nodes = [replace(node, **change) if node.name == "plan" else node for node in app.nodes]
    with pytest.raises(SliceError, match="node plan: approved are no channels; channels: messages, task, head"):
        drawn(app, nodes)


@pytest.mark.parametrize("names", [ORDER[:-1], (*ORDER, "extra")], ids=["seven", "nine"])
def test_the_loop_has_exactly_eight_nodes(app: App, names: tuple[str, ...]) -> None:
    nodes = [replace(of(app, name) if name in ORDER else app.nodes[0], name=name) for name in names]
    with pytest.raises(ValueError, match="the loop has exactly: resolve, plan, retrieve, pack, propose, validate"):
        drawn(app, nodes)
