"""The default without one of its parts: what each is worth on the long runs (E3). They exist here only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodes.pack.compact import FULL_THEN_LESS, INDEX_PART, Compacted, Forms, compacted
from nodes.pack.drafts import Drafts
from nodes.pack.strategy import Strategy, Utility
from nodes.pack.trail import Trace
from state.context import MaskReason
from state.policy import Policy


@dataclass(frozen=True)
class Without(Utility):
    """The default with fewer forms of an older result, or another part for the index."""

    forms: Forms = FULL_THEN_LESS
    index_part: float = INDEX_PART

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """As by default, but for the part."""
        share_tokens = int(budget_tokens * policy.observation_share)
        return compacted(traces, make, share_tokens, self.forms, self.index_part)


def _but(left: MaskReason) -> Forms:
    return tuple(form for form in FULL_THEN_LESS if form[0] is not left)


ABLATIONS: Mapping[str, Strategy] = {
    "without index": Without(index_part=0),
    "without summaries": Without(forms=_but(MaskReason.SUMMARISED)),
    "without names": Without(forms=_but(MaskReason.OVER_SHARE)),
}
