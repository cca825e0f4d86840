"""The order desk as a whole domain on the real graph, with a scripted model: any proposal meets the gates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from state.domain import DecisionTable, Domain, Rule, Section
from state.work import DecisionKind, DecisionSpec, Form, LapOutcome
from tests.desk import AGENT, LEAD, POLICY, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings

FORMS = (Form.ANSWER, Form.CLARIFY, Form.ESCALATE, Form.PLAN)
TOOLS = ("get_invoice", "lookup", "refund", "pay", "send_note")
TABLE = DecisionTable(
    specs=(
        DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=("get_invoice", "lookup"), forms=FORMS),
        DecisionSpec(kind=DecisionKind.PLAN, toolset="open", forms=FORMS),
        DecisionSpec(kind=DecisionKind.ACT, toolset="desk", tools=TOOLS, forms=FORMS),
        DecisionSpec(kind=DecisionKind.ANSWER, toolset="report", forms=FORMS, instructions=("role",)),
        DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
    ),
    rules=(
        Rule(name="bound", at_bound=True, then="close/bound"),
        Rule(name="begin", outcomes=(None,), then="gather/look"),
        Rule(name="plan", outcomes=(LapOutcome.PLAN_REQUESTED,), then="plan/open"),
        Rule(name="act", outcomes=(LapOutcome.PLANNED,), then="act/desk"),
        Rule(name="report", then="answer/report"),
    ),
)

Call = tuple[str, str, dict[str, Any]]
"""Call id, tool, arguments."""


def message(*calls: Call) -> AIMessage:
    """A model's message with these calls."""
    made = [{"id": name, "name": tool, "args": given, "type": "tool_call"} for name, tool, given in calls]
    return AIMessage(content="", tool_calls=made, response_metadata={"finish_reason": "tool_calls"})


PLANS = message(("p1", "plan", {"goal": "as asked"}))
OPENS = message(("p2", "plan", {"goal": "as asked", "steps": ["refund", "pay", "pay"]}))
ENDS = message(("e1", "answer", {"text": "That is all.", "citations": []}))


def order_desk(
    home: Path,
    desk: Desk,
    lines: Sequence[AIMessage],
    clock: FakeClock | None = None,
    database_url: str | None = None,
) -> App:
    """The app of a desk whose model plays `lines`."""
    model = ChatModelAdapter(Scripted(lines=list(lines)), "scripted")
    return open_app(
        settings(home, database_url=database_url),
        clock=clock or FakeClock(NOW),
        domain=desk_domain(home, desk),
        model=model,
        embedder=WordEmbedder(),
    )


def desk_domain(home: Path, desk: Desk) -> Domain:
    """The desk as a domain, with a corpus that is empty."""
    corpus = home / "desk-corpus"
    corpus.mkdir(exist_ok=True)
    return Domain(
        name="order desk",
        principals=lambda: (AGENT.name, LEAD.name),
        principal={AGENT.name: AGENT, LEAD.name: LEAD}.get,
        instructions=(Section(name="role", version="1", text="You work at the order desk."),),
        examples=(),
        table=TABLE,
        policies=(POLICY,),
        tools=tuple(desk.tools.values()),
        corpus=corpus,
        resources=desk.resources,
        preconditions=desk.preconditions,
    )
