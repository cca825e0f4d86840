"""Which rates a call would exceed, beside what was taken before (X8)."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from state.checks.rates import bounds
from state.contract import ToolContract
from state.policy import Policy
from state.ports import Quotas
from state.run import RequestContext, Scope


def exceeded(
    quotas: Quotas,
    contract: ToolContract,
    calls: Sequence[Mapping[str, JsonValue]],
    scope: Scope,
    request: RequestContext,
    policy: Policy,
    now: datetime,
) -> tuple[str, ...]:
    """The policy values that a call would exceed: the last of `calls`, which are the arguments of this tool's calls in
    the proposal up to it."""
    *before, last = (bounds(contract, arguments, scope, request, policy, now) for arguments in calls)
    return tuple(
        one.policy_key
        for place, one in enumerate(last)
        if quotas.used(one) + sum(earlier[place].amount for earlier in before) + one.amount > one.most
    )
