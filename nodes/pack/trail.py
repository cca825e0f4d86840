"""The run's own trail: what calls of this turn brought, and which were refused (C7)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from nodes.pack.drafts import Draft, Drafts
from state.checks.quote import unquoted
from state.context import Kind, Trust
from state.contract import RESERVED, ToolContract
from state.ports import Artifacts
from state.record import DecisionRecord
from state.run import Scope
from state.tools import Observation
from state.verdict import Accepted, Allowed, Denied, NeedsApproval, Verdict
from state.work import PROPOSAL, Act


class Trace(NamedTuple):
    """What one call or refusal of this turn left, as it is shown whole. `seen` is None where there is no result.

    `trusted` are the result's fields of the system of record, `identity` those of them that identify something;
    `subjects` the resources, by kind and id, that the call was about; `told` is what a model said of
    the result when it entered.
    """

    drafts: tuple[Draft, ...]
    lap: int
    turn: int
    seen: Observation | None = None
    trusted: dict[str, JsonValue] = {}
    identity: dict[str, JsonValue] = {}
    subjects: frozenset[tuple[str, str]] = frozenset()
    told: str = ""

    @property
    def outcome(self) -> str:
        """How the call ended; empty where there is no result."""
        return "" if self.seen is None else self.seen.outcome

    @property
    def chars(self) -> int:
        """The characters that keeping it takes, its fields beside its drafts not counted."""
        return sum(draft.chars for draft in self.drafts) + len(self.told)


def traces_of(
    drafts: Drafts,
    artifacts: Artifacts,
    contracts: Mapping[str, ToolContract],
    scope: Scope,
    records: Sequence[DecisionRecord],
) -> list[tuple[Trace, ...]]:
    """What each of these records left, counted."""
    refs = [seen.ref for record in records for seen in record.observations]
    # What a call was about stands in its proposal.
    about = [record.proposal_ref for record in records if record.observations and record.proposal_ref]
    told = [seen.summary.ref for record in records for seen in record.observations if seen.summary and seen.summary.ref]
    texts = artifacts.get_all(scope.tenant, [*refs, *about, *told])

    def read(ref: str) -> str:
        return texts[ref] if ref in texts else artifacts.get(scope.tenant, ref)

    made = [tuple(_left_by(drafts, contracts, record, texts, read)) for record in records]
    counted = iter(drafts.counted([draft for traces in made for trace in traces for draft in trace.drafts]))
    return [
        tuple(trace._replace(drafts=tuple(next(counted) for _ in trace.drafts)) for trace in traces) for traces in made
    ]


def _left_by(
    drafts: Drafts,
    contracts: Mapping[str, ToolContract],
    record: DecisionRecord,
    texts: Mapping[str, str],
    read: Callable[[str], str],
) -> Iterator[Trace]:
    """Refusals of a record, then its results, an edited call's with what a person made of it before it."""
    for verdict in record.verdicts:
        if line := _refusal(record, verdict):
            yield Trace((_told(drafts, verdict.call_id, line, record),), record.index, record.turn_index)
    calls = _calls(texts.get(record.proposal_ref or "")) if record.observations else {}
    edits = {one.call_id: one.edited for one in record.verdicts if isinstance(one, Allowed) and one.edited is not None}
    for seen in record.observations:
        given = edits.get(seen.call_id, calls.get(seen.call_id, {}))
        if seen.call_id in edits:
            yield Trace(tuple(_edit(drafts, seen, unquoted(given, read), record)), record.index, record.turn_index)
        contract = contracts.get(seen.tool)
        subjects = frozenset() if contract is None else _subjects(contract, given, read)
        trusted, foreign = _parted(seen, json.loads(texts[seen.ref]))
        shown = tuple(_observation(drafts, seen, trusted, foreign, record))
        identity = {} if contract is None else _identity(contract, trusted)
        told = texts[seen.summary.ref] if seen.summary and seen.summary.ref else ""
        yield Trace(shown, record.index, record.turn_index, seen, trusted, identity, subjects, told)


def _told(drafts: Drafts, call_id: str, line: str, record: DecisionRecord) -> Draft:
    item_id, source = f"{record.index}-{call_id}", f"verdict://{record.index}/{call_id}"
    return drafts.text(item_id, Kind.TASK_STATE, source, Trust.SYSTEM, line, at=record.at, turn=record.turn_index)


def _calls(proposal: str | None) -> dict[str, dict[str, JsonValue]]:
    acted = PROPOSAL.validate_json(proposal) if proposal else None
    return {call.call_id: call.arguments for call in acted.calls} if isinstance(acted, Act) else {}


def _subjects(
    contract: ToolContract, given: dict[str, JsonValue], read: Callable[[str], str]
) -> frozenset[tuple[str, str]]:
    about = {name: given[name] for name in contract.resources if name in given}
    return frozenset((contract.resources[name], str(value)) for name, value in unquoted(about, read).items())


def _identity(contract: ToolContract, trusted: dict[str, JsonValue]) -> dict[str, JsonValue]:
    named = {field.name for field in contract.output if field.identifies is not None}
    return {name: value for name, value in trusted.items() if name in named}


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


_Parted = tuple[dict[str, JsonValue], dict[str, JsonValue]]


def _parted(seen: Observation, body: dict[str, JsonValue]) -> _Parted:
    """The fields of the system of record, and apart from them those that others can write."""
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
    return trusted, foreign


def _observation(
    drafts: Drafts,
    seen: Observation,
    trusted: dict[str, JsonValue],
    foreign: dict[str, JsonValue],
    record: DecisionRecord,
) -> list[Draft]:
    """One or two blocks: what others can write stands apart."""
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
