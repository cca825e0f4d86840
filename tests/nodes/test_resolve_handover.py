"""resolve and the handover (C5): a turn that goes out of sight leaves lines in fixed sections, each merged in once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.resolve import Reads, make_resolve
from state.canonical import digest
from state.contract import Effect
from state.handover import EFFECTS, LINES, Call, Handover, Said, Settled
from state.policy import Policy
from state.task import Rejection, TaskState, TurnDone
from state.work import Answer, LapOutcome, Status
from tests.desk import POLICY, SCOPE
from tests.nodes.parts import QUESTION, Parts, observation

ONE: Policy = POLICY.model_copy(update={"history_turns": 1})


class Said3:
    """Turns that were ended, each with a read, an effect and an answer."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.done: list[TurnDone] = []
        self.head: str | None = None

    def turn(self, index: int) -> None:
        seen = observation(f"r{index}", "lookup", artifact_ref=f"toolrun://req-{index}/step-1")
        paid = observation(f"w{index}", "refund", effect=Effect.WRITE, artifact_ref=f"toolrun://req-{index}/step-2")
        turn_ref = self.parts.put(f"question {index}")
        self.head = self.parts.filed(
            parent=self.head, index=2 * index, turn_index=index, turn_ref=turn_ref, observations=(seen, paid)
        )
        answer = self.parts.proposal(Answer(text=f"answer {index}"))
        self.head = head = self.parts.filed(
            parent=self.head,
            index=2 * index + 1,
            turn_index=index,
            turn_ref=turn_ref,
            proposal_ref=answer,
            outcome=LapOutcome.ANSWERED,
            status=Status.ANSWERED,
        )
        self.done.append(TurnDone(index=index, record=head))

    def resolved(self, policy: Policy, **task: Any) -> TaskState:
        """The task at the beginning of one more lap of a turn after these."""
        given = self.parts.task(turns=tuple(self.done), **task)
        head = self.parts.filed(parent=self.head, task_hash=digest(given))
        parts = self.parts
        node = make_resolve(
            clock=parts.clock, ids=parts.ids, artifacts=parts.artifacts, log=parts.log, policies=[policy]
        )
        message = {"type": "human", "content": QUESTION, "id": "msg-1"}
        wrote: Any = node.run(Reads(messages=[message], task=given, head=head), SCOPE)
        assert wrote.request.edited is None
        made: TaskState = wrote.task
        return made


@pytest.fixture
def said(parts: Parts) -> Said3:
    made = Said3(parts)
    for index in (1, 2, 3):
        made.turn(index)
    return made


def handover(parts: Parts, task: TaskState) -> Handover:
    assert task.handover_ref is not None
    return Handover.model_validate_json(parts.get(task.handover_ref))


def test_turns_out_of_sight_leave_what_was_said_done_and_decided(parts: Parts, said: Said3) -> None:
    denied = Rejection(turn=2, decision=4, about="pay", rule="rejected_by_person", reason="r", by="leo@t1")
    task = said.resolved(ONE, rejections=(denied, denied.model_copy(update={"turn": 3})))
    assert [done.index for done in task.turns] == [3]
    kept = handover(parts, task)
    assert kept.through == 2
    assert [parts.get(one.ref) for one in kept.intent] == ["question 1", "question 2"]
    assert [one.turn for one in kept.findings] == [1, 2]
    refunds = [(one.turn, one.tool, one.outcome, one.artifact) for one in kept.changed]
    assert refunds == [(n, "refund", "ok", f"toolrun://req-{n}/step-2") for n in (1, 2)]
    assert [(one.turn, one.artifact) for one in kept.checked] == [(2, "toolrun://req-2/step-1")]
    assert kept.decisions == (Settled(turn=2, about="pay", rule="rejected_by_person", by="leo@t1"),)


def test_while_all_turns_are_shown_there_is_none(parts: Parts, said: Said3) -> None:
    assert said.resolved(POLICY).handover_ref is None


def test_what_is_newly_cut_is_merged_in_and_nothing_is_told_twice(parts: Parts, said: Said3) -> None:
    first = said.resolved(ONE)
    said.done = [said.done[-1]]
    said.turn(4)
    second = said.resolved(ONE, handover_ref=first.handover_ref)
    kept = handover(parts, second)
    assert kept.through == 3
    assert [one.turn for one in kept.intent] == [1, 2, 3]
    said.done = [said.done[-1]]
    assert said.resolved(ONE, handover_ref=second.handover_ref).handover_ref == second.handover_ref


def test_it_holds_no_text_of_its_own(parts: Parts, said: Said3) -> None:
    ref = said.resolved(ONE).handover_ref
    assert ref is not None
    assert not [text for text in ("question", "answer 1") if text in parts.get(ref)]


LINE = st.integers(1, 99)


@given(turns=st.lists(LINE, max_size=40))
def test_a_section_keeps_its_newest_lines(turns: list[int]) -> None:
    kept = Handover(through=0)
    for turn in turns:
        call = Call(turn=turn, tool=f"tool-{turn % 5}", outcome="ok")
        kept = kept.with_more(
            Handover(through=turn, intent=(Said(turn=turn, ref="r"),), changed=(call,), checked=(call,))
        )
    assert [one.turn for one in kept.intent] == turns[-LINES:]
    assert [one.turn for one in kept.changed] == turns[-EFFECTS:]
    newest = {turn % 5: n for n, turn in enumerate(turns)}
    assert [one.turn for one in kept.checked] == [turns[n] for n in sorted(newest.values())]
