"""What a call takes of a rate of amounts: the size of its argument, and all there is where that is no such number."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from state.checks.rates import bounds
from state.contract import Rate
from state.run import RequestContext
from tests.desk import POLICY, SCOPE, Desk

NOW = datetime(2026, 3, 1, tzinfo=UTC)
REQUEST = RequestContext(request_id="r", now=NOW, locale="en", message_id="m", turn_ref="t", turn_index=1, parent=None)
IN_ALL = (Rate(policy_key="refund_limit", per="turn", counts="amount", parameter="amount"),)


ALL = 400.0  # twice what there is


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (5, 5.0),
        (-5, 5.0),
        (0.5, 0.5),
        (0, 0.0),
        (2**53, float(2**53)),
        (2**53 + 1, ALL),
        (-(10**400), ALL),
        (math.nan, ALL),
        (-math.inf, ALL),
        (True, ALL),
        ("5", ALL),
        (None, ALL),
    ],
)
def test_an_amount_counts_by_its_size(given: Any, taken: float) -> None:
    contract = Desk().contracts["refund"].model_copy(update={"rates": IN_ALL})
    (bound,) = bounds(contract, {"order": "A1", "amount": given}, SCOPE, REQUEST, POLICY, NOW)
    assert (bound.amount, bound.most) == (taken, 200)
