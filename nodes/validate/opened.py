"""Which effects this turn opened: read from the record chain, since a channel can be written from outside (X3)."""

from collections import Counter
from collections.abc import Callable, Sequence

from state.record import DecisionRecord
from state.tools import Effect
from state.work import PROPOSAL, LapOutcome, Plan


def opened_effects(past: Sequence[DecisionRecord], read: Callable[[str], str]) -> Counter[str]:
    """The tools that a plan lap of the turn at the head opened, each as often as no later lap has used it.

    `past` is newest first. A record that ended a turn ends the search: a new turn begins with nothing open.
    """
    used: Counter[str] = Counter()
    for record in past:
        if record.status is not None or record.outcome is LapOutcome.ABANDONED:
            break
        if record.outcome is LapOutcome.PLANNED and record.proposal_ref is not None:
            plan = PROPOSAL.validate_json(read(record.proposal_ref))
            return Counter(plan.steps) - used if isinstance(plan, Plan) else Counter()
        used.update(seen.tool for seen in record.observations if seen.effect is not Effect.READ)
    return Counter()
