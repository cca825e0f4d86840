"""Events (S3) on the whole loop: told once, to whom they are for, wherever the process is killed; and forgotten."""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig

from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.producing import EventRefused
from graph.stores.events import SqlEventQueue
from state.events import Event
from state.run import Scope
from tests.desk import AGENT, LEAD, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import on_both_engines, settings
from tests.graph.erasing import holding
from tests.graph.order_desk import ENDS, OPENS, PLANS, desk_domain

ON: RunnableConfig = {"configurable": {"thread_id": "T"}}
AS_AGENT: Any = {"principal": AGENT.name}
CLEAN = multiprocessing.get_context("forkserver")
CLEAN.set_forkserver_preload(["tests.graph.test_events"])


def is_so(scope: Scope, event: Event, now: Any) -> bool:
    return event.about != "gone"


def desk_app(home: Path, lines: Sequence[AIMessage], database_url: str | None = None) -> App:
    """The order desk, which is told of files."""
    return open_app(
        settings(home, database_url=database_url),
        clock=FakeClock(NOW),
        domain=replace(desk_domain(home, Desk()), events={"file_changed": is_so}),
        model=ChatModelAdapter(Scripted(lines=list(lines)), "scripted"),
        embedder=WordEmbedder(),
    )


def changed(about: str = "prices.csv", **to: Any) -> Event:
    return Event.model_validate({"tenant": "t1", "kind": "file_changed", "about": about, "at": NOW, **to})


def told(app: App, thread: str = "T", as_: str = AGENT.name) -> list[tuple[int, str]]:
    """Each decision of a thread that sent a request, with the notices that it told."""
    made = app.history(thread, as_=as_).decisions
    return [
        (one.index, item.item_id)
        for one in made
        if one.manifest is not None and one.attempts
        for item in one.manifest.items
        if item.source.startswith("event://")
    ]


@on_both_engines
def test_an_event_is_told_once_and_its_record_says_when(tmp_path: Path, database_url: str | None) -> None:
    with desk_app(tmp_path, (PLANS, OPENS, ENDS, ENDS, ENDS), database_url) as app:
        app.ask("Good morning", as_=AGENT.name, thread="T")
        app.producing.put(changed())
        app.producing.put(changed("gone"))
        app.ask("And now?", as_=AGENT.name, thread="T")
        [asked] = [decision for decision, _ in told(app)]
        assert told(app) == [(asked, "event-1")]
        assert [(one.queued.event.about, one.decision, one.dropped) for one in app.events("T", as_=AGENT.name)] == [
            ("prices.csv", asked, None),
            ("gone", asked, "no_longer_so"),
        ]


def test_nobody_else_is_told_and_a_new_thread_of_the_tenant_is(tmp_path: Path) -> None:
    with desk_app(tmp_path, (ENDS,) * 3) as app:
        app.producing.put(changed("hers", principal=AGENT.name))
        app.producing.put(changed("everybody's"))
        app.ask("Hello", as_=LEAD.name, thread="L")
        app.ask("Hello", as_=AGENT.name, thread="T")
        assert told(app, "L", LEAD.name) == [(0, "event-2")]
        assert told(app) == [(0, "event-1"), (0, "event-2")]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (changed(kind="disk_full"), "got the event 'disk_full'; the domain's kinds: file_changed"),
        (changed(tenant="t9"), "got tenant 't9'; allowed: t1"),
        (changed(principal="eve@t2"), "got principal 'eve@t2', who is nobody of t1"),
        (changed(thread="nowhere"), "got thread 'nowhere', which t1 does not have"),
        (changed(thread="L", principal=AGENT.name), f"got thread 'L', which {AGENT.name} does not have"),
    ],
)
def test_an_event_that_nobody_could_be_told_is_refused(tmp_path: Path, event: Event, why: str) -> None:
    with desk_app(tmp_path, (ENDS,)) as app:
        app.ask("Hello", as_=LEAD.name, thread="L")
        with pytest.raises(EventRefused, match=f"^{why}"):
            app.producing.put(event)


def dies(at: str, home: Path, database_url: str | None) -> None:
    """In a process of its own: put an event, begin a turn, and be killed where it says."""

    def killed(*_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    app = desk_app(home, (ENDS,), database_url)
    app.producing.put(changed())
    if at == "the model is asked":
        Scripted._generate = killed  # type: ignore[method-assign]  # in this process alone
    else:
        SqlEventQueue.settle = killed  # type: ignore[method-assign]  # as above: the record is filed by then
    app.identity.owner(app.identity.principal(AGENT.name), "T")
    given: Any = {"messages": [{"type": "human", "content": "Good morning"}]}
    app._run_lock._lease_s = 0.1  # it outlives who is killed
    app.graph.invoke(given, ON, context=AS_AGENT, durability="sync")


@pytest.mark.parametrize(
    ("database_url", "at", "then"),
    [
        ("sqlite", "the model is asked", "goes on"),
        ("sqlite", "the model is asked", "is asked anew"),
        ("sqlite", "the record is filed", "goes on"),
        ("sqlite", "the record is filed", "is asked anew"),
        ("postgresql", "the record is filed", "goes on"),
    ],
    indirect=["database_url"],
)
def test_a_killed_run_loses_no_event_and_tells_none_twice(
    tmp_path: Path, database_url: str | None, at: str, then: str
) -> None:
    child = CLEAN.Process(target=dies, args=(at, tmp_path, database_url))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    with desk_app(tmp_path, (ENDS,) * 3, database_url) as app:
        with app._run_lock.holding("T", wait_s=10):  # until the lease of what was killed is over
            pass
        assert [one.decision for one in app.events("T", as_=AGENT.name)] == [None]
        if then == "goes on":
            app.graph.invoke(None, ON, context=AS_AGENT)
        app.ask("Are you there?", as_=AGENT.name, thread="T")
        app.ask("And now?", as_=AGENT.name, thread="T")
        [one] = told(app)
        assert [line.decision for line in app.events("T", as_=AGENT.name)] == [one[0]]


@on_both_engines
def test_forgetting_erases_the_events_for_a_principal(tmp_path: Path, database_url: str | None) -> None:
    with desk_app(tmp_path, (ENDS,) * 2, database_url) as app:
        app.ask("Hello", as_=AGENT.name, thread="T")
        app.producing.put(changed("zanzibar-7.csv", thread="T"))
        app.producing.put(changed("zanzibar-8.csv", principal=AGENT.name))
        app.producing.put(changed("prices.csv"))
        app.ask("And now?", as_=AGENT.name, thread="T")
        assert holding("zanzibar", tmp_path, database_url)
        assert app.forgetting.subject(AGENT.name, dry_run=True).events == 2
        assert app.forgetting.subject(AGENT.name).events == 2
        assert holding("zanzibar", tmp_path, database_url) == []
        with pytest.raises(EventRefused, match="which was forgotten"):
            app.producing.put(changed(thread="T"))
