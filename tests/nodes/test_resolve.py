"""resolve (L1): who asks what, when, on which state; nothing of it from a model or from the conversation."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from nodes.resolve import NotOneHumanMessage, Reads, make_resolve
from state.canonical import digest
from state.contract import Effect
from state.node import Node
from state.policy import Policy
from state.run import Edited, Scope
from state.task import KEPT, ActionDone, Constraint, Retrieved, TaskState, TurnDone, UserTurn
from state.work import DecisionKind, LapOutcome, Status
from tests.desk import AGENT, LEAD, POLICY, SCOPE
from tests.fakes import NOW
from tests.nodes.parts import QUESTION, Parts

OURS = {"type": "human", "content": QUESTION, "id": "msg-1"}
HUMAN = {**OURS, "id": "theirs"}
ACTION = ActionDone(
    turn=1, tool="lookup", call_id="c", effect=Effect.READ, outcome="ok", at=NOW, artifact="toolrun://r/step-1"
)


def node(parts: Parts, policy: Policy = POLICY) -> Node:
    return make_resolve(clock=parts.clock, ids=parts.ids, artifacts=parts.artifacts, log=parts.log, policies=[policy])


def resolved(parts: Parts, task: TaskState | None = None, head: str | None = None, **message: Any) -> Any:
    return node(parts).run(Reads(messages=[{**HUMAN, **message}], task=task, head=head), SCOPE)


def test_the_first_message_becomes_request_and_objective(parts: Parts) -> None:
    wrote = resolved(parts)
    assert wrote.task == TaskState(objective=UserTurn(index=1, message_id="msg-1", ref=parts.turn_ref, at=NOW))
    assert wrote.request == parts.request()
    # The caller's id is not ours to trust: it may repeat.
    assert wrote.messages == [OURS]


def busy(parts: Parts, **changes: Any) -> TaskState:
    """A task in the middle of its first turn."""
    return parts.task(
        next_index=2,
        laps_in_turn=2,
        last_kind=DecisionKind.GATHER,
        last_toolset="look",
        last_outcome=LapOutcome.PLANNED,
        steps=("refund",),
        actions=(ACTION,),
        query_refs=("art-q",),
        retrieved=(Retrieved(key="k", snapshot_ref="art-s"),),
        missing=("evidence",),
        denials_in_turn=1,
        **changes,
    )


@pytest.mark.parametrize(
    ("changes", "message", "new_turn"),
    [
        pytest.param({}, {"id": "msg-1"}, False, id="the lap after"),
        pytest.param({}, {"id": "theirs"}, True, id="the same words with another id"),
        pytest.param({}, {"id": None}, True, id="the same words without an id"),
        pytest.param({}, {"id": "msg-1", "content": "Pay A2"}, True, id="other words with our id"),
        pytest.param({}, {"content": "Never mind, look at A2"}, True, id="another message in the middle"),
        pytest.param({"status": Status.ANSWERED}, {"id": "msg-1"}, True, id="the same message after the turn"),
        pytest.param({"status": Status.ANSWERED}, {}, True, id="the same question after the turn"),
        pytest.param({"status": Status.NEEDS_INPUT}, {"content": "A2"}, True, id="an answer to our question"),
    ],
)
def test_a_new_turn_keeps_what_was_done_and_drops_what_was_planned_or_found(
    parts: Parts, changes: dict[str, Any], message: dict[str, Any], new_turn: bool
) -> None:
    task = busy(parts, **changes)
    head = parts.filed(task_hash=digest(task))
    parts.ids.new("msg")  # the first message's
    wrote = resolved(parts, task, head, **message)
    text = message.get("content", QUESTION)
    turn = UserTurn(index=2, message_id="msg-2", ref=parts.put(text), at=NOW)
    expected = TaskState(objective=turn, next_index=2, actions=(ACTION,), turns=(TurnDone(index=1, record=head),))
    assert wrote.task == (expected if new_turn else task)
    assert wrote.request == parts.request(
        message_id="msg-2" if new_turn else "msg-1",
        turn_index=2 if new_turn else 1,
        turn_ref=parts.put(text),
        parent=head,
    )
    assert wrote.model_fields_set == {"request", "task", *(["messages"] if new_turn else [])}
    assert wrote.messages == ([{"type": "human", "content": text, "id": "msg-2"}] if new_turn else [])


def test_what_a_turn_bounds_is_kept_verbatim_by_reference_beside_what_was_bound_before(parts: Parts) -> None:
    before = Constraint(turn=1, ref="art-1", start=0, end=9)
    task = busy(parts, constraints=(before,), status=Status.ANSWERED)
    head = parts.filed(task_hash=digest(task))
    text = "Pay the invoice. Do not pay more than 20!"
    found = resolved(parts, task, head, content=text).task.constraints
    start = text.index("Do not")
    assert found == (before, Constraint(turn=2, ref=parts.put(text), start=start, end=len(text)))


def test_the_checkpoint_keeps_the_newest_constraints(parts: Parts) -> None:
    task = None
    head = None
    for number in range(KEPT + 3):
        task = resolved(parts, task, head, content=f"Never pay {number}.", id=f"m{number}").task
        task = task.model_copy(update={"status": Status.ANSWERED})
        head = parts.filed(task_hash=digest(task))
    assert task is not None
    assert [one.turn for one in task.constraints] == list(range(4, KEPT + 4))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"steps": ("refund", "refund")}, id="steps"),
        pytest.param({"laps_in_turn": 0}, id="the bound"),
        pytest.param({"denials_in_turn": 0}, id="denials"),
        pytest.param({"actions": ()}, id="actions"),
    ],
)
def test_a_task_that_the_head_did_not_leave_is_edited_and_its_steps_are_void(
    parts: Parts, edit: dict[str, Any]
) -> None:
    task = busy(parts)
    head = parts.filed(task_hash=digest(task))
    edited = task.model_copy(update=edit)
    wrote = resolved(parts, edited, head, id="msg-1")
    assert wrote.request.edited is Edited.TASK
    assert wrote.task == edited.model_copy(update={"steps": ()})


def test_a_task_without_any_record_is_edited(parts: Parts) -> None:
    wrote = resolved(parts, busy(parts), id="msg-1")
    assert wrote.request.edited is Edited.TASK
    assert wrote.task.steps == ()


@pytest.mark.parametrize(("shown", "kept"), [(0, 0), (1, 1), (6, 6), (2 * KEPT, KEPT)])
def test_the_task_keeps_the_earlier_turns_that_a_request_may_show(parts: Parts, shown: int, kept: int) -> None:
    turns = tuple(TurnDone(index=n, record=parts.filed(index=n, turn_index=n)) for n in range(KEPT))
    task = parts.task(status=Status.ANSWERED, turns=turns)
    head = parts.filed(task_hash=digest(task))
    policy = POLICY.model_copy(update={"history_turns": shown})
    wrote: Any = node(parts, policy).run(Reads(messages=[HUMAN], task=task, head=head), SCOPE)
    assert wrote.task.turns == (*turns, TurnDone(index=1, record=head))[KEPT + 1 - kept :]


def test_a_task_that_log_left_open_for_a_message_that_came_meanwhile_is_not_edited(parts: Parts) -> None:
    task = busy(parts, status=Status.ANSWERED)
    head = parts.filed(task_hash=digest(task), status=Status.ANSWERED)
    left_open = task.model_copy(update={"status": None})
    assert resolved(parts, left_open, head, content="Never mind").request.edited is None
    # Whoever opens it by hand to go on with a turn that is over has edited it, and so has who changes more.
    assert resolved(parts, left_open, head, id="msg-1").request.edited is Edited.TASK
    more = left_open.model_copy(update={"denials_in_turn": 0})
    assert resolved(parts, more, head, content="Never mind").request.edited is Edited.TASK
    other = task.model_copy(update={"status": Status.PARTIAL})
    assert resolved(parts, other, head, content="Never mind").request.edited is Edited.TASK


def test_identity_and_locale_come_from_the_scope(parts: Parts) -> None:
    principal = AGENT.model_copy(update={"locale": "es"})
    wrote: Any = node(parts).run(Reads(messages=[HUMAN]), Scope(principal=principal, actor=LEAD, thread="T"))
    assert wrote.request.locale == "es"
    assert (SCOPE.tenant, parts.turn_ref) in parts.artifacts.bodies


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param(HumanMessage(content="hola", id="m"), "hola", id="a message object"),
        pytest.param({"role": "user", "content": "hola", "id": "m"}, "hola", id="a role"),
        pytest.param({"type": "human", "content": "hola"}, "hola", id="without an id"),
        pytest.param({"type": "human", "content": "hola", "id": 7}, "hola", id="an id that is no text"),
        pytest.param(
            {
                "type": "human",
                "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}],
            },
            "a\nb",
            id="text parts",
        ),
        pytest.param({"type": "human", "content": "hola \ud83d"}, "hola \ufffd", id="half a character"),
        pytest.param({"type": "human", "content": "\udc4b hola"}, "\ufffd hola", id="the other half"),
        pytest.param({"type": "human", "content": "hola \ud83d\udc4b"}, "hola 👋", id="two halves"),
    ],
)
def test_the_last_message_is_the_question_and_gets_an_id_of_ours(parts: Parts, message: Any, text: str) -> None:
    wrote: Any = node(parts).run(Reads(messages=[{"type": "ai", "content": "before"}, message]), SCOPE)
    assert (parts.get(wrote.request.turn_ref), wrote.request.message_id) == (text, "msg-1")
    assert wrote.messages == [{"type": "human", "content": text, "id": "msg-1"}]
    # What was written is known again in the lap after.
    head = parts.filed(task_hash=digest(wrote.task))
    after: Any = node(parts).run(Reads(messages=wrote.messages, task=wrote.task, head=head), SCOPE)
    assert (after.task, after.request.turn_ref) == (wrote.task, wrote.request.turn_ref)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        pytest.param([], "got no message", id="none"),
        pytest.param([HUMAN, {"type": "ai", "content": "I am the agent"}], "role 'ai'", id="the agent's"),
        pytest.param([AIMessage(content="x")], "role 'ai'", id="the agent's as an object"),
        pytest.param([{"role": "system", "content": "x"}], "role 'system'", id="a system message"),
        pytest.param([{"type": "tool", "content": "x"}], "role 'tool'", id="a tool result"),
        pytest.param([{"content": "x"}], "role None", id="no role"),
        pytest.param([{"type": "human", "content": " \n"}], "empty message", id="empty"),
        pytest.param([{"type": "human", "content": [{"type": "image"}]}], "empty message", id="only an image"),
        pytest.param([{"type": "human", "content": None}], "empty message", id="nothing"),
    ],
)
def test_anything_but_one_human_message_is_refused_before_anything_is_stored(
    parts: Parts, messages: list[Any], problem: str
) -> None:
    before = dict(parts.artifacts.bodies)
    with pytest.raises(NotOneHumanMessage, match=problem):
        node(parts).run(Reads(messages=messages), SCOPE)
    assert parts.artifacts.bodies == before
