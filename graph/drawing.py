"""The drawing and the slice table, generated from the nodes themselves and kept in the README between markers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.graph import StateGraph

from graph.build import ORDER, build
from graph.lap_seal import Sealing
from graph.node_threads import NodeThreads
from graph.rows import Ports, make_nodes
from graph.seal import HmacSeal
from graph.settings import Settings
from state.domain import DecisionTable, Domain
from state.node import Node
from state.run import AgentState, Principal, RunContext, RunInput, RunOutput, Scope

_NOTE = "<!-- generated: agent draw --write -->"


class MarkersMissing(LookupError):
    """A text has no place for a generated block."""

    def __init__(self, name: str) -> None:
        super().__init__(f"got a text without <!-- {name} --> … <!-- /{name} -->; add the two markers where it belongs")


def unplugged_nodes() -> tuple[Node, ...]:
    """The eight nodes with nothing behind them: enough to draw them, and no store is opened.

    Factories only hold on to their ports, so a port that is never called may be anything; a domain may be empty.
    """
    nothing: Any = None
    empty = Domain(
        name="",
        principals=tuple,
        principal=lambda _: None,
        instructions=(),
        examples=(),
        table=DecisionTable(specs=(), rules=()),
        policies=(),
        tools=(),
        corpus=Path(),
    )
    ports = Ports(**{**dict.fromkeys(Ports.__annotations__, nothing), "domain": empty})
    return make_nodes(Settings.model_construct(), ports, lambda question: question)


def mermaid(nodes: Sequence[Node]) -> str:
    """The graph as Mermaid text, made locally."""
    nobody = Principal(name="", tenant="", roles=())
    sealing = Sealing(HmacSeal([b"of a drawing"]))
    graph = StateGraph(AgentState, context_schema=RunContext, input_schema=RunInput, output_schema=RunOutput)
    scope = Scope(principal=nobody, actor=nobody, thread="")
    build(graph, nodes, lambda *_: scope, lambda *_: None, sealing, NodeThreads())
    drawn = graph.compile().get_graph()
    # The slices have a table of their own: in the boxes they would hide the routes.
    drawn.nodes = {name: node._replace(metadata=None) for name, node in drawn.nodes.items()}
    return drawn.draw_mermaid().strip()


def slice_table(nodes: Sequence[Node]) -> str:
    """What each node reads and writes, and what it is given, as a Markdown table."""
    named = {node.name: node for node in nodes}
    lines = ["| node | reads | writes | ports | of the domain |", "|---|---|---|---|---|"]
    for name in ORDER:
        node = named[name]
        cells = (sorted(node.reads.model_fields), sorted(node.writes.model_fields), node.ports, node.domain)
        lines.append(f"| {' | '.join((name, *(', '.join(cell) or '–' for cell in cells)))} |")
    return "\n".join(lines)


def with_blocks(text: str, nodes: Sequence[Node]) -> str:
    """The text with both generated blocks brought up to date. Raises MarkersMissing."""
    text = _replaced(text, "drawing", f"```mermaid\n{mermaid(nodes)}\n```")
    return _replaced(text, "slices", slice_table(nodes))


def _replaced(text: str, name: str, block: str) -> str:
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, opened, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise MarkersMissing(name)
    return f"{before}{start}\n{_NOTE}\n\n{block}\n\n{end}{after}"
