"""A forgotten thread takes no run, by whatever door; a run that was at work on it ends and leaves nothing (X7)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph.app import App
from graph.domain_loading import load_domain
from graph.inspection.verify import verify
from graph.models.registry import open_model
from graph.stores.lease import ThreadBusy
from graph.stores.ownership import ThreadForgotten, UnknownThread
from graph.stores.run_lock import SqlRunLock
from state.domain import Domain
from state.request import Reply, Request
from state.tools import Tool, ToolContext
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, on_both_engines
from tests.graph.erasing import OWN, SHARED, everything, holding, untouched

ROTATE = "Rotate my key"
AT: RunnableConfig = {"configurable": {"thread_id": "t"}}
ANA, BEA, OMAR = ({"principal": name} for name in ("ana@acme", "bea@acme", "omar@globex"))


def asked(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


class Meanwhile:
    """The offline model; `does` happens while it is asked."""

    name = "offline"

    def __init__(self, does: Callable[[], None] = lambda: None) -> None:
        self.does, self._model = does, open_model("offline")

    def reply(self, request: Request) -> Reply:
        self.does()
        return self._model.reply(request)

    async def areply(self, request: Request) -> Reply:
        await asyncio.to_thread(self.does)
        return await self._model.areply(request)


def told(principal: dict[str, str]) -> type[UnknownThread]:
    return ThreadForgotten if principal is BEA else UnknownThread


INPUTS = {
    "a new question": asked(SHARED),
    "an answer": Command(resume={"call-1": {"approval_id": "a", "decision": "approve"}}),
    "going on": None,
}


@on_both_engines
@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS.keys())
def test_a_forgotten_thread_takes_no_run_whoever_keeps_its_checkpoints(
    start: OpenApp, home: Path, database_url: str | None, given: Any
) -> None:
    """A server keeps checkpoints of its own, so the paused run is still there to be continued."""
    app = start()
    graph: Any = app.drawing.compile(checkpointer=InMemorySaver())
    graph.invoke(asked(f"zanzibar. {ROTATE}"), AT, context=BEA)
    assert graph.get_state(AT).interrupts
    app.forgetting.subject("bea@acme")
    before = everything(home, database_url)
    for principal in (BEA, ANA, OMAR, {"principal": "vera@acme"}):
        with pytest.raises(UnknownThread) as refused:
            graph.invoke(given, AT, context=principal)
        assert type(refused.value) is told(principal)
        assert principal is BEA or str(refused.value) == str(UnknownThread("t"))
        with pytest.raises(told(principal)):
            asyncio.run(graph.ainvoke(given, AT, context=principal))
    assert everything(home, database_url) == before
    assert verify(app, "t", as_="bea@acme").sound
    assert "forgotten on 2026-07-15" in (app.result("t", as_="bea@acme").error or "")


class Forgets:
    """Forgets a subject once, when it is called in the middle of a run, which then ends and has to be waited for."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.app: App | None = None

    def __call__(self) -> None:
        if self.app is not None:
            app, self.app = self.app, None
            with pytest.raises(ThreadBusy):
                app.forgetting.subject(self.subject)


def sync(app: App, given: Any) -> None:
    graph: Any = app.graph
    graph.invoke(given, AT, context=BEA)


def through_async(app: App, given: Any) -> None:
    async def run() -> None:
        async with app.asynchronous() as graph:
            await graph.ainvoke(given, AT, context=BEA)

    asyncio.run(run())


BOTH = pytest.mark.parametrize("run", [sync, through_async])


@on_both_engines
@BOTH
def test_a_run_that_asked_the_model_while_its_thread_was_forgotten_leaves_nothing(
    start: OpenApp, home: Path, database_url: str | None, run: Callable[..., None]
) -> None:
    forgets = Forgets("bea@acme")
    app = start(model=Meanwhile(forgets))
    app.ask(SHARED, as_="ana@acme", thread="anas")
    run(app, asked(SHARED))
    forgets.app = app
    with pytest.raises(ThreadForgotten):
        run(app, asked(OWN))
    assert forgets.app is None
    app.forgetting.subject("bea@acme")
    assert holding("zanzibar", home, database_url) == []
    assert verify(app, "t", as_="bea@acme").sound
    untouched(app, "anas", "ana@acme")


def rotating(home: Path, does: Callable[[], None]) -> Domain:
    """The domain; `does` happens while a key is rotated."""
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    (tool,) = (tool for tool in domain.tools if tool.contract.name == "rotate_api_key")

    def run(context: ToolContext, **arguments: Any) -> Any:
        done = tool.run(context, **arguments)
        does()
        return done

    return replace(domain, tools=(*(one for one in domain.tools if one is not tool), Tool(tool.contract, run)))


@on_both_engines
@BOTH
def test_a_run_that_used_a_tool_while_its_thread_was_forgotten_leaves_the_effect_and_no_body(
    start: OpenApp, home: Path, database_url: str | None, run: Callable[..., None]
) -> None:
    forgets = Forgets("bea@acme")
    app = start(domain=rotating(home, forgets))
    run(app, asked(f"zanzibar. {ROTATE}"))
    (call,) = app.result("t", as_="bea@acme").pending
    (waiting,) = app.graph.get_state(AT).interrupts
    answer = {call.call_id: {"approval_id": call.approval_id, "decision": "approve"}}
    forgets.app = app
    with pytest.raises(ThreadForgotten):
        run(app, Command(resume={waiting.id: answer}))
    assert forgets.app is None
    app.forgetting.subject("bea@acme")
    assert holding("zanzibar", home, database_url) == []
    assert [(row.claim.tool, row.state) for row in app.ports.ledger.rows("acme", "t")] == [("rotate_api_key", "done")]
    assert verify(app, "t", as_="bea@acme").sound


@on_both_engines
def test_what_langgraph_kept_of_a_refused_run_goes_with_the_next_forgetting(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    forgets = Forgets("bea@acme")
    app = start(model=Meanwhile(forgets))
    app.ask(SHARED, as_="bea@acme", thread="t")
    graph: Any = app.graph
    forgets.app = app
    for question in (OWN, f"zanzibar again. {SHARED}"):
        with pytest.raises(ThreadForgotten):
            graph.invoke(asked(question), AT, context=BEA)
    assert app.forgetting.subject("bea@acme").checkpoints
    assert holding("zanzibar", home, database_url) == []


@on_both_engines
def test_a_run_under_the_lock_ends_too_and_the_next_forgetting_finishes(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    busy: list[str] = []

    def forget() -> None:
        with pytest.raises(ThreadBusy) as refused:
            app.forgetting.subject("bea@acme")
        busy.append(str(refused.value))

    model = Meanwhile()
    app = start(model=model)
    app.ask(SHARED, as_="ana@acme", thread="anas")
    app.ask(SHARED, as_="bea@acme", thread="t")
    model.does = forget
    with pytest.raises(ThreadForgotten):
        app.ask(OWN, as_="bea@acme", thread="t")
    assert len(busy) == 1
    app.forgetting.subject("bea@acme")
    assert holding("zanzibar", home, database_url) == []
    untouched(app, "anas", "ana@acme")


@on_both_engines
def test_an_answer_that_waited_for_the_lock_finds_its_thread_forgotten(
    start: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start()
    (call,) = app.ask(ROTATE, as_="bea@acme", thread="t").pending
    holding_it = SqlRunLock.holding

    def late(lock: SqlRunLock, thread: str, **given: Any) -> Any:
        monkeypatch.setattr(SqlRunLock, "holding", holding_it)
        app.forgetting.subject("bea@acme")
        return lock.holding(thread, **given)

    monkeypatch.setattr(SqlRunLock, "holding", late)
    with pytest.raises(ThreadForgotten):
        app.resume("t", as_="bea@acme", answers={call.call_id: "approve"})
    assert app.ports.ledger.rows("acme", "t") == ()
