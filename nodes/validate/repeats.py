"""Calls that do what another call of the turn did, or what a person did not want: to whom, when and how much (X3)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from nodes.validate.deed import Deed, deed, told_apart
from state.checks.binding import arguments_digest
from state.checks.kept import kept
from state.checks.quote import unquoted
from state.contract import Effect, ToolContract
from state.ports import Claim, LedgerRow
from state.record import DecisionRecord
from state.tools import Observation
from state.verdict import Allowed, Denied
from state.work import PROPOSAL, Act, ToolCall


class Deeds(NamedTuple):
    """What calls of this turn did, and what those were to do that a person rejected or changed."""

    done: frozenset[Deed] = frozenset()
    settled: frozenset[Deed] = frozenset()


class Elsewhere(NamedTuple):
    """An effect in the ledger of the thread. `deed` is None where the ledger cannot say what a
    person made of the call."""

    key: str
    tool: str
    deed: Deed | None


class Repeats(NamedTuple):
    """Whether a call does what another did: one of this turn that was `done` or stands before it in the proposal, one
    that a person `settled` otherwise, one of this thread that was done `elsewhere` or is `unsettled`: begun, and nobody
    knows whether it was done."""

    done: bool = False
    settled: bool = False
    elsewhere: bool = False
    unsettled: bool = False


def repeats(
    contract: ToolContract,
    arguments: Mapping[str, JsonValue],
    earlier: Iterable[ToolCall],
    contracts: Mapping[str, ToolContract],
    read: Callable[[str], str],
    before: Deeds,
    elsewhere: Iterable[Elsewhere] = (),
    unsettled: Iterable[Elsewhere] = (),
    bound: str = "",
) -> Repeats:
    """What a call repeats; a read repeats nothing here, and nothing repeats itself: `bound` is the call's own key."""
    if contract.effect is Effect.READ:
        return Repeats()
    own, whole = deed(contract, arguments), told_apart(contract, arguments)
    beside = [
        deed(terms, unquoted(one.arguments, read))
        for one in earlier
        if (terms := contracts.get(one.tool)) is not None and terms.effect is not Effect.READ
    ]

    def does_one_of(others: Iterable[Elsewhere]) -> bool:
        known = (one for one in others if one.key != bound)
        return any(one.tool == contract.name if one.deed is None else whole.same(one.deed) for one in known)

    return Repeats(
        done=own.among(before.done) or own.among(beside),
        settled=own.among(before.settled),
        elsewhere=does_one_of(elsewhere),
        unsettled=does_one_of(unsettled),
    )


def done_elsewhere(
    rows: Iterable[LedgerRow],
    past: Sequence[DecisionRecord],
    contracts: Mapping[str, ToolContract],
    read: Callable[[str], str],
) -> tuple[Elsewhere, ...]:
    """The effects in the thread's ledger that `past`, newest first, does not tell: done on another branch, or in a lap
    that was never filed as done. Where a branch has more records than `past`, those since the oldest of them."""
    told = {(record.parent, seen.call_id, seen.arguments_digest) for record in past for seen in record.observations}
    since = past[-1].at if past and past[-1].parent is not None else None
    return tuple(
        Elsewhere(row.claim.key, row.claim.tool, _deed_of(row.claim, contracts[row.claim.tool], read))
        for row in rows
        if row.claim.tool in contracts
        and (row.claim.parent, row.claim.call_id, row.claim.arguments_digest) not in told
        and (since is None or row.at > since)
    )


def unsettled(
    rows: Iterable[LedgerRow],
    past: Sequence[DecisionRecord],
    contracts: Mapping[str, ToolContract],
    read: Callable[[str], str],
) -> tuple[Elsewhere, ...]:
    """The effects of the thread of which nobody knows whether they were done, on whichever branch and in whichever
    turn. Of one that a person edited the records of `past` know the arguments."""
    open_rows = [row for row in rows if row.state != "done" and row.claim.tool in contracts]
    edited = {
        (record.parent, seen.call_id): told_apart(contracts[seen.tool], arguments)
        for record in (past if open_rows else ())
        for seen, arguments in effects_of(record, read)
        if seen.tool in contracts
    }
    return tuple(
        Elsewhere(
            row.claim.key,
            row.claim.tool,
            edited.get((row.claim.parent, row.claim.call_id)) or _deed_of(row.claim, contracts[row.claim.tool], read),
        )
        for row in open_rows
    )


def _deed_of(claim: Claim, contract: ToolContract, read: Callable[[str], str]) -> Deed | None:
    """What a claimed call does. One that a person edited was not done as it was proposed, and the ledger has no more
    of it than a digest."""
    for call in _calls(read(claim.proposal_ref)):
        arguments = unquoted(call.arguments, read)
        if call.call_id == claim.call_id and arguments_digest(call.tool, arguments) == claim.arguments_digest:
            return told_apart(contract, arguments)
    return None


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
    return () if record.proposal_ref is None else _calls(read(record.proposal_ref))


@kept(most=256)
def _calls(proposal: str) -> tuple[ToolCall, ...]:
    """The calls in a proposal's text. Each lap of a turn, and several questions in each, look at all laps before."""
    made = PROPOSAL.validate_json(proposal)
    return made.calls if isinstance(made, Act) else ()
