"""log (L8): the outcome read off typed values, one record, the task rewritten, the lap's channels cleared."""

from typing import Any

import pytest

from state.canonical import digest
from state.context import Packed
from state.contract import Effect
from state.knowledge import Snapshot
from state.record import DecisionRecord
from state.task import KEPT, ActionDone, Phase, Rejection, Retrieved, TurnDone
from state.verdict import Verdict
from state.work import MOST_CALLS, Answer, Clarify, DecisionKind, Escalate, LapOutcome, Plan, Proposal, Search, Status
from tests.desk import POLICY
from tests.fakes import NOW
from tests.nodes.filing import (
    ACCEPTED,
    ALLOWED,
    CALL,
    CLEARED,
    DENIED,
    PENDING,
    PROPOSED,
    REJECTED,
    SEEN,
    TWO,
    filed,
    kind,
    lap,
    logged,
    record,
    seen,
)
from tests.nodes.parts import QUESTION, Parts, act, attempts, decision, observation

NO_FIT = Packed(ref=None, failure="does_not_fit", missing=("7 tokens",))
LACKS = Packed(ref="art-m", failure="insufficient", missing=("evidence to cite",))
FAILED = {"attempts": attempts("truncated")}
C2 = DENIED.model_copy(update={"call_id": "c2"})

OUTCOMES: dict[str, tuple[Proposal | None, dict[str, Any], str, str | None]] = {
    "does not fit": (None, {"manifest": NO_FIT, "attempts": None}, "does_not_fit", None),
    "insufficient": (None, {"manifest": LACKS, "attempts": None}, "insufficient", None),
    "no proposal": (None, FAILED, "model_failed", "failed"),
    "does not fit after context too long": (
        None,
        {"manifest": NO_FIT, "attempts": attempts("context_too_long")},
        "does_not_fit",
        None,
    ),
    "a new message before the model": (None, {"attempts": None, "manifest": None}, "abandoned", None),
    "a new message before the plan": (None, {"attempts": None, "decision": None}, "abandoned", None),
    "a new message before validate": (Answer(text="x"), {"verdicts": None}, "abandoned", None),
    "a new message while a person is asked": (CALL, {"verdicts": (PENDING,)}, "abandoned", None),
    "a new message before execute": (CALL, {"verdicts": (ALLOWED,)}, "abandoned", None),
    "one done, one never run": (
        TWO,
        {"verdicts": (ALLOWED, ALLOWED.model_copy(update={"call_id": "c2"})), "observations": (SEEN,)},
        "abandoned",
        None,
    ),
    "a result": (CALL, {"verdicts": (ALLOWED,), "observations": (SEEN,)}, "observed", None),
    "an empty result": (CALL, {"verdicts": (ALLOWED,), "observations": seen("empty")}, "observed", None),
    "an error": (CALL, {"verdicts": (ALLOWED,), "observations": seen("error")}, "call_failed", None),
    "not known": (CALL, {"verdicts": (ALLOWED,), "observations": seen("unknown")}, "call_failed", None),
    "denied": (CALL, {"verdicts": (DENIED,)}, "denied", None),
    "rejected": (CALL, {"verdicts": (REJECTED,)}, "rejected", None),
    "rejected and denied": (TWO, {"verdicts": (REJECTED, C2)}, "rejected", None),
    "one done, one denied": (TWO, {"verdicts": (ALLOWED, C2), "observations": (SEEN,)}, "observed", None),
    "one failed, one denied": (TWO, {"verdicts": (ALLOWED, C2), "observations": seen("error")}, "call_failed", None),
    "a search": (Search(queries=("q",)), {"verdicts": ()}, "searched", None),
    "a plan asked for": (Plan(goal="g"), {"verdicts": (ACCEPTED,)}, "plan_requested", None),
    "a plan opened": (Plan(goal="g"), {"verdicts": (ACCEPTED,), "decision": kind("plan")}, "planned", None),
    "a plan refused": (Plan(goal="g"), {"verdicts": (DENIED,), "decision": kind("plan")}, "denied", None),
    "an answer": (Answer(text="x"), {"verdicts": (ACCEPTED,)}, "answered", "answered"),
    "an answer refused": (Answer(text="x"), {"verdicts": (DENIED,)}, "denied", None),
    "a question": (Clarify(question="q"), {"verdicts": ()}, "asked", "needs_input"),
    "a handover": (Escalate(reason="r"), {"verdicts": ()}, "escalated", "escalated"),
    "closed": (Escalate(reason="r"), {"verdicts": (), "decision": kind("close")}, "closed", "escalated"),
}


@pytest.mark.parametrize(("proposal", "reads", "outcome", "status"), OUTCOMES.values(), ids=OUTCOMES.keys())
def test_how_a_lap_ended(
    parts: Parts, proposal: Proposal | None, reads: dict[str, Any], outcome: str, status: str | None
) -> None:
    wrote = logged(parts, proposal, **reads)
    filed = record(parts, wrote)
    assert (filed.outcome, filed.status) == (outcome, status)
    assert (wrote.task.last_outcome, wrote.task.status) == (outcome, status)
    assert {name: getattr(wrote, name) for name in CLEARED} == dict.fromkeys(CLEARED)
    ends = {"messages"} if status else set()
    assert wrote.model_fields_set == {"head", "task", *CLEARED, *ends}


FOUND = (ActionDone(turn=1, tool="lookup", call_id="c0", effect=Effect.READ, outcome="ok", at=NOW),)


@pytest.mark.parametrize(
    ("proposal", "reads", "status"),
    [
        pytest.param(Escalate(reason="r"), {"decision": kind("close"), "verdicts": ()}, "partial", id="closed"),
        pytest.param(None, FAILED, None, id="no proposal: code closes it in the next lap"),
    ],
)
def test_what_was_found_makes_a_partial_answer(
    parts: Parts, proposal: Proposal | None, reads: dict[str, Any], status: str | None
) -> None:
    assert logged(parts, proposal, parts.task(actions=FOUND), **reads).task.status == status
    other_turn = parts.task(actions=(FOUND[0].model_copy(update={"turn": 0}),))
    assert logged(parts, proposal, other_turn, **reads).task.status == ("escalated" if proposal else "failed")


def test_the_record_holds_the_lap(parts: Parts) -> None:
    head = parts.filed()
    task = parts.task(next_index=4, laps_in_turn=1)
    request = parts.request(edited=True, parent=head)
    ours = lap(parts, CALL, task, head=head, request=request, verdicts=(ALLOWED,), observations=(SEEN,))
    wrote = filed(parts, ours)
    assert ours.verdicts is not None
    assert ours.observations is not None
    assert record(parts, wrote) == DecisionRecord(
        parent=head,
        tenant="t1",
        thread="T",
        principal="mia@t1",
        request_id="req-1",
        index=4,
        at=NOW,
        turn_ref=parts.turn_ref,
        turn_index=1,
        decision=decision(),
        manifest_ref="art-m",
        proposal_ref=parts.proposal(CALL),
        attempts=PROPOSED,
        verdicts=ours.verdicts,
        observations=ours.observations,
        outcome=LapOutcome.OBSERVED,
        status=None,
        task_hash=digest(wrote.task),
        edited=True,
        seal=record(parts, wrote).seal,
    )
    assert wrote.head == record(parts, wrote).hash()
    assert QUESTION not in record(parts, wrote).model_dump_json()


def test_filing_twice_is_filing_once(parts: Parts) -> None:
    first, second = (logged(parts, Search(queries=("q",)), verdicts=()) for _ in range(2))
    assert first == second
    assert len(parts.log.rows) == 1


def test_the_task_after_a_lap(parts: Parts) -> None:
    done = (ALLOWED, C2)
    wrote = logged(parts, TWO, parts.task(next_index=4, laps_in_turn=1), verdicts=done, observations=(SEEN,))
    assert wrote.task == parts.task(
        next_index=5,
        laps_in_turn=2,
        last_kind=DecisionKind.ACT,
        last_toolset="desk",
        last_outcome=LapOutcome.OBSERVED,
        denials_in_turn=1,
        actions=(
            ActionDone(
                turn=1,
                tool="lookup",
                call_id="c1",
                effect=Effect.READ,
                outcome="ok",
                at=NOW,
                artifact=SEEN.artifact_ref,
            ),
            # A refused call leaves no value and no hash of one: a short hash of a foreign id could be guessed back.
            ActionDone(turn=1, tool="refund", call_id="c2", effect=None, outcome="denied", at=NOW),
        ),
        phase=Phase.ACTING,
        rejections=(Rejection(turn=1, decision=3, about="refund", rule="over_limit", reason="r"),),
    )


@pytest.mark.parametrize(
    ("verdict", "denials", "outcome"), [(DENIED, 1, "denied"), (REJECTED, 0, "rejected")], ids=["code", "person"]
)
def test_what_a_person_rejects_is_no_denial_of_ours(parts: Parts, verdict: Verdict, denials: int, outcome: str) -> None:
    task = logged(parts, CALL, verdicts=(verdict,)).task
    assert (task.denials_in_turn, [action.outcome for action in task.actions]) == (denials, [outcome])


TAKEN = {"verdicts": (ALLOWED,), "observations": (SEEN,)}
BROKEN = {"verdicts": (ALLOWED,), "observations": seen("error")}
OPENS = {"verdicts": (ACCEPTED,), "decision": kind("plan")}


@pytest.mark.parametrize(
    ("steps", "proposal", "reads", "left"),
    [
        pytest.param((), Plan(goal="g", steps=("a", "b")), OPENS, ("a", "b"), id="opened"),
        pytest.param((), Plan(goal="g", steps=("a",)), {"verdicts": (ACCEPTED,)}, (), id="only asked for"),
        pytest.param(("lookup", "refund"), CALL, TAKEN, ("refund",), id="taken"),
        pytest.param(("refund", "lookup"), CALL, TAKEN, ("refund", "lookup"), id="another first"),
        pytest.param(("lookup", "refund"), CALL, BROKEN, (), id="failed"),
        pytest.param(("lookup",), CALL, {"verdicts": (DENIED,)}, (), id="denied"),
        pytest.param(("lookup",), CALL, {"verdicts": (REJECTED,)}, (), id="rejected"),
        pytest.param(("lookup",), Search(queries=("q",)), {"verdicts": ()}, ("lookup",), id="something else"),
    ],
)
def test_the_steps_of_a_plan_are_taken_in_order(
    parts: Parts, steps: tuple[str, ...], proposal: Proposal, reads: dict[str, Any], left: tuple[str, ...]
) -> None:
    assert logged(parts, proposal, parts.task(steps=steps), **reads).task.steps == left


def test_a_search_is_kept_by_address_once(parts: Parts) -> None:
    task = parts.task(query_refs=(parts.put("old"),))
    wrote = logged(parts, Search(queries=("new", "old")), task, verdicts=())
    assert wrote.task.query_refs == (parts.put("old"), parts.put("new"))


def test_a_retrieval_is_remembered_once(parts: Parts) -> None:
    ref = parts.put(Snapshot(key="k", queries=(), candidates=()).model_dump_json())
    done = Retrieved(key="k", snapshot_ref=ref)
    wrote = logged(parts, Search(queries=("q",)), verdicts=(), candidates=ref)
    assert wrote.task.retrieved == (done,)
    assert logged(parts, Search(queries=("q",)), wrote.task, verdicts=(), candidates=ref).task.retrieved == (done,)


def test_what_was_missing_is_told_in_the_task(parts: Parts) -> None:
    assert logged(parts, manifest=LACKS, attempts=None).task.missing == ("evidence to cite",)
    assert logged(parts, Search(queries=("q",)), parts.task(missing=("x",)), verdicts=()).task.missing == ()


def test_what_was_done_is_bounded(parts: Parts) -> None:
    task = parts.task(actions=tuple(FOUND[0].model_copy(update={"call_id": f"old{n}"}) for n in range(KEPT)))
    calls = [f"c{n}" for n in range(MOST_CALLS)]
    wrote = logged(
        parts,
        act(*((call, "lookup", {"order": "A1"}) for call in calls)),
        task,
        verdicts=tuple(ALLOWED.model_copy(update={"call_id": call}) for call in calls),
        observations=tuple(observation(call, "lookup") for call in calls),
    )
    left = [f"old{n}" for n in range(MOST_CALLS, KEPT)]
    assert [action.call_id for action in wrote.task.actions] == [*left, *calls]


@pytest.mark.parametrize(
    ("changes", "kept"),
    [(20, 20), (KEPT - 8, KEPT - 8), (KEPT, KEPT - 8)],
    ids=["a change outlives reads", "up to a number", "but for the newest reads"],
)
def test_what_was_changed_outlives_what_was_read(parts: Parts, changes: int, kept: int) -> None:
    old = [ActionDone.model_validate({**FOUND[0].model_dump(), "effect": "write"}) for _ in range(changes)]
    read = [FOUND[0].model_copy(update={"effect": Effect.READ, "call_id": f"r{n}"}) for n in range(KEPT)]
    wrote = logged(parts, Search(queries=("q",)), parts.task(actions=(*old, *read)), verdicts=())
    effects = [action.effect for action in wrote.task.actions]
    assert (len(effects), effects.count(Effect.WRITE)) == (KEPT, kept)
    assert wrote.task.actions[-1].call_id == f"r{KEPT - 1}"


@pytest.mark.parametrize(("turns", "shown"), [(0, []), (1, [3]), (2, [2, 3]), (9, [1, 2, 3])])
def test_the_view_of_the_conversation_is_rewritten_whole(parts: Parts, turns: int, shown: list[int]) -> None:
    answers = {n: parts.proposal(Answer(text=f"answer {n}")) for n in (1, 2, 3)}
    done = tuple(
        TurnDone(
            index=n,
            record=parts.filed(index=n, turn_index=n, proposal_ref=ref, status=None if n == 2 else Status.ANSWERED),
        )
        for n, ref in answers.items()
    )
    policy = POLICY.model_copy(update={"history_turns": turns})
    request = parts.request(turn_index=4)
    wrote = logged(
        parts, Answer(text="now"), parts.task(turns=done), verdicts=(ACCEPTED,), policy=policy, request=request
    )
    expected: list[dict[str, str]] = []
    for n in [*shown, 4]:
        expected.append({"type": "human", "content": QUESTION, "id": f"turn-{n}"})
        if n != 2:  # its last proposal never passed validate
            said = "now" if n == 4 else f"answer {n}"
            expected.append({"type": "ai", "content": said, "id": f"turn-{n}-answer"})
    assert wrote.messages == expected
