"""What it is measured against: eight empty nodes in the same loop, with the same saver and the same durability."""

from typing import Any, NotRequired

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from evals.bench.subject import DECISIONS_PER_TURN, THREAD
from graph.build import ORDER

Floor = CompiledStateGraph[Any, Any, Any, Any]


class Laps(TypedDict):
    """The channels of the empty loop: the input, and the number of the lap, without which it would never end."""

    messages: NotRequired[list[Any]]
    lap: NotRequired[int]


def make_floor(saver: BaseCheckpointSaver[Any]) -> Floor:
    """The empty loop, compiled with a saver of the house."""
    graph: StateGraph[Laps, None, Laps, Laps] = StateGraph(Laps)
    for name in ORDER[:-1]:
        graph.add_node(name, _empty)
    graph.add_node("log", _count)
    # Conditional where the real loop is: a router is part of what LangGraph charges for the drawing.
    graph.add_conditional_edges(START, lambda _: "on", {"on": "resolve", "off": "log"})
    for name, after in (("resolve", "plan"), ("plan", "retrieve"), ("retrieve", "pack"), ("execute", "log")):
        graph.add_edge(name, after)
    for name, after in (("pack", "propose"), ("propose", "validate"), ("validate", "execute")):
        graph.add_conditional_edges(name, lambda _: "on", {"on": after, "off": "log"})
    graph.add_conditional_edges("log", _ends, {"next decision": "resolve", "turn is over": END})
    return graph.compile(checkpointer=saver, name="empty")


def run_turn(floor: Floor, question: str) -> None:
    """As many laps as a turn of the subject has decisions, streamed as the app streams them."""
    given = {"messages": [HumanMessage(content=question, id="msg")]}
    config: Any = {"configurable": {"thread_id": THREAD}, "recursion_limit": 100}
    for _ in floor.stream(given, config, stream_mode="updates", durability="sync"):
        pass


def _empty(state: Laps) -> dict[str, Any]:
    return {}


def _count(state: Laps) -> dict[str, Any]:
    return {"lap": state.get("lap", 0) + 1}


def _ends(channels: Laps) -> str:
    return "next decision" if channels.get("lap", 0) % DECISIONS_PER_TURN else "turn is over"
