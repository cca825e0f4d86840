"""What a turn did that was cut off is not done again unasked: nobody told its user, who asks again."""

import pytest
from pydantic import JsonValue

from state.checks.binding import arguments_digest
from state.contract import Effect
from state.ports import Claim
from state.work import DecisionKind, LapOutcome, Plan, Status
from tests.fakes import NOW
from tests.nodes.parts import Parts, decision, observation
from tests.nodes.validating import Validating

ARGUMENTS: dict[str, JsonValue] = {"order": "A1", "amount": 5}


def plan_lap(parts: Parts, parent: str | None, turn: int) -> str:
    ref = parts.proposal(Plan(goal="help", steps=("refund",)))
    spec = decision(kind=DecisionKind.PLAN)
    return parts.filed(
        parent=parent, turn_index=turn, decision=spec, proposal_ref=ref, outcome=LapOutcome.PLANNED, index=turn
    )


def done(parts: Parts, parent: str) -> None:
    """The refund was made in the lap after `parent`."""
    claim = Claim(
        key="before",
        tenant="t1",
        thread="T",
        parent=parent,
        ordinal=0,
        call_id="c0",
        tool="refund",
        arguments_digest=arguments_digest("refund", ARGUMENTS),
        effect="write",
        proposal_ref=parts.act(("c0", "refund", ARGUMENTS)),
    )
    parts.ledger.claim(claim, NOW)
    parts.ledger.close("before", "done", None)


SEEN = observation("c0", "refund", effect=Effect.WRITE, arguments_digest=arguments_digest("refund", ARGUMENTS))


@pytest.mark.parametrize(
    ("laps", "rule"),
    [
        pytest.param([(LapOutcome.ABANDONED, None)], "earlier_call_unsettled", id="cut off in its lap"),
        pytest.param([(LapOutcome.OBSERVED, None)], "earlier_call_unsettled", id="cut off after it"),
        pytest.param(
            [(LapOutcome.OBSERVED, None), (LapOutcome.ANSWERED, Status.ANSWERED)], "write_opened", id="told to the end"
        ),
    ],
)
def test_the_same_call_in_the_next_turn(parts: Parts, laps: list[tuple[LapOutcome, Status | None]], rule: str) -> None:
    head = plan_lap(parts, None, turn=1)
    done(parts, head)
    for outcome, status in laps:
        seen = (SEEN,) if outcome is LapOutcome.OBSERVED else ()
        head = parts.filed(parent=head, turn_index=1, outcome=outcome, status=status, observations=seen)
    head = plan_lap(parts, head, turn=2)
    call = parts.act(("c1", "refund", ARGUMENTS))
    (verdict,) = Validating(parts).run(call, request=parts.request(parent=head, turn_index=2))
    assert verdict.rule == rule


def test_a_second_step_of_the_same_turn_is_no_repetition(parts: Parts) -> None:
    ref = parts.proposal(Plan(goal="help", steps=("refund", "refund")))
    spec = decision(kind=DecisionKind.PLAN)
    head = parts.filed(decision=spec, proposal_ref=ref, outcome=LapOutcome.PLANNED)
    done(parts, head)
    head = parts.filed(parent=head, outcome=LapOutcome.OBSERVED, observations=(SEEN,))
    call = parts.act(("c1", "refund", ARGUMENTS))
    (verdict,) = Validating(parts).run(call, request=parts.request(parent=head))
    assert verdict.rule == "write_opened"


def test_what_was_done_on_another_branch_asks_whatever_opens_it_here(parts: Parts) -> None:
    """The refund was made after a plan, on a branch that this one does not tell; a plan of its own opens it here."""
    done(parts, plan_lap(parts, None, turn=1))
    head = plan_lap(parts, parts.filed(index=7), turn=1)
    for amount in (5, 6):
        call = parts.act(("c1", "refund", {"order": "A1", "amount": amount}))
        (verdict,) = Validating(parts).run(call, request=parts.request(parent=head))
        assert verdict.rule == "done_on_another_branch"
