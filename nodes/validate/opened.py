"""Which effects this turn opened: read from the record chain and the ledger, since a channel can be written (X3)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from state.contract import Effect
from state.ports import LedgerRow
from state.record import DecisionRecord, named
from state.work import PROPOSAL, LapOutcome, Plan


@dataclass(frozen=True)
class Opened:
    """What the plan lap `by` opened: `here` counts what this branch of the thread has not used; `free` has, by tool,
    the numbers of the steps that no branch has spent.

    They differ where an effect was done on another branch, forked from a record behind the plan. `unsettled` names
    calls by tool, arguments' digest and key of which nobody knows whether they were done; `untold` those that were done
    in a lap that was cut off or edited: nobody was told so.
    """

    by: str | None = None
    here: Counter[str] = field(default_factory=Counter)
    free: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    unsettled: frozenset[tuple[str, str, str]] = frozenset()
    untold: frozenset[tuple[str, str, str]] = frozenset()


def opened_effects(
    past: Sequence[DecisionRecord], head: str | None, turn: int, rows: Sequence[LedgerRow], read: Callable[[str], str]
) -> Opened:
    """The effects that a plan lap of this turn opened.

    `past` is newest first, from `head` on: a record's name is what its child calls it, whichever release filed it.
    `rows` are the thread's effects. A record of another turn, or one that ended a turn, ends the search: a new turn
    begins with nothing open, also where its message came while the turn before was at work.
    """
    ended = {record.turn_index for record in past if record.status is not None}
    cut_off = {
        record.parent
        for record in past
        if record.outcome is LapOutcome.ABANDONED or (record.turn_index != turn and record.turn_index not in ended)
    }
    unsettled = _named(row for row in rows if row.state != "done")
    untold = _named(row for row in rows if row.state == "done" and row.claim.parent in cut_off)
    used: Counter[str] = Counter()
    for by, record in named(head, past):
        if record.turn_index != turn or record.status is not None or record.outcome is LapOutcome.ABANDONED:
            break
        if record.outcome is LapOutcome.PLANNED and record.proposal_ref is not None:
            plan = PROPOSAL.validate_json(read(record.proposal_ref))
            if not isinstance(plan, Plan):
                break
            return Opened(by, Counter(plan.steps) - used, _free(plan, by, rows), unsettled, untold)
        used.update(seen.tool for seen in record.observations if seen.effect is not Effect.READ)
    return Opened(unsettled=unsettled, untold=untold)


def _free(plan: Plan, by: str, rows: Sequence[LedgerRow]) -> dict[str, tuple[int, ...]]:
    """The steps that are left on all branches. An effect without a slot was one more, and takes the last."""
    spent = [(row.claim.tool, row.claim.slot) for row in rows if row.claim.opened_by == by]
    free = {}
    for tool, steps in Counter(plan.steps).items():
        slots = [slot for slot in range(steps) if (tool, slot) not in spent]
        free[tool] = tuple(slots[: max(0, len(slots) - spent.count((tool, None)))])
    return free


def _named(rows: Iterable[LedgerRow]) -> frozenset[tuple[str, str, str]]:
    return frozenset((row.claim.tool, row.claim.arguments_digest, row.claim.key) for row in rows)
