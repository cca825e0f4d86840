"""Model calls against the policy's limits, counted in the store: taken before a call, settled after it (X8)."""

from collections.abc import Sequence

from state.policy import Policy, effective
from state.ports import Bound, Quotas
from state.run import RequestContext, Scope


class PolicyMeter:
    """The port Meter on quotas: runs of all processes share what a tenant has left."""

    def __init__(self, quotas: Quotas, policies: Sequence[Policy]) -> None:
        self._quotas, self._policies = quotas, policies

    def admitted(self, call: str, scope: Scope, request: RequestContext, tokens: int, cost: float | None) -> str | None:
        """Take what a call may use at most. Gives the policy key of the limit that it would pass."""
        bounds = self._bounds(scope, request, tokens, cost)
        passed = self._quotas.take(call, bounds, request.now) if bounds else None
        return None if passed is None else passed.policy_key

    def settled(self, call: str, scope: Scope, request: RequestContext, tokens: int, cost: float | None) -> None:
        """Give back so much of it, or take as much more as it used after all: a second entry, since the first one stays
        what was taken."""
        back = [
            bound.model_copy(update={"amount": -bound.amount})
            for bound in self._bounds(scope, request, tokens, cost)
            if bound.amount
        ]
        if back:
            self._quotas.enter(f"{call}/back", back, request.now)

    def _bounds(self, scope: Scope, request: RequestContext, tokens: int, cost: float | None) -> tuple[Bound, ...]:
        return effective(self._policies, request.now).model_limits.bounds(scope, request, tokens, cost)
