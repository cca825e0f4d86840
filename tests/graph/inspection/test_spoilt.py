"""A body that is no text or no JSON any more is named by verify, and a clear error elsewhere: never a traceback."""

from collections.abc import Callable
from typing import Any

import pytest

from graph.app import App
from graph.faults import explained
from graph.inspection.explain import explain
from graph.inspection.replay import replay
from graph.inspection.tree import tree
from state.ports import RecordDamaged, RecordMissing
from tests.desk import AGENT
from tests.graph.conftest import on_both_engines
from tests.graph.inspection.tampering import LOOKS, ON, Tampering
from tests.graph.order_desk import ENDS

READS: dict[str, Callable[[App], Any]] = {
    "show": lambda app: app.history("T", as_=AGENT.name),
    "replay": lambda app: replay(app, "T", 0, as_=AGENT.name),
    "explain": lambda app: explain(app, "T", 0, as_=AGENT.name),
}


def told(app: App) -> dict[str, str]:
    """What each command says, where it ends in an error: one line of this house."""
    found = {}
    for name, read in READS.items():
        try:
            read(app)
        except RecordDamaged as error:
            fault = explained(error)
            assert fault is not None
            found[name] = fault.message
    return found


def spoilt(tampering: Tampering, which: str, body: bytes) -> tuple[App, str]:
    """The app, and the address of a body of decision 0 that is now another one."""
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    first = app.records("T", as_=AGENT.name)[0]
    assert first.manifest is not None
    record = next(iter(tampering.chain().values()))
    refs = {
        "the manifest": record.manifest_ref,
        "the proposal": record.proposal_ref,
        "the result of call-0-0": first.observations[0].ref,
        "the policy record": first.manifest.policy_ref,
    }
    ref = refs[which]
    assert ref is not None
    assert tampering.sql("UPDATE expediente_artifacts SET body = :body WHERE ref = :ref", body=body, ref=ref) == 1
    return app, ref


@on_both_engines
@pytest.mark.parametrize("body", [b"no json {", b"[]", b'{"shape": "another"}', b"", b"\xff\xfe"])
@pytest.mark.parametrize(
    ("which", "meet"),
    [
        ("the manifest", {"show", "replay", "explain"}),
        ("the proposal", {"show", "replay", "explain"}),
        ("the result of call-0-0", {"show", "replay", "explain"}),
        ("the policy record", {"explain"}),
    ],
)
def test_a_body_of_another_shape_is_named_and_told(
    tampering: Tampering, which: str, meet: set[str], body: bytes
) -> None:
    app, ref = spoilt(tampering, which, body)
    if which.startswith("the result") and body.startswith(b"{"):
        meet = set()  # an object is a result like any other, as far as can be told without its address
    said = told(app)
    assert set(said) == meet
    for line in said.values():
        assert ref in line
        assert "`agent verify` on the thread" in line
    named = {(fault.index, fault.what) for fault in tampering.checked().faults}
    assert (0, which) in named
    assert ((0, "attempt 0") in named) is (which == "the manifest")


@pytest.mark.parametrize("value", ["CAST(body AS TEXT)", "7", "1.5"])
@pytest.mark.parametrize("table", ["expediente_artifacts", "expediente_records"])
def test_a_column_of_another_type_is_named_and_told(tampering: Tampering, table: str, value: str) -> None:
    """SQLite keeps whatever is put into a column."""
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    records = set(tampering.chain())
    tampering.sql(f"UPDATE {table} SET body = {value}")
    assert set(told(app)) == set(READS)
    found = tampering.checked()
    if table == "expediente_records":
        assert {fault.record for fault in found.faults if fault.what == "the record"} == records
        with pytest.raises(RecordDamaged, match="was changed after it was filed"):
            tree(app, "T", as_=AGENT.name)
    else:
        assert {"the user's turn", "the manifest", "the item role"} & {fault.what for fault in found.faults}


@on_both_engines
def test_bytes_that_read_the_same_are_not_the_same(tampering: Tampering) -> None:
    """Half a character is stored as the sign for what cannot be read: bytes that decode to that sign are others."""
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9\udcff?")
    record = next(iter(tampering.chain().values()))
    stored = app.ports.artifacts.get("t1", record.turn_ref).encode()
    assert "\ufffd".encode() in stored
    changed = stored.replace("\ufffd".encode(), b"\xff")
    assert changed.decode(errors="replace").encode() == stored
    tampering.sql("UPDATE expediente_artifacts SET body = :body WHERE ref = :ref", body=changed, ref=record.turn_ref)
    assert "decision 0" in tampering.faults()[0]
    assert {fault.what for fault in tampering.checked().faults} >= {"the user's turn", "attempt 0"}


def test_replay_names_the_items_that_were_changed(tampering: Tampering) -> None:
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    manifest = app.records("T", as_=AGENT.name)[1].manifest
    assert manifest is not None
    (item,) = [item for item in manifest.items if item.item_id == "role"]
    for body in (b"You work elsewhere.", b"\xff"):
        tampering.sql("UPDATE expediente_artifacts SET body = :body WHERE ref = :ref", body=body, ref=item.ref)
        again = replay(app, "T", 1, as_=AGENT.name)
        assert (again.proved, again.changed) == (False, (f"role ({item.source})",))
        assert (again.rebuilt is None) is (body == b"\xff")


@on_both_engines
@pytest.mark.parametrize("head", ["zz", "0" * 64])
def test_a_head_that_names_no_record_is_told_with_what_to_do(tampering: Tampering, head: str) -> None:
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    app.graph.update_state(ON, {"head": head}, as_node="log")
    with pytest.raises(RecordMissing) as refused:
        app.history("T", as_=AGENT.name)
    fault = explained(refused.value)
    assert fault is not None
    assert (
        f"thread T has no record '{head}': it was removed, or what names it was written from outside" in fault.message
    )
    assert "run `agent verify` on the thread to see what is missing" in fault.message
