"""Verify: a changed byte anywhere behind a thread is named; forks are branches, and what was forgotten a gap."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig

from graph.app import App
from graph.inspection.behind import CHANGED
from graph.inspection.gaps import REMOVED
from graph.inspection.verify import Verification, verify
from graph.stores.ownership import UnknownThread
from state.context import ContextItem
from tests.graph.conftest import OpenApp

QUESTION = "Why is my API key not working?"


def asked(start: OpenApp) -> App:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    return app


def item_of(app: App, item_id: str) -> ContextItem:
    """An item of the first request."""
    manifest = app.records("t", as_="ana@acme")[0].manifest
    assert manifest is not None
    return next(item for item in manifest.items if item.item_id == item_id)


def write(home: Path, statement: str, *values: object) -> int:
    with sqlite3.connect(home / "expediente.db") as connection:
        return connection.execute(statement, values).rowcount


def checked(app: App) -> Verification:
    return verify(app, "t", as_="ana@acme")


def test_an_untouched_thread_is_sound(start: OpenApp) -> None:
    found = checked(asked(start))
    assert found.sound
    assert (found.records, found.branches, found.attempts, found.erased) == (2, 1, 2, ())
    assert found.bodies > 30
    assert "nothing was changed" in found._repr_html_()


def test_a_fork_is_another_branch_of_the_same_chain(start: OpenApp) -> None:
    app = asked(start)
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    before = next(state for state in app.graph.get_state_history(config) if state.values.get("head") and not state.next)
    app.ask("Which plan am I on?", as_="ana@acme", thread="t")
    app.graph.update_state(before.config, {"messages": []})
    app.ask("Are webhook deliveries late right now?", as_="ana@acme", thread="t")
    found = checked(app)
    assert found.sound
    assert found.branches == 2


@pytest.mark.parametrize("named", ["runbook/api-keys@v7#revoked-keys", "objective", "check_api_key_status"])
def test_one_changed_byte_of_an_item_is_named(start: OpenApp, home: Path, named: str) -> None:
    app = asked(start)
    item = item_of(app, named)
    body = app.ports.artifacts.get("acme", item.ref)
    changed = body[:-1] + ("X" if body[-1] != "X" else "Y")
    assert write(home, "UPDATE expediente_artifacts SET body = ? WHERE ref = ?", changed.encode(), item.ref) == 1
    found = checked(app)
    assert not found.sound
    faults = {(fault.index, fault.what) for fault in found.faults}
    assert (0, f"the item {named}") in faults or (0, "the user's turn") in faults
    assert (0, "attempt 0") in faults  # what would be rebuilt is not what was sent


def test_a_changed_record_is_named_by_its_hash(start: OpenApp, home: Path) -> None:
    app = asked(start)
    first = app.records("t", as_="ana@acme")[0].record
    assert write(home, "UPDATE expediente_records SET body = replace(body, 'acme', 'acmf') WHERE hash = ?", first) == 1
    found = checked(app)
    assert [fault.record for fault in found.faults if fault.what == "the record"] == [first]
    assert "was changed after it was filed" in found.faults[0].how


def test_a_removed_record_is_missed_by_its_child(start: OpenApp, home: Path) -> None:
    app = asked(start)
    first, second = (decision.record for decision in app.records("t", as_="ana@acme"))
    with sqlite3.connect(home / "expediente.db") as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM expediente_records WHERE hash = ?", (first,))
    (fault,) = checked(app).faults
    assert (fault.record, fault.what) == (first, "the record")
    assert second is not None
    assert f"record {second[:12]} names it as its parent" in fault.how


def test_every_body_of_a_thread_is_looked_at_and_one_that_nobody_forgot_is_no_gap(start: OpenApp, home: Path) -> None:
    """What was sent, what was found and left out, what was searched for: removed or changed, each is a fault."""
    app = asked(start)
    with closing(sqlite3.connect(home / "expediente.db", isolation_level=None)) as connection:
        bodies = connection.execute("SELECT ref, body FROM expediente_artifacts").fetchall()
        told: list[str] = []
        for ref, body in bodies:
            for how, left in ((REMOVED, None), (CHANGED, body + b" ")):
                connection.execute("DELETE FROM expediente_artifacts WHERE ref = ?", (ref,))
                if left is not None:
                    connection.execute("INSERT INTO expediente_artifacts VALUES ('acme', ?, ?)", (ref, left))
                found = checked(app)
                assert found.erased == ()
                told += [fault.what for fault in found.faults if fault.how == how][:1]
            connection.execute("UPDATE expediente_artifacts SET body = ? WHERE ref = ?", (body, ref))
    sound = checked(app)
    assert sound.sound
    assert len(told) == 2 * len(bodies) == 2 * sound.bodies
    left_out = "one of the items that its checkpoints lead to"
    assert told.count(left_out) > 10
    assert {"the user's turn", "the manifest", "one of the snapshots that its checkpoints lead to"} <= {*told}


def test_what_was_forgotten_is_a_gap_and_no_more_than_that(start: OpenApp, home: Path) -> None:
    """A subject's memories may be gone from a thread that stays, and what only its older steps named; nothing else."""
    app = asked(start)
    app.forgetting.subject("A-123")
    found = checked(app)
    assert (found.faults, found.erased[0]) == ((), "decision 0: the item mem-key-created")
    assert set(found.erased[1:]) <= {"one of the items that its checkpoints lead to"}
    assert write(home, "DELETE FROM expediente_artifacts WHERE ref = ?", item_of(app, "ticket").ref) == 1
    assert [fault.what for fault in checked(app).faults] == ["the item ticket"]
    assert write(home, "DELETE FROM expediente_forgotten WHERE kind = 'subject'") == 1
    assert [fault.what for fault in checked(app).faults] == ["the item ticket"]  # each memory has a mark of its own
    assert write(home, "DELETE FROM expediente_forgotten WHERE kind = 'memory'") > 0
    assert {"the item ticket", "the item mem-key-created"} <= {fault.what for fault in checked(app).faults}


def test_only_the_owner_can_verify(start: OpenApp) -> None:
    app = asked(start)
    for stranger in ("omar@globex", "bea@acme"):
        with pytest.raises(UnknownThread):
            verify(app, "t", as_=stranger)
