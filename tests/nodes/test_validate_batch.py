"""Several calls in one proposal (H02): asked for together, answered by call id, done once, whatever the order."""

from itertools import permutations
from typing import Any

import pytest

from nodes.execute import Reads as ExecuteReads
from nodes.execute import make_execute
from state.contract import Effect
from state.run import Scope
from state.verdict import Allowed, NeedsApproval
from tests.desk import AGENT, LEAD
from tests.nodes.parts import Parts, decision
from tests.nodes.validating import Validating

ANSWERED_BY_LEAD = Scope(principal=AGENT, actor=LEAD, thread="T")
AS_LEAD = Scope(principal=LEAD, actor=LEAD, thread="T")


def three(parts: Parts) -> tuple[str, str]:
    """The head and the proposal of H02: two payments and a lookup."""
    head = parts.planned("pay", "pay")
    calls = parts.act(
        ("c1", "pay", {"vendor": "A", "amount": 120}),
        ("c2", "pay", {"vendor": "B", "amount": 75}),
        ("c3", "lookup", {"order": "A1"}),
    )
    return head, calls


@pytest.mark.parametrize("delivery", [*permutations(["c1", "c2"]), ("both",)], ids=str)
def test_the_order_in_which_answers_come_does_not_matter(delivery: tuple[str, ...]) -> None:
    parts = Parts()
    head, calls = three(parts)
    reads: dict[str, Any] = {"request": parts.request(parent=head), "scope": ANSWERED_BY_LEAD}
    asked = Validating(parts).run(calls, **reads)
    assert [verdict.verdict for verdict in asked] == ["needs_approval", "needs_approval", "allowed"]
    ids = {one.call_id: one.request.approval_id for one in asked if isinstance(one, NeedsApproval)}
    words = {"c1": "approve", "c2": "reject"}
    answers = {name: {name: {"approval_id": ids[name], "decision": word}} for name, word in words.items()}
    answers["both"] = {**answers["c2"], **answers["c1"]}

    verdicts, questions = asked, []
    for name in delivery:
        validating = Validating(parts, answers[name])
        verdicts = validating.run(calls, verdicts, **reads)
        questions += validating.questions
    assert [call["call_id"] for call in questions[0]["approvals"]] == ["c1", "c2"]
    assert [(one.call_id, one.verdict, one.rule) for one in verdicts] == [
        ("c1", "allowed", "needs_confirmation"),
        ("c2", "denied", "rejected_by_person"),
        ("c3", "allowed", "read_in_scope"),
    ]

    execute = make_execute(
        artifacts=parts.artifacts,
        log=parts.log,
        ledger=parts.ledger,
        quotas=parts.quotas,
        clock=parts.clock,
        secrets=parts.secrets,
        memories=parts.memories,
        tools=parts.desk.tools,
        policies=[parts.policy],
    )
    lap = ExecuteReads(request=reads["request"], decision=decision(), proposal=calls, verdicts=verdicts)
    first: Any = execute.run(lap, ANSWERED_BY_LEAD)
    assert [(seen.call_id, seen.outcome, seen.effect) for seen in first.observations] == [
        ("c1", "ok", Effect.WRITE),
        ("c3", "ok", Effect.READ),
    ]
    execute.run(lap, ANSWERED_BY_LEAD)  # the same approval once more
    assert parts.desk.effects == [("pay", "A", "120")]
    assert parts.desk.read == [("t1", "A1"), ("t1", "A1")]


def test_one_answer_leaves_the_other_call_as_it_was(parts: Parts) -> None:
    head, calls = three(parts)
    reads: dict[str, Any] = {"request": parts.request(parent=head), "scope": ANSWERED_BY_LEAD}
    first, second, third = Validating(parts).run(calls, **reads)
    assert isinstance(second, NeedsApproval)
    answer = {"c2": {"approval_id": second.request.approval_id, "decision": "approve"}}
    verdicts = Validating(parts, answer).run(calls, (first, second, third), **reads)
    assert (verdicts[0], verdicts[2]) == (first, third)
    assert isinstance(verdicts[1], Allowed)
