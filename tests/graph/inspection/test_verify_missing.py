"""Verify: what was removed is missed by what names it: checkpoints, the ledger, records, the owner's row."""

from threading import Thread

import pytest
from langchain_core.messages import HumanMessage

from tests.desk import AGENT
from tests.graph.conftest import on_both_engines
from tests.graph.inspection.tampering import LOOKS, ON, REFUNDED, Tampering
from tests.graph.order_desk import ENDS


@on_both_engines
def test_the_newest_record_that_was_removed_is_named(tampering: Tampering) -> None:
    tampering.asked(*REFUNDED)
    assert tampering.checked().sound
    newest = list(tampering.chain())[-1]
    tampering.remove(newest)
    (fault,) = tampering.checked().faults
    assert (fault.record, fault.what) == (newest, "the record")
    assert (
        "is not there: it was removed, or what names it was written from outside (2 checkpoints name it)" in fault.how
    )


@on_both_engines
def test_every_record_that_was_removed_is_named(tampering: Tampering) -> None:
    tampering.asked(*REFUNDED)
    names = set(tampering.chain())
    tampering.remove(*names)
    found = tampering.checked()
    assert {fault.record for fault in found.faults if fault.what == "the record"} == names
    assert (found.records, found.told) == (0, "not what was filed")


@on_both_engines
def test_the_tail_of_another_branch_is_missed(tampering: Tampering) -> None:
    app = tampering.asked(LOOKS, ENDS, ENDS, question="What of INV-9?")
    tail = list(tampering.chain())[-1]
    fork = next(state for state in app.graph.get_state_history(ON) if state.next == ("resolve",))
    app.graph.invoke(None, fork.config, context={"principal": AGENT.name})
    assert tampering.checked().branches == 2
    tampering.remove(tail)
    (fault,) = tampering.checked().faults
    assert fault.record == tail


@on_both_engines
def test_an_effect_tells_of_the_records_that_went_with_their_checkpoints(tampering: Tampering) -> None:
    tampering.asked(*REFUNDED)
    first, plan, act, answer = tampering.chain()
    tampering.remove(act, answer)
    tampering.forget_checkpoints()
    (fault,) = tampering.faults()
    assert fault.startswith("the effect of call-2-0 is in no record: it was removed, or its lap was cut off")
    tampering.remove(first, plan)
    removed = {fault.record for fault in tampering.checked().faults if fault.what == "the record"}
    assert removed == {plan}  # the record before the effect, and the one that opened it


@on_both_engines
def test_a_thread_of_which_only_its_owner_is_left_is_not_called_unchanged(tampering: Tampering) -> None:
    tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    tampering.remove(*tampering.chain())
    tampering.forget_checkpoints()
    assert tampering.faults() == [
        "the thread has an owner, no record and no checkpoint: nothing was ever asked on it, or all of it was removed"
    ]


@pytest.mark.parametrize("node", ["propose", "execute", "log"])
def test_a_lap_that_was_cut_off_is_no_fault(tampering: Tampering, node: str) -> None:
    """Its effect may be in the ledger already: its checkpoint shows what was at work."""
    app = tampering.app(*REFUNDED)
    app.identity.owner(app.identity.principal(AGENT.name), "T")
    given = {"messages": [HumanMessage("Refund A1, 100")]}
    laps = 0
    for update in app.graph.stream(
        given, ON, context={"principal": AGENT.name}, stream_mode="updates", durability="sync"
    ):
        laps += "resolve" in update
        if (node == "propose" or laps == 3) and node in update:
            break
    found = tampering.checked()
    assert found.sound
    assert found.told == ("nothing is filed yet" if node == "propose" else "nothing was changed")


@on_both_engines
def test_a_head_that_was_written_from_outside_is_named(tampering: Tampering) -> None:
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    app.graph.update_state(ON, {"head": "zz"}, as_node="log")
    (fault,) = tampering.checked().faults
    assert fault.record == "zz"
    assert fault.how.startswith("cannot be one: it was removed, or what names it was written from outside")


def test_a_checkpoint_that_cannot_be_read_is_a_fault(tampering: Tampering) -> None:
    app = tampering.asked(LOOKS, ENDS, question="What of INV-9?")
    saver = app.graph.checkpointer
    with saver.cursor() as cursor:  # type: ignore[union-attr]  # the saver of SQLite, whose file it is
        cursor.execute("UPDATE checkpoints SET checkpoint = x'c1'")
    (fault,) = tampering.faults()
    assert fault.startswith("checkpoint 1, from the newest, cannot be read (")


@on_both_engines
def test_a_thread_that_is_at_work_is_not_taken_for_one_with_something_missing(tampering: Tampering) -> None:
    turns = 6
    app = tampering.asked(*REFUNDED * turns)
    at_work = Thread(target=lambda: [app.ask("And A1, 100?", as_=AGENT.name, thread="T") for _ in range(turns - 1)])
    at_work.start()
    looks = 0
    while at_work.is_alive():
        assert tampering.faults() == []
        looks += 1
    assert looks > 2
    assert len(tampering.chain()) >= 2 * turns
