"""Tool search on the real graph: a tool that is not shown is found by the model's own search, and not called before."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from graph.app import App, open_app
from graph.inspection.replay import replay
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from state.domain import Rule
from state.work import Form, LapOutcome
from tests.desk import AGENT, POLICY, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings
from tests.graph.order_desk import ENDS, FORMS, TABLE, desk_domain, message

INVOICE = message(("c1", "get_invoice", {"id": "INV-9"}))
SEARCHES = message(("s1", "search_tools", {"query": "show an invoice"}))


def opened(home: Path, *lines: AIMessage) -> App:
    """The order desk, of whose two reads a request offers one."""
    home.mkdir()
    look, *others = TABLE.specs
    specs = (look.model_copy(update={"forms": (*FORMS, Form.SEARCH_TOOLS)}), *others)
    rules = (Rule(name="searched", outcomes=(LapOutcome.SEARCHED,), then="again"), *TABLE.rules)
    domain = replace(
        desk_domain(home, Desk()),
        table=TABLE.model_copy(update={"specs": specs, "rules": rules}),
        policies=(POLICY.model_copy(update={"most_tools": 1}),),
    )
    model = ChatModelAdapter(Scripted(lines=[*lines, ENDS]), "scripted")
    return open_app(settings(home), clock=FakeClock(NOW), domain=domain, model=model, embedder=WordEmbedder())


def tools(decision: Any) -> list[str]:
    return [item.item_id for item in decision.manifest.items if item.source.startswith("tool://")]


def test_a_tool_is_offered_once_it_was_looked_for(tmp_path: Path) -> None:
    with opened(tmp_path / "home", SEARCHES, INVOICE) as app:
        result = app.ask("Look the order A1 up, and INV-9", as_=AGENT.name, thread="T")
        first, second, _ = result.decisions
        assert (tools(first), tools(second)) == (["lookup"], ["get_invoice"])
        assert first.outcome == "searched"
        dropped = first.manifest.dropped if first.manifest else ()
        assert [(one.item_id, one.reason) for one in dropped if one.kind == "tool"] == [("get_invoice", "over_limit")]
        assert [seen.outcome for seen in second.observations] == ["ok"]
        assert all(replay(app, "T", index, as_=AGENT.name, attempt=None).proved for index in (0, 1))


def test_a_tool_that_the_request_did_not_offer_is_not_called(tmp_path: Path) -> None:
    with opened(tmp_path / "home", INVOICE) as app:
        first, *_ = app.ask("Look the order A1 up, and INV-9", as_=AGENT.name, thread="T").decisions
        assert [verdict.rule for verdict in first.verdicts] == ["tool_not_offered"]
        assert first.observations == ()


def test_a_search_for_tools_is_over_with_its_turn(tmp_path: Path) -> None:
    with opened(tmp_path / "home", SEARCHES, INVOICE, ENDS) as app:
        app.ask("Look the order A1 up, and INV-9", as_=AGENT.name, thread="T")
        next_turn = app.ask("Look the order A1 up", as_=AGENT.name, thread="T")
        assert tools(next_turn.decisions[-1]) == ["lookup"]
