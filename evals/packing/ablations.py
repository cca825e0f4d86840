"""The default without one of its parts: what each is worth on the long runs (E3). They exist here only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodes.pack.compact import FULL_THEN_LESS, INDEX_PART, WHOLE_ONLY, Compacted, Forms, compacted
from nodes.pack.drafts import Drafts
from nodes.pack.strategy import Strategy, Utility
from nodes.pack.trail import Trace
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


ABLATIONS: Mapping[str, Strategy] = {
    "without index": Without(index_part=0),
    "without summaries": Without(forms=WHOLE_ONLY),
}
