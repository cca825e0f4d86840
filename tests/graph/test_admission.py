"""Admission: what an answer to a waiting call may look like before anything of it is stored (H03)."""

from typing import Any

import pytest

from graph.admission import MOST_OF_AN_EDIT, BadInput, check_answers
from state.checks.depth import MOST_DEPTH


def edit(arguments: Any) -> dict[str, Any]:
    return {"c1": {"approval_id": "apr-1", "decision": "edit", "arguments": arguments}}


def nested(depth: int) -> Any:
    made: Any = "end"
    for _ in range(depth):
        made = {"in": made}
    return made


def test_an_edit_within_its_bounds_is_taken() -> None:
    check_answers(edit({"amount": 5}))
    check_answers(edit(nested(MOST_DEPTH)))


@pytest.mark.parametrize(
    "arguments",
    [
        nested(MOST_DEPTH + 1),
        nested(200),
        nested(100_000),
        {"text": "x" * MOST_OF_AN_EDIT},
        {"text": 10**5000},
        ["amount", 5],
        None,
    ],
    ids=["too deep", "deeper", "deepest", "too long", "a huge number", "a list", "none"],
)
def test_an_edit_that_could_not_be_read_back_is_refused_and_the_call_stays_pending(arguments: Any) -> None:
    with pytest.raises(BadInput, match="the call is still pending"):
        check_answers(edit(arguments))
