"""What a proposal may be, whoever wrote it down: a call is found by its id, and there are not too many."""

import pytest
from pydantic import ValidationError

from state.work import MOST_CALLS, PROPOSAL, Answer, Clarify, Escalate, Plan, Proposal, Search, spoken
from tests.nodes.parts import act


def calls(*ids: str) -> str:
    made = ",".join(f'{{"call_id": "{name}", "tool": "lookup", "arguments": {{}}}}' for name in ids)
    return f'{{"type": "act", "calls": [{made}]}}'


MANY = [f"c{number}" for number in range(MOST_CALLS)]


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        pytest.param(calls(), "at least 1 item", id="no call"),
        pytest.param(calls("c1", "c2", "c1"), "two calls of a proposal have one id", id="one id twice"),
        pytest.param(calls(*MANY, "more"), f"at most {MOST_CALLS} items", id="too many"),
        pytest.param('{"type": "wipe"}', "does not match any of the expected tags", id="no such form"),
        pytest.param('{"type": "answer", "text": "x", "approved": true}', "Extra inputs", id="an unknown field"),
    ],
)
def test_what_is_no_proposal_is_not_read(stored: str, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        PROPOSAL.validate_json(stored)


def test_as_many_calls_as_allowed_are_read() -> None:
    assert PROPOSAL.validate_json(calls(*MANY)) == act(*((name, "lookup", {}) for name in MANY))


@pytest.mark.parametrize(
    ("proposal", "said"),
    [
        (Answer(text="a"), "a"),
        (Clarify(question="q"), "q"),
        (Escalate(reason="r"), "r"),
        (Plan(goal="g"), None),
        (Search(queries=("s",)), None),
        (act(("c1", "lookup", {})), None),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_what_a_proposal_says_to_the_user(proposal: Proposal, said: str | None) -> None:
    assert spoken(proposal) == said
