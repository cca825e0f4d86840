"""A decision whose lap was written into from outside says so wherever it is shown, filed or still open."""

import json
from io import StringIO
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from rich.console import Console

from graph.app import App
from graph.cli.showing import decision_in_full
from graph.inspection.explain import explain
from graph.inspection.replay import replay
from graph.inspection.tree import tree
from state.render import render
from tests.desk import AGENT
from tests.graph.conftest import on_both_engines
from tests.graph.inspection.tampering import LOOKS, ON, Tampering
from tests.graph.order_desk import ENDS

AS: Any = {"principal": AGENT.name}
NOTE = "edited from outside"


def stopped(tampering: Tampering) -> App:
    """The app, its first lap stopped before validate."""
    app = tampering.app(LOOKS, ENDS, ENDS)
    app.identity.owner(app.identity.principal(AGENT.name), "T")
    given: Any = {"messages": [HumanMessage("What of INV-9?")]}
    app.graph.invoke(given, ON, context=AS, interrupt_before=["validate"], durability="sync")
    return app


def forge(app: App) -> None:
    """Put another manifest into the lap, and an attempt whose hash suits it: both are anybody's to write."""
    values = app.graph.get_state(ON).values
    manifest = app.reading("T", as_=AGENT.name).manifest(values["manifest"]["ref"])
    assert manifest is not None
    forged = manifest.model_copy(update={"items": manifest.items[:1]})
    ref = app.ports.artifacts.put("t1", forged.model_dump_json())
    request = render(forged.items, lambda ref: app.ports.artifacts.get("t1", ref), forged.settings)
    attempt = {**values["attempts"][0], "manifest_ref": ref, "request_hash": request.hash()}
    app.graph.update_state(ON, {"manifest": {**values["manifest"], "ref": ref}, "attempts": [attempt]})


def shown(app: App, index: int) -> str:
    """What `agent show` prints of a decision."""
    written = StringIO()
    console = Console(file=written, width=100)
    (decision,) = [one for one in app.records("T", as_=AGENT.name) if one.index == index]
    console.print(decision_in_full(decision))
    return written.getvalue()


@on_both_engines
def test_an_open_lap_with_a_forged_manifest_proves_nothing(tampering: Tampering) -> None:
    app = stopped(tampering)
    before = replay(app, "T", 0, as_=AGENT.name)
    assert (before.proved, before.edited, before.filed) == (True, False, False)
    assert NOTE not in shown(app, 0)
    forge(app)
    after = replay(app, "T", 0, as_=AGENT.name)
    assert after.rebuilt == after.recorded != before.recorded
    assert (after.proved, after.edited, after.filed) == (False, True, False)
    assert NOTE in after._repr_html_()
    explained = explain(app, "T", 0, as_=AGENT.name)
    assert explained.edited
    assert NOTE in explained._repr_html_()
    assert NOTE in shown(app, 0)


@on_both_engines
def test_once_it_is_filed_its_record_says_so_and_the_forged_manifest_is_not_in_it(tampering: Tampering) -> None:
    app = stopped(tampering)
    forge(app)
    app.graph.invoke(None, ON, context=AS)
    first, second = app.records("T", as_=AGENT.name)
    assert [(one.edited, one.manifest, one.attempts) for one in (first,)] == [(True, None, ())]
    assert not second.edited
    assert NOTE in shown(app, 0)
    assert NOTE not in shown(app, 1)
    again = replay(app, "T", 1, as_=AGENT.name)
    assert (again.proved, again.edited, again.filed) == (True, False, True)
    found = tampering.checked()
    assert (found.sound, found.edited) == (True, (0,))
    assert "edited from outside: 0" in found._repr_html_()
    assert json.loads(found.model_dump_json())["edited"] == [0]
    assert [filed.edited for filed in tree(app, "T", as_=AGENT.name).records] == [True, False]


@on_both_engines
def test_a_lap_on_a_task_that_was_edited_is_replayed_with_the_note(tampering: Tampering) -> None:
    """The lap itself ran as it is filed, from a state that somebody wrote."""
    app = tampering.asked(LOOKS, ENDS, ENDS, question="What of INV-9?")
    task = app.graph.get_state(ON).values["task"]
    app.graph.update_state(ON, {"task": {**task, "denials_in_turn": 1}}, as_node="log")
    app.ask("And now?", as_=AGENT.name, thread="T")
    again = replay(app, "T", 2, as_=AGENT.name)
    assert (again.proved, again.edited, again.filed) == (True, True, True)
    assert NOTE in again._repr_html_()
    assert explain(app, "T", 2, as_=AGENT.name).edited
    assert tampering.checked().edited == (2,)


@pytest.mark.parametrize("node", ["plan", "retrieve", "pack", "propose", "validate", "execute", "log"])
def test_an_open_lap_that_nobody_wrote_into_is_not_called_edited(tampering: Tampering, node: str) -> None:
    app = tampering.app(LOOKS, ENDS)
    app.identity.owner(app.identity.principal(AGENT.name), "T")
    given: Any = {"messages": [HumanMessage("What of INV-9?")]}
    app.graph.invoke(given, ON, context=AS, interrupt_before=[node], durability="sync")
    assert [one.edited for one in app.records("T", as_=AGENT.name)] == ([] if node == "plan" else [False])
