"""What a call does, to whom, when and how much: two that differ in what decides nothing do the same (X3)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from state.canonical import digest
from state.checks.binding import arguments_digest
from state.checks.dates import moment
from state.checks.meaning import norm, number
from state.checks.trace import by_default, harmless
from state.contract import ToolContract
from state.labels import Role

_Values = frozenset[str]


class Deed(NamedTuple):
    """What decides in a call: of its `tool`, each argument with its values, what it is done to, and how much. `whole`
    names a call that no argument controls."""

    tool: str
    control: frozenset[tuple[str, _Values]] = frozenset()
    subjects: _Values = frozenset()
    amounts: _Values = frozenset()
    whole: str = ""

    def same(self, other: "Deed") -> bool:
        """Whether another call does the same: what decides in one of them decides the same in the other, and a list
        does where the two have a value in common. The same amount for the same is so by any tool."""
        if self.tool != other.tool:
            return bool(self.amounts & other.amounts and self.subjects & other.subjects)
        own, others = dict(self.control), dict(other.control)
        shared = own.keys() & others.keys()
        if self.whole != other.whole or shared not in (own.keys(), others.keys()):
            return False
        return all(own[name] & others[name] or own[name] == others[name] for name in shared)

    def among(self, others: Iterable["Deed"]) -> bool:
        """Whether one of these does the same."""
        return any(map(self.same, others))


def deed(contract: ToolContract, arguments: Mapping[str, JsonValue]) -> Deed:
    """What a call does. What is left out, is the contract's default or needs no origin tells no two apart; nor does
    what the model may choose, where anything else decides."""
    decides = {
        name: value
        for name, value in arguments.items()
        if (argument := contract.role(name)).control
        and value is not None
        and not by_default(contract, name, value)
        and not harmless(argument, value)
    }
    bound = {name: value for name, value in decides.items() if not contract.role(name).may_choose}
    control = {name: _values(value, contract.role(name).role) for name, value in (bound or decides).items()}

    def held(*roles: Role) -> _Values:
        return frozenset[str]().union(
            *(values for name, values in control.items() if contract.role(name).role in roles)
        )

    return Deed(contract.name, frozenset(control.items()), held("target", "object"), held("amount"))


def told_apart(contract: ToolContract, arguments: Mapping[str, JsonValue]) -> Deed:
    """A deed; of a call that no argument controls, the whole of it."""
    if any(contract.role(name).control for name in arguments):
        return deed(contract, arguments)
    return Deed(contract.name, whole=arguments_digest(contract.name, dict(arguments)))


def _values(value: JsonValue, role: Role) -> _Values:
    """The values of an argument, however they are spelt: in a list neither order nor number counts."""
    return frozenset(digest(_meant(one, role)) for one in (value if isinstance(value, list) else [value]))


def _meant(value: JsonValue, role: Role) -> JsonValue:
    match value:
        case bool() | None:
            return value
        case list():
            return [_meant(inner, role) for inner in value]
        case dict():
            return {name: _meant(inner, role) for name, inner in value.items()}
        case str() if role in ("time", "day") and (when := moment(value)) is not None:
            day, hour = when
            return f"{day}" if role == "day" or hour is None else f"{day} {hour}"
        case str() if role == "amount" and (exact := number(value)) is not None:
            return str(exact)
        case _:
            return norm(value)
