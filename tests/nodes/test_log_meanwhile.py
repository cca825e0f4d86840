"""log on a lap that another message cut short, and on one that somebody wrote into: filed as far as it is ours."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from nodes.resolve import Reads as ResolveReads
from nodes.resolve import make_resolve
from state.canonical import digest
from state.run import Edited
from state.task import TurnDone
from state.work import Act, Answer, Clarify, Escalate, Plan, Proposal, Search
from tests.desk import SCOPE
from tests.nodes.filing import (
    ACCEPTED,
    ALLOWED,
    CALL,
    CLEARED,
    DENIED,
    PENDING,
    REJECTED,
    SEEN,
    filed,
    kind,
    lap,
    logged,
    record,
)
from tests.nodes.parts import QUESTION, Parts, attempts

NEW = {"type": "human", "content": "Never mind", "id": "theirs"}
DONE = {"verdicts": (ALLOWED,), "observations": (SEEN,)}

CUT_SHORT: dict[str, tuple[Proposal | None, dict[str, Any], str, str | None]] = {
    "a complete answer": (Answer(text="x"), {"verdicts": (ACCEPTED,)}, "answered", "answered"),
    "a complete question": (Clarify(question="q"), {"verdicts": ()}, "asked", "needs_input"),
    "a complete handover": (Escalate(reason="r"), {"verdicts": ()}, "escalated", "escalated"),
    "a complete closing": (Escalate(reason="r"), {"verdicts": (), "decision": kind("close")}, "closed", "escalated"),
    "a model that failed": (None, {"attempts": attempts("truncated")}, "model_failed", "failed"),
    "an answer before validate": (Answer(text="x"), {"verdicts": None}, "abandoned", None),
    "an answer refused": (Answer(text="x"), {"verdicts": (DENIED,)}, "denied", None),
    "before the model": (None, {"attempts": None, "manifest": None}, "abandoned", None),
    "while a person is asked": (CALL, {"verdicts": (PENDING,)}, "abandoned", None),
    "before execute": (CALL, {"verdicts": (ALLOWED,)}, "abandoned", None),
    "a result": (CALL, DONE, "observed", None),
    "a plan opened": (
        Plan(goal="g", steps=("a",)),
        {"verdicts": (ACCEPTED,), "decision": kind("plan")},
        "planned",
        None,
    ),
    "a search": (Search(queries=("q",)), {"verdicts": ()}, "searched", None),
}


@pytest.mark.parametrize(("proposal", "reads", "outcome", "status"), CUT_SHORT.values(), ids=CUT_SHORT.keys())
def test_a_lap_left_open_is_filed_and_the_task_goes_on_with_the_new_message(
    parts: Parts, proposal: Proposal | None, reads: dict[str, Any], outcome: str, status: str | None
) -> None:
    seen = logged(parts, proposal, **reads)  # and its checkpoint was lost
    wrote = logged(parts, proposal, messages=[NEW], **reads)
    kept = record(parts, wrote)
    assert (kept.outcome, kept.status) == (outcome, status)
    assert (wrote.task.last_outcome, wrote.task.status) == (outcome, None)
    assert (wrote.head, len(parts.log.rows)) == (seen.head, 1)
    assert wrote.task == seen.task.model_copy(update={"status": None})
    # No view of the conversation: it would take the new message's place.
    assert wrote.model_fields_set == {"head", "task", *CLEARED}

    parts.ids.new("msg")  # the first message's
    resolve = make_resolve(
        clock=parts.clock, ids=parts.ids, artifacts=parts.artifacts, log=parts.log, policies=[parts.policy]
    )
    after: Any = resolve.run(ResolveReads(messages=[NEW], task=wrote.task, head=wrote.head), SCOPE)
    assert after.request.edited is None
    assert (after.request.turn_index, after.request.message_id) == (2, "msg-2")
    assert (after.task.turns, after.task.steps) == ((TurnDone(index=1, record=wrote.head),), ())


@pytest.mark.parametrize(
    ("message", "over"),
    [
        pytest.param({"type": "human", "content": QUESTION, "id": "msg-1"}, True, id="the one it is about"),
        pytest.param(HumanMessage(content=QUESTION, id="msg-1"), True, id="the same as an object"),
        pytest.param({"type": "human", "content": QUESTION, "id": "theirs"}, False, id="the same words again"),
        pytest.param({"type": "human", "content": QUESTION}, False, id="without an id"),
        pytest.param(HumanMessage(content="Never mind"), False, id="an object without an id"),
    ],
)
def test_a_new_message_is_known_by_its_id(parts: Parts, message: Any, over: bool) -> None:
    wrote = logged(parts, Answer(text="x"), verdicts=(ACCEPTED,), messages=[message])
    assert (wrote.task.status == "answered", bool(wrote.messages)) == (over, over)


def test_an_answer_that_a_new_message_overtook_is_shown_in_the_next_turn(parts: Parts) -> None:
    first = logged(parts, Answer(text="first"), verdicts=(ACCEPTED,), messages=[NEW])
    task = parts.task(turns=(TurnDone(index=1, record=first.head),))
    request = parts.request(turn_index=2)
    wrote = logged(parts, Answer(text="second"), task, head=first.head, request=request, verdicts=(ACCEPTED,))
    assert [message["content"] for message in wrote.messages] == [QUESTION, "first", QUESTION, "second"]


@pytest.mark.parametrize(
    ("proposal", "reads"),
    [
        pytest.param(CALL, DONE, id="a call that was made"),
        pytest.param(CALL, {"verdicts": (REJECTED,)}, id="a person's no"),
        pytest.param(Answer(text="x"), {"verdicts": (ACCEPTED,)}, id="an answer"),
        pytest.param(
            Plan(goal="g", steps=("refund",)), {"verdicts": (ACCEPTED,), "decision": kind("plan")}, id="a plan"
        ),
    ],
)
def test_an_edited_lap_is_filed_and_counts_for_nothing(
    parts: Parts, proposal: Act | Answer | Plan, reads: dict[str, Any]
) -> None:
    edited = parts.request().model_copy(update={"edited": Edited.LAP})
    task = parts.task().model_copy(update={"steps": ("refund",)})
    wrote = filed(parts, lap(parts, proposal, task, request=edited, **reads))
    kept = record(parts, wrote)
    assert (kept.outcome, kept.status, kept.edited, wrote.task.steps) == ("abandoned", None, True, ())
    assert (kept.verdicts, kept.observations) == (reads["verdicts"], reads.get("observations", ()))
    assert kept.task_hash == digest(wrote.task)
    assert record(parts, filed(parts, lap(parts, proposal, task, **reads))).edited is False
