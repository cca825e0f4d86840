"""The shared tasks through the gate end in the tables they should; what the policy forbids is denied with its rule."""

from pathlib import Path
from typing import Any

import pytest

from evals.gate import Step
from evals.retail.replay import Desk, Replayed, tasks

EXCHANGE: dict[str, Any] = {
    "order_id": "#W2378156",
    "item_ids": ["1151293680"],
    "new_item_ids": ["7706410293"],
    "payment_method_id": "credit_card_9513926",
}
# Expected actions that the written policy itself forbids: a refund to a third method, and the like.
AGAINST_POLICY = {
    ("retail-012", "return_delivered_order_items"),
    ("retail-013", "return_delivered_order_items"),
    ("retail-064", "exchange_delivered_order_items"),
    ("retail-106", "exchange_delivered_order_items"),
}


@pytest.fixture(scope="package")
def played(desk: Desk, retail_data: Path) -> tuple[Replayed, ...]:
    return tuple(desk.replay(task) for task in tasks(retail_data))


@pytest.mark.slow
def test_every_task_ends_in_the_expected_tables(played: tuple[Replayed, ...]) -> None:
    assert (len(played), [one.task for one in played if not one.same]) == (115, [])


@pytest.mark.slow
def test_every_write_waits_for_the_customer(played: tuple[Replayed, ...]) -> None:
    writes = [(one.task, step) for one in played for step in one.writes]
    denied = {(task, step.tool) for task, step in writes if step.outcome == "denied"}
    assert denied == AGAINST_POLICY
    assert {(step.asked, step.outcome) for _, step in writes if step.outcome != "denied"} == {(True, "done")}


def conversation(desk: Desk, customer: str = "yusuf_rossi_9620", says: bool = True) -> Any:
    desk.begin()
    return desk.gate(desk.principal(customer), "please change my order", lambda call_id, shown: says)


def told(step: Step) -> tuple[str, str, str]:
    return step.outcome, step.rule, step.reason


def test_a_cancelled_order_cannot_be_changed(desk: Desk) -> None:
    gate = conversation(desk, "james_sanchez_3954")
    step = gate.call("cancel_pending_order", {"order_id": "#W1279004", "reason": "no longer needed"})
    assert told(step) == ("denied", "precondition_unmet", "the precondition order_is_pending does not hold")


def test_another_customers_order_is_not_there(desk: Desk) -> None:
    step = conversation(desk, "noah_brown_6181").call("exchange_delivered_order_items", EXCHANGE)
    assert told(step) == ("denied", "resource_not_owned", "argument order_id names no order of this principal")


def test_a_second_exchange_is_denied(desk: Desk) -> None:
    gate = conversation(desk)
    first = gate.call("exchange_delivered_order_items", EXCHANGE)
    assert (first.asked, first.outcome) == (True, "done")
    again = {**EXCHANGE, "item_ids": ["4983901480"], "new_item_ids": ["7747408585"]}
    second = gate.call("exchange_delivered_order_items", again)
    assert told(second) == ("denied", "precondition_unmet", "the precondition order_is_delivered does not hold")


def test_what_the_customer_refuses_is_not_done(desk: Desk) -> None:
    gate = conversation(desk, says=False)
    before = desk.tables()
    assert gate.call("exchange_delivered_order_items", EXCHANGE).outcome == "refused"
    assert desk.tables() == before
