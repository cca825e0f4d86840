"""resolve (L1): fix who asks what, when, and on which state. Nothing here comes from a model."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from nodes.resolve.handover import handed_over
from state.canonical import digest
from state.checks.bounding import bounds
from state.node import Node
from state.policy import Policy, effective
from state.ports import Artifacts, Clock, DecisionLog, Ids
from state.run import Edited, RequestContext, Scope
from state.task import KEPT, Constraint, TaskState, TurnDone, UserTurn
from state.value import Value


class Reads(Value):
    """The conversation's last message, the task and the head of the chain."""

    messages: list[Any]
    task: TaskState | None = None
    head: str | None = None


class Writes(Value):
    """The lap's request context, the task with its objective, and a new message with an id of ours."""

    request: RequestContext
    task: TaskState
    messages: list[Any] = []


class NotOneHumanMessage(ValueError):
    """A run's input is one human message; other roles could speak for the agent or rewrite its past."""


def make_resolve(*, clock: Clock, ids: Ids, artifacts: Artifacts, log: DecisionLog, policies: Sequence[Policy]) -> Node:
    """The resolve node."""

    def run(reads: Reads, scope: Scope) -> Writes:
        message_id, text = human_message(reads.messages)
        now = clock.now()
        turn_ref = artifacts.put(scope.tenant, text)
        task = reads.task or TaskState()
        new_turn = not goes_on(task, message_id, turn_ref)
        edited = _edited(log, scope, reads.head, task, new_turn)
        messages: list[Any] | None = None
        if new_turn:
            index = 1 if task.objective is None else task.objective.index + 1
            turn = UserTurn(index=index, message_id=ids.new("msg"), ref=turn_ref, at=now)
            task = _new_turn(task, turn, text, reads.head)
            # With an id of ours the message is known again; the next one, even of the same words, has another.
            messages = [{"type": "human", "content": text, "id": turn.message_id}]
        elif edited:
            task = task.model_copy(update={"steps": ()})  # they were planned for another state
        task = _remembering(task, min(KEPT, effective(policies, now).history_turns), scope)
        assert task.objective is not None
        request = RequestContext(
            request_id=ids.new("req"),
            now=now,
            locale=scope.principal.locale,
            message_id=task.objective.message_id,
            turn_ref=task.objective.ref,
            turn_index=task.objective.index,
            parent=reads.head,
            edited=Edited.TASK if edited else None,
        )
        if messages is None:
            return Writes(request=request, task=task)
        return Writes(request=request, task=task, messages=messages)

    def _remembering(task: TaskState, turns: int, scope: Scope) -> TaskState:
        """The task with the earlier turns that a request may show, and what the others left."""
        shown = task.turns[-turns:] if turns else ()
        if len(shown) == len(task.turns):
            return task
        cut = task.turns[: len(task.turns) - len(shown)]
        ref = handed_over(artifacts, log, scope, task, cut)
        return task.model_copy(update={"turns": shown, "handover_ref": ref})

    return Node("resolve", Reads, Writes, run, ports=("clock", "ids", "artifacts", "decision log"), domain=("policy",))


def goes_on(task: TaskState, message_id: str | None, turn_ref: str) -> bool:
    """Whether the last message is the one the task is at work on, not a new one."""
    objective = task.objective
    if objective is None or task.status is not None:
        return False
    return (objective.message_id, objective.ref) == (message_id, turn_ref)


def human_message(messages: Sequence[Any]) -> tuple[str | None, str]:
    """The id and text of a run's input.

    Raises NotOneHumanMessage when the last message is not a human one with text.
    """
    last: Any = messages[-1] if messages else None
    if last is None:
        raise NotOneHumanMessage("got no message; a run's input is one human message: send {'messages': [{...}]}")
    fields: dict[str, JsonValue] = (
        last if isinstance(last, dict) else {"type": last.type, "content": last.content, "id": last.id}
    )
    role = fields.get("type") or fields.get("role")
    if role not in ("human", "user"):
        raise NotOneHumanMessage(
            f"got a message of role {role!r}; allowed: one human message; send only the user's turn"
        )
    content = fields.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content.strip():
        raise NotOneHumanMessage("got an empty message; send the question as text")
    identity = fields.get("id")
    # Half a character cannot be stored: it becomes the sign for what could not be read, once and here.
    readable = content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return (identity if isinstance(identity, str) else None), readable


def _edited(log: DecisionLog, scope: Scope, head: str | None, task: TaskState, new_turn: bool) -> bool:
    if head is None:
        return task != TaskState()  # no record left this task behind
    left = log.get(scope.tenant, scope.thread, head)
    if left.task_hash == digest(task):
        return False
    # What the record hashed had ended its turn; log left it without an end, for a message that came meanwhile.
    overtaken = new_turn and task.status is None and left.status is not None
    return not (overtaken and left.task_hash == digest(task.model_copy(update={"status": left.status})))


def _new_turn(task: TaskState, turn: UserTurn, text: str, head: str | None) -> TaskState:
    """The task at a new message: what was done stays known, what was planned or found for the last turn does not.

    The record at the head is the one that ended the turn before. What bounds the task is added to what bounded it.
    """
    added = (Constraint(turn=turn.index, ref=turn.ref, start=start, end=end) for start, end in bounds(text))
    turns = task.turns
    if task.objective is not None and head is not None:
        turns = (*turns, TurnDone(index=task.objective.index, record=head))
    return TaskState(
        objective=turn,
        constraints=(*task.constraints, *added)[-KEPT:],
        next_index=task.next_index,
        turns=turns,
        actions=task.actions,
        rejections=task.rejections,
        questions=task.questions,
        handover_ref=task.handover_ref,
        prefixes=task.prefixes,
    )
