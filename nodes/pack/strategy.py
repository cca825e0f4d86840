"""Strategies of packing (B3): how a request's budget is divided, and how this turn's older results stand in it.

Under each strategy the rules of compaction hold, candidates are chosen by utility, and what is required is whole; they
differ in what the rest may take. The policy record names one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nodes.pack.compact import WHOLE_ONLY, Compacted, compacted
from nodes.pack.drafts import Drafts
from nodes.pack.trail import Trace
from state.policy import Policy


class Strategy(Protocol):
    """One way to divide a budget. Every figure is in tokens."""

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """This turn's calls and refusals, oldest first, as the request shows them."""
        ...

    def earlier_tokens(self, budget_tokens: int) -> int:
        """What earlier turns may take at most; the oldest go first."""
        ...

    def retrieved_tokens(self, budget_tokens: int, trail_tokens: int) -> int:
        """What documents and memories may take at most, beside a trail of that size."""
        ...


class Utility:
    """The default (C6): the run's own trail is held to a share, and candidates are chosen into all that remains."""

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """Newest first: whole, else a summary, else a row of the index."""
        return compacted(traces, make, int(budget_tokens * policy.observation_share))

    def earlier_tokens(self, budget_tokens: int) -> int:
        """As much as there is."""
        return budget_tokens

    def retrieved_tokens(self, budget_tokens: int, trail_tokens: int) -> int:
        """As much as there is."""
        return budget_tokens


@dataclass(frozen=True)
class CategoryShares(Utility):
    """Each category keeps to its share: results and what was retrieved are observations, earlier turns reasoning. The
    shares of assignment and state are theirs whatever they take, and the last part is kept free."""

    observations: float = 0.45
    reasoning: float = 0.20

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """As by default, within the share of observations."""
        return compacted(traces, make, int(budget_tokens * self.observations))

    def earlier_tokens(self, budget_tokens: int) -> int:
        """The share of reasoning."""
        return int(budget_tokens * self.reasoning)

    def retrieved_tokens(self, budget_tokens: int, trail_tokens: int) -> int:
        """What this turn's results leave of the share of observations."""
        return max(0, int(budget_tokens * self.observations) - trail_tokens)


@dataclass(frozen=True)
class FixedReservations(Utility):
    """Each component has its own tokens, whatever the others leave; in a budget below their sum each has less."""

    earlier: int = 2_000
    results: int = 4_000
    retrieved: int = 2_500
    required: int = 3_500  # instructions, tools, state: not bounded here, and what the others may not have

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """As by default, within its tokens."""
        return compacted(traces, make, self._of(self.results, budget_tokens))

    def earlier_tokens(self, budget_tokens: int) -> int:
        """Its tokens."""
        return self._of(self.earlier, budget_tokens)

    def retrieved_tokens(self, budget_tokens: int, trail_tokens: int) -> int:
        """Its tokens."""
        return self._of(self.retrieved, budget_tokens)

    def _of(self, part: int, budget_tokens: int) -> int:
        return min(part, budget_tokens * part // (self.earlier + self.results + self.retrieved + self.required))


class SlidingWindow(Utility):
    """The newest results whole, as many as the share holds; what is older is gone from the request, without a word."""

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """Whole or not at all."""
        return compacted(traces, make, int(budget_tokens * policy.observation_share), WHOLE_ONLY, index_part=0)


class ExternalMemory(Utility):
    """The newest lap's results whole; all others lie outside and are read again where they are needed, by the names
    that an index lists (`read_result`)."""

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """Names alone, as many as the share holds."""
        return compacted(traces, make, int(budget_tokens * policy.observation_share), (), index_part=1)


STRATEGIES: Mapping[str, Strategy] = {
    "utility": Utility(),
    "category_shares": CategoryShares(),
    "fixed_reservations": FixedReservations(),
    "sliding_window": SlidingWindow(),
    "external_memory": ExternalMemory(),
}


class UnknownStrategy(ValueError):
    """A policy names a strategy that there is not."""


def strategy_of(policy: Policy, strategies: Mapping[str, Strategy]) -> Strategy:
    """The strategy that a policy names. Raises UnknownStrategy."""
    if policy.strategy not in strategies:
        allowed = ", ".join(strategies)
        raise UnknownStrategy(f"policy {policy.version}: got the strategy {policy.strategy!r:.80}; allowed: {allowed}")
    return strategies[policy.strategy]
