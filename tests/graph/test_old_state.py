"""A thread whose checkpoint another release wrote: one named error that says what to do, and the record stays."""

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from graph.app import App
from graph.channels import StateUnreadable
from graph.conversation import NothingPending
from graph.faults import explained
from graph.lap_seal import Lap, LapSeal, Sealing
from state.work import Status
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, on_both_engines

QUESTION = "Why is my API key not working?"
ON: RunnableConfig = {"configurable": {"thread_id": "t"}}
TOLD = "written by another release, or edited; ask on a new thread, or go on with the release that wrote it"

OF_ANOTHER_RELEASE = [
    pytest.param("task", lambda task: {**task, "mood": "calm"}, id="a field that is no more"),
    pytest.param("task", lambda task: {**task, "retrieved": [{"key": "k"}]}, id="a field that is new"),
    pytest.param("task", lambda task: {**task, "laps_in_turn": "several"}, id="a field of another type"),
    pytest.param("head", lambda _: 7, id="a head of another type"),
]


@on_both_engines
@pytest.mark.parametrize(("channel", "change"), OF_ANOTHER_RELEASE)
def test_a_thread_between_two_turns(start: OpenApp, channel: str, change: Any) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    filed = app.history("t", as_="ana@acme").decisions
    stored = app.graph.get_state(ON).values[channel]
    app.graph.update_state(ON, {channel: change(stored)}, as_node="log")

    with pytest.raises(StateUnreadable) as refused:
        app.ask(QUESTION, as_="ana@acme", thread="t")
    assert TOLD in str(refused.value)
    assert channel in str(refused.value)
    fault = explained(refused.value)
    assert fault is not None
    assert fault.message == str(refused.value)
    if channel != "head":
        shown = app.history("t", as_="ana@acme")
        assert (shown.decisions, shown.answer) == (filed, None)
        assert shown.error is not None
        assert TOLD in shown.error
    assert app.ask(QUESTION, as_="ana@acme", thread="another").status is Status.ANSWERED


def _as_that_release_left_it(app: App, written: dict[str, Any]) -> dict[str, Any]:
    """The values with a seal that holds: no edit from outside."""
    channels = app.graph.get_state(ON).values
    validate = next(node for node in app.nodes if node.name == "validate")
    scope = app.identity.visitor(app.identity.principal("bea@acme"), "t")
    lap = Lap(LapSeal.model_validate(channels["seal"]).digests)
    return Sealing(app.ports.seal).after(validate, scope, lap, channels, written)


@pytest.mark.parametrize("channel", ["verdicts", "decision", "request", "manifest"])
def test_a_thread_that_waits_for_a_person(start: OpenApp, channel: str) -> None:
    app = start(clock=FakeClock(NOW))
    (call,) = app.ask("Rotate my key", as_="bea@acme", thread="t").pending
    stored = app.graph.get_state(ON).values[channel]
    old = [{**one, "mood": "calm"} for one in stored] if isinstance(stored, list) else {**stored, "mood": "calm"}
    app.graph.update_state(ON, _as_that_release_left_it(app, {channel: old}), as_node="propose")

    with pytest.raises(StateUnreadable):
        app.ask(QUESTION, as_="bea@acme", thread="t")
    with pytest.raises((StateUnreadable, NothingPending)):
        app.resume("t", as_="bea@acme", answers={call.call_id: "approve"})
    with pytest.raises(StateUnreadable):
        app.result("t", as_="bea@acme")
    shown = app.history("t", as_="bea@acme")
    assert shown.error is not None
    assert TOLD in shown.error
    assert shown.effects == ()
    assert [decision.kind for decision in shown.decisions] == ["gather", "plan"]
