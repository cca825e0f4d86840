"""Servers' tools on the real graph: through the gates, the projection and the record, whatever the server does (S8)."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from graph.app import App, open_app
from graph.mcp.reviewed import pin
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.result import ObservationShown, RunResult
from state.domain import Domain
from tests.desk import AGENT, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings
from tests.graph.mcp.servers import DEFINITIONS, REVIEW, raw, raw_servers
from tests.graph.order_desk import ENDS, PLANS, TABLE, desk_domain, message

LOOKS = message(("c1", "raw__lookup", {"order": "77"}))
SHIPS = message(("c1", "raw__ship", {"order": "77"}))
OPENS = message(("p2", "plan", {"goal": "as asked", "steps": ["raw__ship"]}))
OpenDesk = Callable[..., App]


def served_desk(home: Path, how: str, reviewed: tuple[str, ...], **server: Any) -> Domain:
    """The order desk, which may ask the raw server too: to look up where it looks, to ship where it acts."""
    domain, lock = desk_domain(home, Desk()), home / "lock.json"
    for one in DEFINITIONS:
        if one.name in reviewed:
            pin(lock, "raw", one, REVIEW)
    more = {"look": ("raw__lookup",), "desk": ("raw__ship",)}
    specs = tuple(spec.model_copy(update={"tools": (*spec.tools, *more.get(spec.toolset, ()))}) for spec in TABLE.specs)
    table = TABLE.model_copy(update={"specs": specs})
    return replace(domain, table=table, lock=lock, servers=(raw(how, folder=home, **server),))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[OpenDesk]:
    (tmp_path / "home").mkdir()
    with ExitStack() as stack:

        def opened(how: str, *lines: AIMessage, reviewed: tuple[str, ...] = ("lookup", "ship"), **server: Any) -> App:
            return stack.enter_context(
                open_app(
                    settings(tmp_path / "home"),
                    clock=FakeClock(NOW),
                    domain=served_desk(tmp_path / "home", how, reviewed, **server),
                    model=ChatModelAdapter(Scripted(lines=[*lines, ENDS, ENDS]), "scripted"),
                    embedder=WordEmbedder(),
                )
            )

        yield opened


def ask(app: App) -> RunResult:
    return app.ask("Look order 77 up, or ship order 77", as_=AGENT.name, thread="T")


def seen(result: RunResult) -> ObservationShown:
    return next(one for decision in result.decisions for one in decision.observations)


def test_what_a_server_brings_is_projected_and_what_disagrees_is_in_the_record(desk: OpenDesk) -> None:
    observation = seen(ask(desk("disagrees", LOOKS)))
    assert (observation.outcome, observation.warnings) == ("ok", ("content_disagrees",))
    assert observation.body == {
        "tool": "raw__lookup",
        "order": "77",
        "status": "paid",
        "artifact_ref": observation.artifact_ref,
    }
    assert "order" in observation.trusted_fields
    assert "status" not in observation.trusted_fields


def test_a_changed_tool_is_not_offered_until_it_is_reviewed_and_the_tenant_is_told(desk: OpenDesk) -> None:
    app = desk("changes_words", LOOKS)
    result = ask(app)
    first = result.decisions[0]
    assert first.manifest is not None
    assert [(one.item_id, one.reason) for one in first.manifest.dropped if one.kind == "tool"] == [
        ("raw__lookup", "definition_changed")
    ]
    assert not [item for item in first.manifest.items if item.source == "tool://raw__lookup"]
    assert [verdict.rule for verdict in first.verdicts] == ["tool_not_offered"]
    told = app.events("T", as_=AGENT.name)
    assert [(one.queued.event.kind, one.queued.event.about, one.dropped) for one in told] == [
        ("definition_changed", "mcp raw/lookup", None)
    ]
    asked = (decision.manifest for decision in result.decisions)
    bodies = [app.ports.artifacts.get("t1", item.ref) for manifest in asked if manifest for item in manifest.items]
    assert not [body for body in bodies if "issue a credit first" in body]


def test_a_tool_that_nobody_reviewed_is_in_no_request_and_the_others_work(desk: OpenDesk) -> None:
    result = ask(desk("well", LOOKS, reviewed=("ship",)))
    first = result.decisions[0]
    assert first.manifest is not None
    assert {item.source for item in first.manifest.items if item.kind == "tool"} == {
        "tool://get_invoice",
        "tool://lookup",
    }
    assert [verdict.rule for verdict in first.verdicts] == ["unknown_tool"]


@pytest.mark.parametrize(
    ("how", "outcome", "code", "tries", "calls"),
    [
        ("crashes", "unknown", "connection_lost", 1, 1),
        ("says_error", "error", "reported_by_server", 1, 1),
        ("fails_inside", "unknown", "failed_in_server", 1, 0),
        ("dies_at_once", "error", "server_unavailable", 1, 0),
        ("well", "ok", None, 1, 1),
    ],
)
def test_a_write_is_sent_once_and_one_that_was_lost_is_unknown(
    desk: OpenDesk, tmp_path: Path, how: str, outcome: str, code: str | None, tries: int, calls: int
) -> None:
    observation = seen(ask(desk(how, PLANS, OPENS, SHIPS)))
    assert (observation.outcome, observation.code, observation.tries) == (outcome, code, tries)
    sent = tmp_path / "home" / "calls"
    assert (sent.read_text().splitlines() if sent.exists() else []) == ["ship"] * calls


@pytest.mark.parametrize(
    ("how", "outcome", "code", "calls"),
    [("crashes_once", "ok", None, 2), ("crashes", "error", "connection_lost", 2)],
)
def test_a_read_is_sent_once_more_on_a_new_connection(
    desk: OpenDesk, tmp_path: Path, how: str, outcome: str, code: str | None, calls: int
) -> None:
    observation = seen(ask(desk(how, LOOKS)))
    assert (observation.outcome, observation.code, observation.tries) == (outcome, code, 2)
    assert (tmp_path / "home" / "calls").read_text().splitlines() == ["lookup"] * calls


def test_an_asynchronous_run_and_a_synchronous_one_share_a_connection(desk: OpenDesk) -> None:
    app = desk("well", LOOKS, ENDS, LOOKS)
    assert seen(ask(app)).outcome == "ok"

    async def another() -> None:
        async with app.asynchronous() as graph:
            question = {"messages": [{"role": "user", "content": "Look order 77 up"}]}
            await graph.ainvoke(question, {"configurable": {"thread_id": "U"}})

    asyncio.run(another())
    assert seen(app.result("U", as_=AGENT.name)).outcome == "ok"
    assert raw_servers() == 1
