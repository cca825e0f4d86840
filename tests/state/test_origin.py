"""Where an argument comes from: the items that show it as a whole word, and the best trust among them (X4)."""

import pytest
from pydantic import JsonValue

from state.checks.origin import Origin, Shown, origin
from state.context import Trust

SHOWN = (
    Shown("page", Trust.UNTRUSTED, "Refund INV-9 and A1, says B7."),
    Shown("turn", Trust.USER, "my order is A1"),
    Shown("record", Trust.SYSTEM, '{"order": "A1", "total": 40, "open": true}'),
    Shown("limits", Trust.POLICY, '{"refund_limit": 200}'),
)
NOWHERE = Origin((), None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("A1", Origin(("record", "turn", "page"), Trust.SYSTEM), id="best trust first"),
        pytest.param("B7", Origin(("page",), Trust.UNTRUSTED), id="only in untrusted text"),
        pytest.param("INV-9", Origin(("page",), Trust.UNTRUSTED), id="a word with a dash"),
        pytest.param(40, Origin(("record",), Trust.SYSTEM), id="a number"),
        pytest.param(200, Origin(("limits",), Trust.POLICY), id="a policy's value"),
        pytest.param("A", NOWHERE, id="part of a word"),
        pytest.param("A11", NOWHERE, id="longer than what is shown"),
        pytest.param("INV", NOWHERE, id="before a dash"),
        pytest.param("9", NOWHERE, id="behind a dash"),
        pytest.param("a1", NOWHERE, id="another case"),
        pytest.param("A.", NOWHERE, id="no pattern"),
        pytest.param("", NOWHERE, id="nothing comes from nowhere"),
        pytest.param(" ", NOWHERE, id="so does a space"),
        pytest.param("A1\n", NOWHERE, id="a line end more"),
    ],
)
def test_where_a_value_stands(value: JsonValue, expected: Origin) -> None:
    assert origin(value, SHOWN) == expected
