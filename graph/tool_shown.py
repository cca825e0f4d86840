"""One contract in plain words, with what bounds it under the policy in force, and who answers for it."""

from graph.tool_overlap import parameters_of
from state.contract import Effect, Rate, ToolContract
from state.domain import Domain
from state.policy import Policy
from state.value import Value

_ELSE = {"approve": "a person is asked", "deny": "denied"}


class BoundShown(Value):
    """A limit or a rate with the policy record's value; `value` is None where the record in force has none."""

    rule: str
    policy_key: str
    value: int | float | str | bool | None


class ToolShown(Value):
    """One contract: what bounds it today, who answers for it, and the decisions that offer it."""

    contract: ToolContract
    limits: tuple[BoundShown, ...]
    rates: tuple[BoundShown, ...]
    asks: bool
    approver_roles: tuple[str, ...]
    self_approval: bool
    decisions: tuple[str, ...]


def shown(contract: ToolContract, policy: Policy, domain: Domain) -> ToolShown:
    """A contract with the values of a policy."""
    approvers, limits, values = contract.approvers, contract.limits, policy.values
    return ToolShown(
        contract=contract,
        limits=tuple(
            BoundShown(
                rule=f"{limit.parameter} at most {limit.policy_key}, else {_ELSE[limit.over]}",
                policy_key=limit.policy_key,
                value=values.get(limit.policy_key),
            )
            for limit in limits
        ),
        rates=tuple(
            BoundShown(rule=_rate(rate), policy_key=rate.policy_key, value=values.get(rate.policy_key))
            for rate in contract.rates
        ),
        asks=contract.confirm or contract.effect is Effect.EGRESS,
        approver_roles=policy.approver_roles if approvers.roles is None else approvers.roles,
        self_approval=policy.self_approval if approvers.self_approval is None else approvers.self_approval,
        decisions=tuple(spec.name for spec in domain.table.specs if contract.name in spec.tools),
    )


def _rate(rate: Rate) -> str:
    within = "" if rate.window_s is None else f" in {rate.window_s:,} s"
    counted = rate.counts if rate.parameter is None else f"of {rate.parameter} in all"
    return f"{counted} per {rate.per}{within}"


def terms_of(told: ToolShown) -> list[tuple[str, list[str]]]:
    """The terms of a contract in plain words: a label of at most nine letters, and its lines. What is not agreed on
    stays out, but for whom it concerns."""
    contract = told.contract
    return [
        (label, lines)
        for label, lines in (
            ("effect", [_effect(contract)]),
            ("roles", [", ".join(contract.roles) or "nobody"]),
            ("offered", [", ".join(told.decisions) or "in no decision"]),
            ("takes", [_takes(contract)]),
            ("requires", [", ".join(contract.requires)] if contract.requires else []),
            ("limits", [f"{one.rule} ({one.policy_key} is {_value(one)})" for one in told.limits]),
            ("rates", [f"{_value(one)} {one.rule} ({one.policy_key})" for one in told.rates]),
            ("asks", _asks(told)),
            ("brings", _brings(contract)),
            ("fails", _fails(contract)),
            ("bounds", [_bounds(contract)]),
            ("secrets", [", ".join(contract.secrets)] if contract.secrets else []),
        )
        if lines
    ]


def _takes(contract: ToolContract) -> str:
    kinds = {name: f" ({kind})" for name, kind in contract.resources.items()}
    return ", ".join(f"{name}{kinds.get(name, '')}" for name in parameters_of(contract)) or "nothing"


def _value(bound: BoundShown) -> str:
    return "not set" if bound.value is None else str(bound.value)


def _effect(contract: ToolContract) -> str:
    told = [contract.effect.value]
    if contract.effect is not Effect.READ:
        told.append("reversible" if contract.reversible else "not reversible")
        told.append("can be read back" if contract.reads_back else "cannot be read back")
    told.append("idempotent" if contract.idempotent else "not idempotent")
    return ", ".join(told)


def _asks(told: ToolShown) -> list[str]:
    if told.contract.effect is Effect.READ and not told.asks:
        return []
    who = f"{', '.join(told.approver_roles)}; {'also' if told.self_approval else 'never'} for an own call"
    may = ", ".join(told.contract.approvers.decisions)
    return [f"{'always' if told.asks else 'where a rule asks'}: {who}; may {may}"]


def _brings(contract: ToolContract) -> list[str]:
    lines = []
    for trust in ("system", "untrusted"):
        for required in (True, False):
            names = [one.name for one in contract.output if (one.trust, one.required) == (trust, required)]
            lines += [f"{trust}{', always' * required}: {', '.join(names)}"] if names else []
    return lines


def _fails(contract: ToolContract) -> list[str]:
    told = [
        f"{mode.code}{' (passing)' * mode.passing}{' (may have happened)' * mode.undecided}"
        for mode in contract.failures
    ]
    told += [f"{one.code} where {one.field} says so" for one in contract.failed]
    return [", ".join(told)] if told else []


def _bounds(contract: ToolContract) -> str:
    ending = ", then killed" if contract.isolated else ""
    told = [f"{contract.timeout_s:g} s{ending}", f"{contract.max_rows} rows", f"{contract.max_bytes:,} bytes"]
    told += [f"tried {contract.retries + 1} times"] * bool(contract.retries)
    told += ["else the last good result"] * (contract.fallback == "last_result")
    told += [f"cost {contract.cost:g}"] * bool(contract.cost)
    return ", ".join(told)
