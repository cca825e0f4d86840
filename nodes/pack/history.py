"""The conversation before this turn: what the user said and what we answered, and what bounds the task (S12, C1)."""

from collections.abc import Container, Mapping
from typing import Any

from nodes.pack.drafts import Draft, Drafts
from state.checks.keeping import Keeping
from state.context import Kind, Trust
from state.contract import Effect
from state.handover import Handover
from state.ports import Artifacts, DecisionLog
from state.record import DecisionRecord
from state.run import Scope
from state.task import TaskState, TurnDone
from state.work import PROPOSAL, Status, spoken

_REMEMBERED = 256  # turns
_BEGIN_CHARS = 160  # of what was said in a turn that the handover stands for
CONSTRAINT = "constraint-"  # begins the item id of what bounds the task: never left out for want of room


class History:
    """The turns of an app's conversations. What a turn was does not change, so each is made once."""

    def __init__(self, artifacts: Artifacts, log: DecisionLog) -> None:
        self._artifacts, self._log = artifacts, log
        self._known: Keeping[tuple[str, str, TurnDone], tuple[Draft, ...]] = Keeping(_REMEMBERED)

    def drafts(self, drafts: Drafts, scope: Scope, task: TaskState, turns: int) -> list[Draft]:
        """The newest earlier turns, oldest first and counted: the user's words, and our own answer, which is not
        trusted."""
        shown = task.turns[-turns:] if turns else ()
        known = {done: self._known.get((scope.tenant, scope.thread, done)) for done in shown}
        new = [done for done in shown if known[done] is None]
        records = self._log.get_all(scope.tenant, scope.thread, [done.record for done in new]) if new else ()
        refs = [ref for record in records for ref in (record.turn_ref, record.proposal_ref) if ref]
        texts = self._artifacts.get_all(scope.tenant, refs) if refs else {}
        for done, record in zip(new, records, strict=True):
            known[done] = made = tuple(drafts.counted(_turn(drafts, done, record, texts)))
            self._known.keep((scope.tenant, scope.thread, done), made, sum(draft.chars for draft in made))
        return [draft for done in shown for draft in known[done] or ()]


def _turn(drafts: Drafts, done: TurnDone, record: DecisionRecord, texts: Mapping[str, str]) -> list[Draft]:
    """One turn. That a question of ours ended it is our code's knowledge, and shown apart: a plan lap holds no answer
    of ours, and without it what the user said next would stand there as if out of the blue."""
    name = f"turn-{done.index}"
    more: Any = {"at": record.at, "turn": done.index}
    words = texts[record.turn_ref]
    made = [drafts.text(name, Kind.TASK_STATE, f"turn://{done.index}", Trust.USER, words, **more)]
    # Without a status the turn was abandoned, and its last proposal may never have passed validate.
    final = record.proposal_ref if record.status else None
    said = spoken(PROPOSAL.validate_json(texts[final])) if final else None
    if said:
        source, told_by = f"answer://{done.index}", (done.record,)
        made.append(
            drafts.text(f"{name}-answer", Kind.TASK_STATE, source, Trust.UNTRUSTED, said, derived_from=told_by, **more)
        )
    if record.status is Status.NEEDS_INPUT:
        text = "This turn ended with a question to the user."
        made.append(
            drafts.text(f"{name}-asked-back", Kind.TASK_STATE, "state://asked-back", Trust.SYSTEM, text, **more)
        )
    return made


def outcomes(drafts: Drafts, task: TaskState, tools: Container[str]) -> list[Draft]:
    """What the turns that no handover covers yet changed, and what was refused in them, which neither question nor
    answer says (C8). `tools` are the domain's."""
    shown = {done.index for done in task.turns}
    changed = [
        f"- turn {done.turn}: {done.tool}, {done.outcome}, {done.artifact}"
        for done in task.actions
        if done.turn in shown and done.effect not in (None, Effect.READ)
    ]
    refused = [
        f"- turn {one.turn}: {_refused(one.about, tools)}, by rule {one.rule}{f', by {one.by}' if one.by else ''}"
        for one in task.rejections
        if one.turn in shown
    ]
    lines = [*(["changed:", *changed] if changed else []), *(["refused:", *refused] if refused else [])]
    if not lines:
        return []
    text = "\n".join(["This was done in the turns above.", *lines])
    return [drafts.text("outcomes", Kind.TASK_STATE, "state://outcomes", Trust.SYSTEM, text)]


def _refused(about: str, tools: Container[str]) -> str:
    """What was refused, by name: a call of a tool that the domain does not have is named by whoever made it up, and no
    line of ours repeats that."""
    return about if about in tools else "a proposal"


class Handovers:
    """What is kept of turns that stand no longer in the history (C5): rewritten when a turn goes out of sight, so each
    is made once. `tools` are the domain's."""

    def __init__(self, artifacts: Artifacts, tools: Container[str]) -> None:
        self._artifacts, self._tools = artifacts, tools
        self._known: Keeping[tuple[str, str], tuple[Draft, ...]] = Keeping(_REMEMBERED)

    def drafts(self, drafts: Drafts, scope: Scope, task: TaskState) -> list[Draft]:
        """What was done and decided as our code knows it; apart from it the beginning of what the user said, and of
        what we answered, which is not trusted. Counted."""
        if task.handover_ref is None:
            return []
        made = self._known.get((scope.tenant, task.handover_ref))
        if made is None:
            made = tuple(drafts.counted(self._made(drafts, scope, task.handover_ref)))
            self._known.keep((scope.tenant, task.handover_ref), made, sum(draft.chars for draft in made))
        return [drafts.now_shown(draft) for draft in made]

    def _made(self, drafts: Drafts, scope: Scope, ref: str) -> list[Draft]:
        kept = Handover.model_validate_json(self._artifacts.get(scope.tenant, ref))
        refs = [said.ref for said in (*kept.intent, *kept.findings)] + [one.ref for one in kept.identifiers]
        texts = self._artifacts.get_all(scope.tenant, refs)
        names = [f"turn {one.turn}: {texts[one.ref][one.start : one.end]}" for one in kept.identifiers]
        words = [f"turn {said.turn}: {_begin(texts[said.ref])}" for said in kept.intent]
        answers = [
            f"turn {said.turn}: {_begin(text)}"
            for said in kept.findings
            if (text := spoken(PROPOSAL.validate_json(texts[said.ref])))
        ]
        parts = (
            ("handover", "state://handover", Trust.SYSTEM, _account(kept, self._tools)),
            ("handover-identifiers", "turn://named", Trust.USER, "\n".join(names)),
            ("handover-words", "turn://earlier", Trust.USER, "\n".join(words)),
            ("handover-answers", "answer://earlier", Trust.UNTRUSTED, "\n".join(answers)),
        )
        # The blocks name the turns that they stand for, and the handover itself by its hash.
        through = f"turns 1 to {kept.through}"
        return [
            drafts.text(name, Kind.TASK_STATE, source, trust, text, version=through, derived_from=(ref,))
            for name, source, trust, text in parts
            if text
        ]


def _account(kept: Handover, tools: Container[str]) -> str:
    """Fixed sections, each line with its turn; a section without lines says so."""
    calls = {"changed": kept.changed, "read": kept.checked}
    lines = [f"This sums up the conversation through turn {kept.through}."]
    for name, made in calls.items():
        lines.append(f"{name}:{'' if made else ' nothing'}")
        lines += [f"- turn {one.turn}: {one.tool}, {one.outcome}, {one.artifact or 'no result'}" for one in made]
    lines.append(f"refused:{'' if kept.decisions else ' nothing'}")
    for one in kept.decisions:
        by = f", by {one.by}" if one.by else ""
        lines.append(f"- turn {one.turn}: {_refused(one.about, tools)}, by rule {one.rule}{by}")
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
