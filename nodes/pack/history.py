"""The conversation before this turn: what the user said and what we answered, and what bounds the task (S12, C1)."""

from nodes.pack.drafts import Draft, Drafts
from state.context import Kind, Trust
from state.ports import Artifacts, DecisionLog
from state.run import Scope
from state.task import TaskState
from state.work import PROPOSAL, Status, spoken

CONSTRAINT = "constraint-"  # begins the item id of what bounds the task: never left out for want of room


def history(
    drafts: Drafts, artifacts: Artifacts, log: DecisionLog, scope: Scope, task: TaskState, turns: int
) -> list[Draft]:
    """The newest earlier turns, oldest first: the user's words, and our own answer, which is not trusted.

    That a question of ours ended a turn is our code's knowledge, and shown apart: a plan lap holds no answer of ours,
    and without it what the user said next would stand there as if out of the blue.
    """
    shown = task.turns[-turns:] if turns else ()
    records = log.get_all(scope.tenant, scope.thread, [done.record for done in shown])
    refs = [ref for record in records for ref in (record.turn_ref, record.proposal_ref) if ref]
    texts = artifacts.get_all(scope.tenant, refs)
    made: list[Draft] = []
    for done, record in zip(shown, records, strict=True):
        name = f"turn-{done.index}"
        made.append(
            drafts.text(
                name,
                Kind.TASK_STATE,
                f"turn://{done.index}",
                Trust.USER,
                texts[record.turn_ref],
                at=record.at,
                turn=done.index,
            )
        )
        # Without a status the turn was abandoned, and its last proposal may never have passed validate.
        final = record.proposal_ref if record.status else None
        said = spoken(PROPOSAL.validate_json(texts[final])) if final else None
        if said:
            made.append(
                drafts.text(
                    f"{name}-answer",
                    Kind.TASK_STATE,
                    f"answer://{done.index}",
                    Trust.UNTRUSTED,
                    said,
                    at=record.at,
                    turn=done.index,
                    derived_from=(done.record,),
                )
            )
        if record.status is Status.NEEDS_INPUT:
            made.append(
                drafts.text(
                    f"{name}-asked-back",
                    Kind.TASK_STATE,
                    "state://asked-back",
                    Trust.SYSTEM,
                    "This turn ended with a question to the user.",
                    at=record.at,
                    turn=done.index,
                )
            )
    return made


def constraints(drafts: Drafts, artifacts: Artifacts, scope: Scope, task: TaskState, turns: int) -> list[Draft]:
    """What the user bounded the task by in turns that the history no longer shows, verbatim (C1)."""
    shown = {done.index for done in (task.turns[-turns:] if turns else ())}
    if task.objective is not None:
        shown.add(task.objective.index)
    hidden = [one for one in task.constraints if one.turn not in shown]
    texts = artifacts.get_all(scope.tenant, [one.ref for one in hidden])
    return [
        drafts.text(
            f"{CONSTRAINT}{one.turn}-{one.start}",
            Kind.TASK_STATE,
            f"turn://{one.turn}",
            Trust.USER,
            texts[one.ref][one.start : one.end],
            turn=one.turn,
        )
        for one in hidden
    ]
