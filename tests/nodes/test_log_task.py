"""What log keeps in the task state: refusals with their reasons, open questions, the phase (S2)."""

from typing import Any

import pytest

from state.task import Phase, Rejection
from state.verdict import Denied
from state.work import Answer, Clarify, Plan, Proposal, Search
from tests.nodes.filing import ACCEPTED, ALLOWED, CALL, DENIED, REJECTED, SEEN, kind, logged
from tests.nodes.parts import Parts


@pytest.mark.parametrize(
    ("proposal", "verdict", "expected"),
    [
        pytest.param(
            CALL, DENIED, Rejection(turn=1, decision=3, about="lookup", rule="over_limit", reason="r"), id="a call"
        ),
        pytest.param(
            CALL,
            REJECTED,
            Rejection(turn=1, decision=3, about="lookup", rule=REJECTED.rule, reason=REJECTED.reason, by="leo@t1"),
            id="a call, by a person",
        ),
        pytest.param(
            Answer(text="x"),
            DENIED.model_copy(update={"call_id": "answer"}),
            Rejection(turn=1, decision=3, about="answer", rule="over_limit", reason="r"),
            id="an answer",
        ),
    ],
)
def test_what_was_not_taken_stays_known_with_its_reason(
    parts: Parts, proposal: Proposal, verdict: Denied, expected: Rejection
) -> None:
    assert logged(parts, proposal, verdicts=(verdict,)).task.rejections == (expected,)


def test_a_question_stays_open_until_a_turn_ends_with_an_answer(parts: Parts) -> None:
    asked = logged(parts, Clarify(question="Which one?"), verdicts=()).task
    (question,) = asked.questions
    assert parts.get(question.ref) == Clarify(question="Which one?").model_dump_json()
    going_on = logged(parts, Search(queries=("q",)), asked.model_copy(update={"status": None}), verdicts=()).task
    assert going_on.questions == (question,)
    answered = logged(
        parts, Answer(text="x"), going_on, verdicts=(ACCEPTED.model_copy(update={"call_id": "answer"}),)
    ).task
    assert answered.questions == ()


@pytest.mark.parametrize(
    ("decided", "proposal", "reads", "phase"),
    [
        ("gather", CALL, {"verdicts": (ALLOWED,), "observations": (SEEN,)}, Phase.GATHERING),
        ("gather", Plan(goal="g"), {"verdicts": (ACCEPTED,)}, Phase.PLANNING),
        ("plan", Plan(goal="g", steps=("a",)), {"verdicts": (ACCEPTED,)}, Phase.ACTING),
        ("act", CALL, {"verdicts": (DENIED,)}, Phase.ACTING),
        ("answer", Search(queries=("q",)), {"verdicts": ()}, Phase.CONCLUDING),
        ("answer", Answer(text="x"), {"verdicts": (ACCEPTED,)}, Phase.OVER),
    ],
    ids=["gather", "a plan is asked for", "planned", "act", "answer", "over"],
)
def test_the_phase_is_read_off_the_decision_and_its_outcome(
    parts: Parts, decided: str, proposal: Proposal, reads: dict[str, Any], phase: Phase
) -> None:
    assert logged(parts, proposal, decision=kind(decided), **reads).task.phase is phase
