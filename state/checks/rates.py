"""The bounds that a call counts against: rates of its contract, with the values of the policy in force (X8)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import JsonValue

from state.canonical import canonical_json, is_number
from state.contract import Rate, ToolContract
from state.policy import Policy
from state.ports import Bound
from state.run import RequestContext, Scope

_MOST = 2**53  # of a number that the store's sums hold


class RateMissing(RuntimeError):
    """The policy record has no number for a rate that a contract names."""


def bounds(
    contract: ToolContract,
    arguments: Mapping[str, JsonValue],
    scope: Scope,
    request: RequestContext,
    policy: Policy,
    now: datetime,
) -> tuple[Bound, ...]:
    """One bound per rate of the contract, its window up to now: a call may have waited for long. Raises RateMissing:
    without its number a rate would bound nothing.

    The name of a bound holds all that tells it from another, its window too: what is older than a window is not kept,
    so two windows that shared a name would lose each other's counts.
    """
    made = []
    for rate in contract.rates:
        most = policy.values.get(rate.policy_key)
        if not is_number(most):
            raise RateMissing(f"the policy record has no number {rate.policy_key}")
        made.append(
            Bound(
                name=_name(contract.name, rate, _over(rate, scope, request)),
                policy_key=rate.policy_key,
                most=most,
                amount=_amount(rate, contract, arguments, most),
                since=None if rate.window_s is None else now - timedelta(seconds=rate.window_s),
            )
        )
    return tuple(made)


def _name(tool: str, rate: Rate, over: list[JsonValue]) -> str:
    """JSON, so that no name of a tenant, a person or a thread reads as two others."""
    counted: list[JsonValue] = [rate.counts] if rate.parameter is None else [rate.counts, rate.parameter]
    return canonical_json([rate.per, *counted, rate.window_s, tool, rate.policy_key, *over]).decode()


def _amount(rate: Rate, contract: ToolContract, arguments: Mapping[str, JsonValue], most: float) -> float:
    match rate.counts:
        case "calls":
            return 1
        case "cost":
            return contract.cost
        case "amount":
            value = contract.with_defaults(arguments).get(rate.parameter or "")
            if not is_number(value) or not abs(value) <= _MOST:
                return max(2.0 * most, 1.0)  # more than there is: what is no number, NaN too, stays below nothing
            # By its size: a sum that may fall would let what is taken twice be given back once.
            return float(abs(value))


def _over(rate: Rate, scope: Scope, request: RequestContext) -> list[JsonValue]:
    """What is counted together. The owner of the thread counts as the actor: an approver acts for him."""
    match rate.per:
        case "decision":
            return [scope.tenant, scope.thread, request.request_id]
        case "turn":
            return [scope.tenant, scope.thread, request.turn_index]
        case "actor":
            return [scope.tenant, scope.principal.name]
        case "tenant":
            return [scope.tenant]
