"""What a verdict and an approval are bound to: change any of it and it is another call (H01, H03)."""

from typing import Any

import pytest
from pydantic import JsonValue

from state.checks.binding import arguments_digest, call_digest
from state.run import Scope
from tests.desk import LEAD, SCOPE, Desk

CONTRACT = Desk().contracts["pay"]
ARGUMENTS: dict[str, JsonValue] = {"vendor": "A", "amount": 120}
CALL: dict[str, Any] = {
    "scope": SCOPE,
    "parent": "head",
    "call_id": "c1",
    "arguments": ARGUMENTS,
    "contract": CONTRACT,
    "policy_version": "desk-1",
}


def test_the_order_of_arguments_does_not_matter() -> None:
    assert call_digest(**{**CALL, "arguments": {"amount": 120, "vendor": "A"}}) == call_digest(**CALL)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"scope": SCOPE.model_copy(update={"thread": "U"})}, id="thread"),
        pytest.param({"scope": Scope(principal=LEAD, actor=LEAD, thread="T")}, id="owner"),
        pytest.param(
            {"scope": SCOPE.model_copy(update={"principal": SCOPE.principal.model_copy(update={"tenant": "t2"})})},
            id="tenant",
        ),
        pytest.param({"parent": "other"}, id="record before"),
        pytest.param({"parent": None}, id="no record before"),
        pytest.param({"call_id": "c2"}, id="call id"),
        pytest.param({"arguments": {**ARGUMENTS, "amount": 121}}, id="an argument"),
        pytest.param({"arguments": {**ARGUMENTS, "amount": "120"}}, id="an argument's type"),
        pytest.param({"arguments": {"vendor": "A"}}, id="a missing argument"),
        pytest.param({"contract": CONTRACT.model_copy(update={"confirm": False})}, id="definition"),
        pytest.param({"contract": CONTRACT.model_copy(update={"name": "pay_all"})}, id="tool"),
        pytest.param({"policy_version": "desk-2"}, id="policy"),
    ],
)
def test_anything_changed_is_another_call(change: dict[str, Any]) -> None:
    assert call_digest(**{**CALL, **change}) != call_digest(**CALL)


def test_an_approver_does_not_change_the_call() -> None:
    """The same call is asked for, answered and done, whoever looks at the thread."""
    assert call_digest(**{**CALL, "scope": SCOPE.model_copy(update={"actor": LEAD})}) == call_digest(**CALL)


def test_a_repeat_is_the_same_tool_with_the_same_arguments() -> None:
    assert arguments_digest("pay", ARGUMENTS) == arguments_digest("pay", {"amount": 120, "vendor": "A"})
    assert arguments_digest("pay", ARGUMENTS) != arguments_digest("refund", ARGUMENTS)
