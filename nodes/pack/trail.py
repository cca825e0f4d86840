"""The run's own trail: what was said in earlier turns, what calls of this turn brought or were refused (S12)."""

import json
from collections.abc import Callable

from pydantic import JsonValue

from nodes.pack.drafts import Draft, Drafts
from state.checks.quote import unquoted
from state.context import Kind, Trust
from state.contract import RESERVED
from state.ports import Artifacts, DecisionLog
from state.record import DecisionRecord
from state.run import RequestContext, Scope
from state.task import TaskState
from state.tools import Observation
from state.verdict import Accepted, Allowed, Denied, NeedsApproval, Verdict
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


def this_turn(
    drafts: Drafts, artifacts: Artifacts, log: DecisionLog, scope: Scope, request: RequestContext, task: TaskState
) -> list[Draft]:
    """Verdicts and observations of this turn from the record chain, oldest first: every call has one result (C7)."""
    if not task.laps_in_turn:
        return []
    records = log.chain(scope.tenant, scope.thread, request.parent, limit=task.laps_in_turn)
    made: list[Draft] = []
    for record in reversed(records):
        if record.turn_index != request.turn_index:
            continue
        for verdict in record.verdicts:
            line = _refusal(record, verdict)
            if line:
                item_id, source = f"{record.index}-{verdict.call_id}", f"verdict://{record.index}/{verdict.call_id}"
                made.append(
                    drafts.text(
                        item_id, Kind.TASK_STATE, source, Trust.SYSTEM, line, at=record.at, turn=record.turn_index
                    )
                )
        edits = {
            one.call_id: one.edited for one in record.verdicts if isinstance(one, Allowed) and one.edited is not None
        }
        for seen in record.observations:
            if seen.call_id in edits:
                arguments = unquoted(edits[seen.call_id], lambda ref: artifacts.get(scope.tenant, ref))
                made += _edit(drafts, seen, arguments, record)
            body = json.loads(artifacts.get(scope.tenant, seen.ref))
            made += _observation(drafts, seen, body, record)
    return made


def _refusal(record: DecisionRecord, verdict: Verdict) -> str:
    """Rule and template of a refusal. What it echoes stays in the record: foreign values need no second showing."""
    match verdict:
        case Denied(approval=None):
            return f"call {verdict.call_id} was denied by rule {verdict.rule}: {verdict.reason}"
        case Denied():
            return f"call {verdict.call_id} was rejected by a person and not done"
        case Allowed() | Accepted() | NeedsApproval():
            return ""


_BECAME = {"error": "tried without success", "unknown": "begun, and whether it was done is not known"}


def _edit(drafts: Drafts, seen: Observation, arguments: dict[str, JsonValue], record: DecisionRecord) -> list[Draft]:
    """That a person changed a call and what became of it, so that it is not proposed again as it was (H03). The
    arguments stand apart: what the person left as it was may come from anywhere."""
    name, source = f"{record.index}-{seen.call_id}-edit", f"edit://{record.index}/{seen.call_id}"
    line = (
        f"call {seen.call_id} was edited by a person; as edited it was {_BECAME.get(seen.outcome, 'done')}; as it was "
        "proposed it would be refused"
    )
    given = json.dumps({"tool": seen.tool, "arguments": arguments}, ensure_ascii=False)
    return [
        drafts.text(name, Kind.TASK_STATE, source, Trust.SYSTEM, line, at=record.at, turn=record.turn_index),
        drafts.text(
            f"{name}-arguments",
            Kind.TASK_STATE,
            source,
            Trust.UNTRUSTED,
            given,
            at=record.at,
            turn=record.turn_index,
        ),
    ]


def _observation(drafts: Drafts, seen: Observation, body: dict[str, JsonValue], record: DecisionRecord) -> list[Draft]:
    """One or two blocks: fields of the system of record, and apart from them the fields others can write."""
    own = (*seen.trusted_fields, *RESERVED)
    trusted = {name: value for name, value in body.items() if name in own}
    foreign = {name: value for name, value in body.items() if name not in own and name != "rows"}
    rows = body.get("rows")
    if isinstance(rows, list):
        trusted["rows"] = [_fields(row, lambda name: name in own) for row in rows]
        others = [_fields(row, lambda name: name not in own) for row in rows]
        if any(others):
            foreign["rows"] = [*others]
    if seen.outcome != "ok":
        trusted["outcome"] = seen.outcome
    if seen.truncated:
        trusted |= {"truncated": True, "total_bytes": seen.total_bytes}
    made = [_block(drafts, f"{record.index}-{seen.call_id}", Trust.SYSTEM, trusted, seen, record)]
    if foreign:
        foreign = {"tool": seen.tool, **foreign}
        made.append(_block(drafts, f"{record.index}-{seen.call_id}-text", Trust.UNTRUSTED, foreign, seen, record))
    return made


def _fields(row: JsonValue, wanted: Callable[[str], bool]) -> JsonValue:
    return {name: value for name, value in row.items() if wanted(name)} if isinstance(row, dict) else {}


def _block(
    drafts: Drafts,
    item_id: str,
    trust: Trust,
    body: dict[str, JsonValue],
    seen: Observation,
    record: DecisionRecord,
) -> Draft:
    text = json.dumps(body, ensure_ascii=False)
    return drafts.text(
        item_id, Kind.TOOL, seen.artifact_ref, trust, text, at=seen.at, turn=record.turn_index, derived_from=(seen.ref,)
    )
