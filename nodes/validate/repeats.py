"""Calls that do what another call of the turn did, or what a person did not want: to whom, when and how much (X3)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from state.canonical import digest
from state.checks.binding import arguments_digest
from state.checks.meaning import norm
from state.checks.quote import unquoted
from state.contract import Effect, ToolContract
from state.record import DecisionRecord
from state.tools import Observation
from state.verdict import Allowed, Denied
from state.work import PROPOSAL, Act, ToolCall

Deed = tuple[str, str]
"""A tool and the digest of its control arguments."""


class Deeds(NamedTuple):
    """What calls of this turn did, and what those were to do that a person rejected or changed."""

    done: frozenset[Deed] = frozenset()
    settled: frozenset[Deed] = frozenset()


class Repeats(NamedTuple):
    """Whether a call does what another did: one of this turn that was `done` or stands before it in the proposal, one
    that a person `settled` otherwise."""

    done: bool = False
    settled: bool = False


def deed(contract: ToolContract, arguments: Mapping[str, JsonValue]) -> Deed:
    """What a call does, to whom, when and how much: two that differ in their texts alone, or in how a value is spelt,
    do the same."""
    control = {name: _meant(value) for name, value in arguments.items() if contract.role(name).control}
    return contract.name, digest(control)


def repeats(
    contract: ToolContract,
    arguments: Mapping[str, JsonValue],
    earlier: Iterable[ToolCall],
    read: Callable[[str], str],
    before: Deeds,
) -> Repeats:
    """What a call repeats; a read repeats nothing here."""
    if contract.effect is Effect.READ:
        return Repeats()
    own = deed(contract, arguments)
    beside = {deed(contract, unquoted(one.arguments, read)) for one in earlier if one.tool == contract.name}
    return Repeats(done=own in before.done | beside, settled=own in before.settled)


def effects_of(
    record: DecisionRecord, read: Callable[[str], str]
) -> Iterator[tuple[Observation, dict[str, JsonValue]]]:
    """The effects of a lap with their arguments, as they were done."""
    done = {seen.call_id: seen for seen in record.observations if seen.effect is not Effect.READ}
    edits = {one.call_id: one.edited for one in record.verdicts if isinstance(one, Allowed) and one.edited is not None}
    for call in calls_of(record, read) if done else ():
        if call.call_id in done:
            yield done[call.call_id], unquoted(edits.get(call.call_id, call.arguments), read)


def settled_calls(
    record: DecisionRecord, read: Callable[[str], str]
) -> Iterator[tuple[ToolCall, dict[str, JsonValue]]]:
    """The calls of a lap that a person rejected or changed, with the arguments that the person did not want."""
    rejected = {one.call_id for one in record.verdicts if isinstance(one, Denied) and one.approval is not None}
    edited = {one.call_id: one.edited for one in record.verdicts if isinstance(one, Allowed) and one.edited is not None}
    for call in calls_of(record, read) if rejected or edited else ():
        given = unquoted(call.arguments, read)
        instead = unquoted(edited[call.call_id], read) if call.call_id in edited else given
        changed = arguments_digest(call.tool, instead) != arguments_digest(call.tool, given)
        if changed or call.call_id in rejected:
            yield call, given


def calls_of(record: DecisionRecord, read: Callable[[str], str]) -> tuple[ToolCall, ...]:
    """The calls that a lap proposed, their arguments as they are stored."""
    proposal = None if record.proposal_ref is None else PROPOSAL.validate_json(read(record.proposal_ref))
    return proposal.calls if isinstance(proposal, Act) else ()


def _meant(value: JsonValue) -> JsonValue:
    match value:
        case bool() | None:
            return value
        case list():
            return [_meant(inner) for inner in value]
        case dict():
            return {name: _meant(inner) for name, inner in value.items()}
        case _:
            return norm(value)
