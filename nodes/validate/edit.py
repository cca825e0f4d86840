"""An edit: a person changes the arguments of a call, and the same rules judge it with those (H03)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from nodes.validate.case import Ask, Case, Deny
from nodes.validate.repeats import calls_of
from nodes.validate.rules import earlier_call_unsettled, judge
from state.canonical import canonical_json
from state.checks.binding import arguments_digest, call_digest
from state.checks.quote import quoted, unquoted
from state.record import DecisionRecord
from state.verdict import Allowed, NeedsApproval


def as_edited(case: Case, arguments: dict[str, JsonValue]) -> Case:
    """The case with the arguments that a person wrote: another call, under a name of its own.

    What the person changed are the person's own words; what was left keeps its origin.
    """
    call, contract, request = case.call, case.contract, case.request
    return replace(
        case,
        arguments=arguments,
        digest=arguments_digest(call.tool, arguments),
        bound=call_digest(case.scope, request.parent, call.call_id, arguments, contract, case.policy.version),
        typed=frozenset(name for name in arguments if not _left(case, name, arguments)),
    )


def refused(pending: NeedsApproval, edited: Case) -> tuple[str, str | None]:
    """The rule that decides on an edited call, and why the edit is not taken; None where it is.

    Whoever edits a call approves what it becomes: reasons for asking that follow from the arguments are answered. That
    the same call was begun before is news, which nobody was asked about.
    """
    rule, finding = judge(edited)
    if isinstance(finding, Deny):
        return rule, f"rule {rule} denies the call as edited: {finding.reason}"
    begun = earlier_call_unsettled(edited)
    if isinstance(begun, Ask) and begun.reason not in pending.request.reason:
        return rule, f"as edited, {begun.reason}"
    return rule, None


def stored(case: Case, arguments: Mapping[str, JsonValue], put: Callable[[str], str]) -> dict[str, JsonValue]:
    """An edit's arguments as a verdict holds them: texts as places in a body, as a record outlives what is forgotten.

    What was left is stored as in the proposal, a user's words as a place in the turn; what the person typed is a body
    of its own, which `put` stores.
    """
    typed = {name: value for name, value in arguments.items() if not _left(case, name, arguments)}
    body = "\n".join(_texts(list(typed.values())))
    places = quoted(typed, {put(body): body} if body else {})
    return {name: places.get(name, case.call.arguments.get(name)) for name in arguments}


def edited_before(past: Sequence[DecisionRecord], turn: int, read: Callable[[str], str]) -> frozenset[str]:
    """The calls of this turn that a person changed and that were carried out so: their digests as proposed."""
    return frozenset(
        before
        for record in past
        if record.turn_index == turn
        for before, after in _edits(record, read)
        if before != after
    )


def _edits(record: DecisionRecord, read: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The digest of each edited call as it was proposed, and as it was done."""
    edited = {
        verdict.call_id for verdict in record.verdicts if isinstance(verdict, Allowed) and verdict.edited is not None
    }
    done = {seen.call_id: seen.arguments_digest for seen in record.observations if seen.call_id in edited}
    for call in calls_of(record, read) if done else ():
        if call.call_id in done:
            yield arguments_digest(call.tool, unquoted(call.arguments, read)), done[call.call_id]


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _texts(inner)
        case dict():
            for inner in value.values():
                yield from _texts(inner)


def _left(case: Case, name: str, arguments: Mapping[str, JsonValue]) -> bool:
    """Whether an argument is as it was proposed, to the byte: True is not 1."""
    return name in case.arguments and canonical_json(arguments[name]) == canonical_json(case.arguments[name])
