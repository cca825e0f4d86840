"""The conversation before this turn: what the user said and what we answered, and what bounds the task (S12, C1)."""

from collections.abc import Container

from nodes.pack.drafts import Draft, Drafts
from state.context import Kind, Trust
from state.contract import Effect
from state.handover import Handover
from state.ports import Artifacts, DecisionLog
from state.run import Scope
from state.task import TaskState
from state.work import PROPOSAL, Status, spoken

_BEGIN_CHARS = 160  # of what was said in a turn that the handover stands for
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


def outcomes(drafts: Drafts, task: TaskState, tools: Container[str]) -> list[Draft]:
    """What the turns that no handover covers yet changed, and what was refused in them, which neither question nor
    answer says (C8). `tools` are the domain's: a call of another has a name that the model made up, and no line of ours
    repeats it."""
    shown = {done.index for done in task.turns}
    changed = [
        f"- turn {done.turn}: {done.tool}, {done.outcome}, {done.artifact}"
        for done in task.actions
        if done.turn in shown and done.effect not in (None, Effect.READ)
    ]
    refused = [
        f"- turn {one.turn}: {one.about if one.about in tools else 'a proposal'}, by rule {one.rule}"
        f"{f', by {one.by}' if one.by else ''}"
        for one in task.rejections
        if one.turn in shown
    ]
    lines = [*(["changed:", *changed] if changed else []), *(["refused:", *refused] if refused else [])]
    if not lines:
        return []
    text = "\n".join(["This was done in the turns above.", *lines])
    return [drafts.text("outcomes", Kind.TASK_STATE, "state://outcomes", Trust.SYSTEM, text)]


def handover(drafts: Drafts, artifacts: Artifacts, scope: Scope, task: TaskState) -> list[Draft]:
    """What is kept of turns that stand no longer in the history (C5): what was done and decided as our code knows it;
    apart from it the beginning of what the user said, and of what we answered, which is not trusted."""
    if task.handover_ref is None:
        return []
    kept = Handover.model_validate_json(artifacts.get(scope.tenant, task.handover_ref))
    refs = [said.ref for said in (*kept.intent, *kept.findings)] + [one.ref for one in kept.identifiers]
    texts = artifacts.get_all(scope.tenant, refs)
    names = [f"turn {one.turn}: {texts[one.ref][one.start : one.end]}" for one in kept.identifiers]
    words = [f"turn {said.turn}: {_begin(texts[said.ref])}" for said in kept.intent]
    answers = [
        f"turn {said.turn}: {_begin(text)}"
        for said in kept.findings
        if (text := spoken(PROPOSAL.validate_json(texts[said.ref])))
    ]
    parts = (
        ("handover", "state://handover", Trust.SYSTEM, _account(kept)),
        ("handover-identifiers", "turn://named", Trust.USER, "\n".join(names)),
        ("handover-words", "turn://earlier", Trust.USER, "\n".join(words)),
        ("handover-answers", "answer://earlier", Trust.UNTRUSTED, "\n".join(answers)),
    )
    # The blocks name the turns that they stand for, and the handover itself by its hash.
    through, replaced = f"turns 1 to {kept.through}", (task.handover_ref,)
    return [
        drafts.text(name, Kind.TASK_STATE, source, trust, text, version=through, derived_from=replaced)
        for name, source, trust, text in parts
        if text
    ]


def _account(kept: Handover) -> str:
    """Fixed sections, each line with its turn; a section without lines says so."""
    calls = {"changed": kept.changed, "read": kept.checked}
    lines = [f"This sums up the conversation through turn {kept.through}."]
    for name, made in calls.items():
        lines.append(f"{name}:{'' if made else ' nothing'}")
        lines += [f"- turn {one.turn}: {one.tool}, {one.outcome}, {one.artifact or 'no result'}" for one in made]
    lines.append(f"refused:{'' if kept.decisions else ' nothing'}")
    for one in kept.decisions:
        by = f", by {one.by}" if one.by else ""
        lines.append(f"- turn {one.turn}: {one.about}, by rule {one.rule}{by}")
    return "\n".join(lines)


def _begin(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _BEGIN_CHARS else f"{line[:_BEGIN_CHARS]} [...]"


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
