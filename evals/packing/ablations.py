"""The default without one of its parts: what each is worth on the long runs (E3). They exist here only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodes.pack.compact import FULL_THEN_LESS, INDEX_PART, RULES, WHOLE_ONLY, Compacted, Forms, Rules, compacted
from nodes.pack.drafts import Drafts
from nodes.pack.strategy import Strategy, Utility
from nodes.pack.trail import Trace
from state.policy import Policy


@dataclass(frozen=True)
class Without(Utility):
    """The default with fewer forms of an older result, another part for the index, or fewer rules."""

    forms: Forms = FULL_THEN_LESS
    index_part: float = INDEX_PART
    rules: Rules = RULES

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """As by default, but for the part."""
        share_tokens = int(budget_tokens * policy.observation_share)
        return compacted(traces, make, share_tokens, self.forms, self.index_part, self.rules)


ABLATIONS: Mapping[str, Strategy] = {
    "without index": Without(index_part=0),
    "without masking": Without(rules=tuple(rule for rule in RULES if rule[1] is None)),
    "without summaries": Without(forms=WHOLE_ONLY),
}
