"""An edit: a person changes the arguments of a call, and the same rules judge it with those (H03)."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from nodes.validate.case import Ask, Case, Deny
from nodes.validate.lap import left
from nodes.validate.origins import effect_repeated, settled_by_person
from nodes.validate.repeats import calls_of
from nodes.validate.rules import done_on_another_branch, earlier_call_unsettled, judge
from state.checks.binding import arguments_digest
from state.checks.quote import quoted, unquoted
from state.record import DecisionRecord
from state.verdict import Allowed, NeedsApproval

_NEWS = (done_on_another_branch, earlier_call_unsettled, effect_repeated, settled_by_person)


def refused(pending: NeedsApproval, edited: Case) -> tuple[str, str | None]:
    """The rule that decides on an edited call, and why the edit is not taken; None where it is.

    Whoever edits a call approves what it becomes: reasons for asking that follow from the arguments are answered. What
    else was done or settled is news, which nobody was asked about.
    """
    rule, finding = judge(edited)
    if isinstance(finding, Deny):
        return rule, f"rule {rule} denies the call as edited: {finding.reason}"
    since = news(edited, pending.request.reason)
    return (rule, None) if since is None else since


def news(edited: Case, asked: str) -> tuple[str, str] | None:
    """What an edited call has in common with another, and its request did not say, with the rule that finds it."""
    found = ((rule.__name__, rule(edited)) for rule in _NEWS)
    since = ((rule, one.reason) for rule, one in found if isinstance(one, Ask) and one.reason not in asked)
    return next(((rule, f"as edited, {reason}") for rule, reason in since), None)


def stored(case: Case, arguments: Mapping[str, JsonValue], put: Callable[[str], str]) -> dict[str, JsonValue]:
    """An edit's arguments as a verdict holds them: texts as places in a body, as a record outlives what is forgotten.

    What was left is stored as in the proposal, a user's words as a place in the turn; what the person typed is a body
    of its own, which `put` stores.
    """
    typed = {name: value for name, value in arguments.items() if not left(case, name, arguments)}
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
