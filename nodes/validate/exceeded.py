"""Which rates a call would exceed, beside what was taken before (X8)."""

from collections.abc import Sequence
from datetime import datetime

from state.checks.rates import bounds
from state.contract import ToolContract
from state.policy import Policy
from state.ports import Quotas
from state.run import RequestContext, Scope
from state.work import ToolCall


def exceeded(
    quotas: Quotas,
    contract: ToolContract,
    earlier: Sequence[ToolCall],
    scope: Scope,
    request: RequestContext,
    policy: Policy,
    now: datetime,
) -> tuple[str, ...]:
    """The policy values that a call would exceed after these calls before it in the same proposal."""
    times = 1 + sum(before.tool == contract.name for before in earlier)
    found = bounds(contract, scope, request, policy, now)
    return tuple(one.policy_key for one in found if quotas.used(one) + times * one.amount > one.most)
