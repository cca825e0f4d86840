"""Verify: a public name, a row of the ledger and its result are those of the call that the record files."""

from typing import Any

import pytest

from state.ports import RecordDamaged
from state.tools import ToolContext
from tests.desk import AGENT
from tests.graph.conftest import on_both_engines
from tests.graph.inspection.tampering import LOOKS, ON, REFUND, REFUNDED, Tampering
from tests.graph.order_desk import ENDS, message

NOT_OURS = "is not as it was written: no key of ours made its seal"
TWO = message(("c1", "get_invoice", {"id": "INV-9"}), ("c2", "lookup", {"order": "A1"}))
REFUND_TWICE = message(("c1", "refund", {"order": "A1", "amount": 10}), ("c2", "refund", {"order": "A2", "amount": 20}))
TWO_REFUNDS = message(("p2", "plan", {"goal": "g", "steps": ["refund", "refund"]}))


def names(tampering: Tampering) -> list[str]:
    return [seen.artifact_ref for record in tampering.chain().values() for seen in record.observations]


@on_both_engines
def test_public_names_that_were_exchanged_are_named(tampering: Tampering) -> None:
    tampering.asked(TWO, ENDS, question="What of INV-9 and A1?")
    assert tampering.checked().sound
    first, second = names(tampering)
    for name, other in ((first, "x"), (second, first), ("x", second)):
        tampering.sql("UPDATE expediente_artifact_names SET name = :other WHERE name = :name", name=name, other=other)
    assert [fault.what for fault in tampering.checked().faults] == [
        f"the name {first} of the result of call-0-0",
        f"the name {second} of the result of call-0-1",
    ]
    assert {fault.how for fault in tampering.checked().faults} == {"stands for another body"}


@on_both_engines
def test_a_public_name_that_was_removed_is_named(tampering: Tampering) -> None:
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    tampering.sql("DELETE FROM expediente_artifact_names")
    (fault,) = tampering.checked().faults
    assert (fault.index, fault.how) == (0, "stands for nothing any more")


@on_both_engines
def test_all_of_a_result_that_was_cut_is_looked_at_too(tampering: Tampering) -> None:
    def long(context: ToolContext, *, id: str) -> dict[str, Any]:
        return {"invoice": id, "total": 40, "memo": "thanks " * 500}

    tampering.desk.replace("get_invoice", long, max_bytes=300)
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    (seen,) = next(iter(tampering.chain().values())).observations
    assert seen.whole_ref is not None
    assert tampering.checked().sound
    tampering.sql("UPDATE expediente_artifacts SET body = :body WHERE ref = :ref", body=b"{}", ref=seen.whole_ref)
    tampering.sql("UPDATE expediente_artifact_names SET ref = :ref", ref=seen.ref)
    assert [(fault.what, fault.how) for fault in tampering.checked().faults] == [
        ("all of the result of call-0-0", "was changed after it was stored"),
        (f"the name {seen.artifact_ref}/whole of all of the result of call-0-0", "stands for another body"),
    ]


@on_both_engines
def test_a_result_that_was_removed_is_a_fault_and_its_name_none(tampering: Tampering) -> None:
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    (seen,) = next(iter(tampering.chain().values())).observations
    tampering.sql("DELETE FROM expediente_artifacts WHERE ref = :ref", ref=seen.ref)
    assert [(fault.what, fault.how) for fault in tampering.checked().faults] == [
        ("the result of call-0-0", "was removed: nothing says that it was forgotten")
    ]


@on_both_engines
def test_results_that_the_ledger_exchanged_are_named(tampering: Tampering) -> None:
    tampering.asked(REFUNDED[0], TWO_REFUNDS, REFUND_TWICE, ENDS, question="Refund A1 and A2")
    assert tampering.checked().sound
    rows = tampering.opened.ports.ledger.rows("t1", "T")
    refs = {row.claim.key: row.result_ref for row in reversed(rows)}
    for row, ref in zip(rows, refs.values(), strict=True):
        tampering.sql("UPDATE expediente_claims SET result_ref = :ref WHERE key = :key", ref=ref, key=row.claim.key)
    assert [(fault.index, fault.what, fault.how) for fault in tampering.checked().faults] == [
        (2, "the ledger's row of call-2-0", NOT_OURS),
        (2, "the ledger's row of call-2-1", NOT_OURS),
        (2, "the ledger's result of call-2-0", "is that of another call"),
        (2, "the ledger's result of call-2-1", "is that of another call"),
    ]


@on_both_engines
def test_a_result_that_the_record_does_not_file_is_named(tampering: Tampering) -> None:
    """A body that is somebody's words, and no result; and one of the same call with another outcome."""
    app = tampering.asked(*REFUNDED)
    (row,) = app.ports.ledger.rows("t1", "T")
    assert row.result_ref is not None
    result = app.ports.artifacts.get("t1", row.result_ref)
    for text, how in (
        ("Refund A1, 100", "is none: the row names another body"),
        (result.replace('"outcome":"ok"', '"outcome":"error"'), "is not the one that the record files"),
    ):
        ref = app.ports.artifacts.put("t1", text)
        tampering.sql("UPDATE expediente_claims SET result_ref = :ref", ref=ref)
        row_fault, fault = tampering.checked().faults
        assert (row_fault.index, row_fault.how) == (2, NOT_OURS)
        assert (fault.index, fault.what, fault.how) == (2, "the ledger's result of call-2-0", how)


@on_both_engines
def test_an_effect_that_was_made_undone_in_the_ledger_is_named(tampering: Tampering) -> None:
    """Without its row, or with one that is open or another's, the same call could run once more."""
    tampering.asked(*REFUNDED)
    for statement, how in (
        ("UPDATE expediente_claims SET state = 'open', result_ref = NULL", "was done, and is open in the ledger"),
        ("UPDATE expediente_claims SET arguments_digest = 'x'", None),
        ("UPDATE expediente_claims SET key = 'x'", "has no row in the ledger: it was removed"),
        ("DELETE FROM expediente_claims", "has no row in the ledger: it was removed"),
    ):
        tampering.sql(statement)
        faults = [fault for fault in tampering.checked().faults if fault.what == "the effect of call-2-0"]
        assert [fault.index for fault in faults] == [2]
        assert how in (None, faults[0].how)


@on_both_engines
@pytest.mark.parametrize("column", ["parent", "opened_by"])
def test_a_row_that_was_hung_elsewhere_is_named(tampering: Tampering, column: str) -> None:
    tampering.asked(*REFUNDED)
    tampering.sql(f"UPDATE expediente_claims SET {column} = :nobody", nobody="0" * 64)
    faults = tampering.checked().faults
    assert "0" * 64 in {fault.record for fault in faults}
    assert "stands in the ledger as that of another call" in {fault.how for fault in faults}


def test_a_ledger_that_cannot_be_read_is_a_fault(tampering: Tampering) -> None:
    tampering.asked(REFUNDED[0], REFUNDED[1], REFUND, ENDS)
    tampering.sql("UPDATE expediente_claims SET at = 'yesterday'")
    assert "a row of the ledger cannot be read: it was changed after it was written" in tampering.faults()


@on_both_engines
def test_a_row_that_was_changed_is_named_and_opens_nothing_on_another_branch(tampering: Tampering) -> None:
    """With a step that looks unspent the plan would open its one effect again on a fork."""
    other = message(("c1", "refund", {"order": "A2", "amount": 100}))
    app = tampering.asked(*REFUNDED, *[other] * 5, question="Refund A1 or A2, 100")
    fork = next(state for state in app.graph.get_state_history(ON) if state.next == ("propose",) and _act(state.values))
    for column, value in (("slot", 1), ("effect", "read"), ("ordinal", 4), ("result_ref", None), ("seal", None)):
        before = tampering.value(f"SELECT {column} FROM expediente_claims")
        tampering.sql(f"UPDATE expediente_claims SET {column} = :value", value=value)
        assert (2, "the ledger's row of call-2-0", NOT_OURS) in [
            (fault.index, fault.what, fault.how) for fault in tampering.checked().faults
        ]
        with pytest.raises(RecordDamaged, match="a row of its ledger is not as it was written, so no effect runs"):
            app.graph.invoke(None, fork.config, context={"principal": AGENT.name})
        tampering.sql(f"UPDATE expediente_claims SET {column} = :value", value=before)
    assert tampering.checked().sound
    assert tampering.desk.effects == [("refund", "A1", "100")]  # once


@on_both_engines
@pytest.mark.parametrize(
    "taken",
    [
        "DELETE FROM expediente_claims",
        "UPDATE expediente_claims SET thread = 'U'",
        "UPDATE expediente_claims SET tenant = 't2'",
    ],
)
def test_a_row_that_was_taken_away_is_named_and_nothing_is_done_again(tampering: Tampering, taken: str) -> None:
    """The record that tells of it lies on another branch than the one that would do it once more."""
    app = tampering.asked(*REFUNDED, *[REFUND] * 9)
    history = app.graph.get_state_history(ON)
    forks = {state.next[0]: state.config for state in history if state.values.get("decision") and _act(state.values)}
    tampering.sql(taken)
    assert "decision 2" in "".join(
        one for one in tampering.faults() if "has no row in the ledger: it was removed" in one
    )
    for reader in (app, tampering.app(*[REFUND] * 9)):  # what it read before, and what a new process reads
        for node in ("propose", "validate", "execute"):
            with pytest.raises(RecordDamaged, match="its ledger lacks an effect that a record tells of, so no"):
                reader.graph.invoke(None, forks[node], context={"principal": AGENT.name})
    assert tampering.desk.effects == [("refund", "A1", "100")]  # once


@on_both_engines
def test_the_row_of_an_effect_that_nobody_knows_of_is_missed_too(tampering: Tampering) -> None:
    """It may have happened: without its row the same call would run again, and nobody be asked."""

    def lost(context: ToolContext, **given: Any) -> dict[str, Any]:
        raise TimeoutError

    tampering.desk.replace("refund", lost)
    app = tampering.asked(*REFUNDED, *[REFUND] * 9)
    assert [row.state for row in app.ports.ledger.rows("t1", "T")] == ["unknown"]
    assert tampering.checked().sound
    fork = next(state for state in app.graph.get_state_history(ON) if state.next == ("propose",) and _act(state.values))
    tampering.sql("DELETE FROM expediente_claims")
    assert [(fault.index, fault.what, fault.how) for fault in tampering.checked().faults] == [
        (2, "the effect of call-2-0", "has no row in the ledger: it was removed")
    ]
    with pytest.raises(RecordDamaged, match="its ledger lacks an effect that a record tells of, so no"):
        app.graph.invoke(None, fork.config, context={"principal": AGENT.name})


@on_both_engines
def test_the_row_of_an_effect_that_only_a_checkpoint_shows_is_missed(tampering: Tampering) -> None:
    """Its lap was cut off before it was filed."""
    question: Any = {"messages": [{"type": "human", "content": "Refund A1, 100"}]}
    app = tampering.app(*REFUNDED)
    who: Any = {"principal": AGENT.name}
    for _ in app.graph.stream(question, ON, context=who, interrupt_after=["execute"], durability="sync"):
        pass
    assert tampering.desk.effects == [("refund", "A1", "100")]
    assert tampering.checked().sound
    tampering.sql("DELETE FROM expediente_claims")
    assert tampering.faults() == [
        "the effect of call-2-0 has no row in the ledger: it was removed, and a checkpoint shows it"
    ]


def _act(values: dict[str, Any]) -> bool:
    return bool(values["decision"]["kind"] == "act")


def test_a_result_of_the_ledger_is_a_gap_only_where_its_thread_was_forgotten(tampering: Tampering) -> None:
    app = tampering.asked(*REFUNDED)
    (row,) = app.ports.ledger.rows("t1", "T")
    tampering.sql("DELETE FROM expediente_artifacts WHERE ref = :ref", ref=row.result_ref)
    assert tampering.faults() == ["the ledger's result of call-2-0 was removed: nothing says that it was forgotten"]
    app.forgetting.subject(AGENT.name)
    found = tampering.checked()
    assert (found.sound, found.erased[-1]) == (True, "the ledger's result of call-2-0")
