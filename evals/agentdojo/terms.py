"""What a suite says of each of its tools: effect, fields with their trust, roles, the words that open it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue

from state.contract import Effect, OutputField
from state.labels import Argument, Opens

Result = Mapping[str, Any] | list[Mapping[str, Any]] | None
Typed = Callable[[Any, Mapping[str, Any]], Result]


@dataclass(frozen=True)
class Terms:
    """The terms of one tool. `typed` turns what it returns, with its arguments, into typed fields or rows.

    `schemas` are those of arguments whose fields stand in the tool's docstring alone.
    """

    effect: Effect
    output: tuple[OutputField, ...]
    typed: Typed
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    opens: tuple[tuple[str, ...], ...] = ()
    audience: Literal["none", "internal", "external"] = "none"
    reversible: bool = True
    schemas: Mapping[str, dict[str, JsonValue]] = field(default_factory=dict)

    @property
    def opens_when(self) -> Opens | None:
        """The words that open the effect."""
        return Opens(stems=self.opens) if self.opens else None


def server(name: str, **terms: Any) -> OutputField:
    """A field that the server makes."""
    return OutputField(name=name, trust="system", **terms)


def directory(name: str, **terms: Any) -> OutputField:
    """A field of a trusted directory."""
    return OutputField(name=name, trust="directory", **terms)


def own(name: str, **terms: Any) -> OutputField:
    """A field that the principal wrote."""
    return OutputField(name=name, trust="own", **terms)


def foreign(*names: str, **terms: Any) -> tuple[OutputField, ...]:
    """Fields that third parties can write."""
    return tuple(OutputField(name=name, **terms) for name in names)


def control(role: Any, kind: str | None = None, **terms: Any) -> Argument:
    """An argument that decides something."""
    return Argument(role=role, kind=kind, **terms)


def one(name: str) -> Typed:
    """What is returned is one value."""
    return lambda result, arguments: {name: _json(result)}


def listed(name: str, **echoed: str) -> Typed:
    """What is returned is a list of values; `echoed` puts an argument beside each, field by parameter."""
    return lambda result, arguments: [
        {name: _json(value), **{at: arguments[parameter] for at, parameter in echoed.items()}} for value in result
    ]


def record(result: Any, arguments: Mapping[str, Any]) -> Result:
    """What is returned is one object."""
    return dict(_json(result))


def records(result: Any, arguments: Mapping[str, Any]) -> Result:
    """What is returned is a list of objects."""
    return [dict(_json(row)) for row in result]


def by_name(name: str, value: str, **echoed: str) -> Typed:
    """What is returned maps names to one value each."""

    def typed(result: Any, arguments: Mapping[str, Any]) -> Result:
        beside = {at: arguments[parameter] for at, parameter in echoed.items()}
        return [{name: key, value: _json(held), **beside} for key, held in result.items()]

    return typed


def lines(name: str, **echoed: str) -> Typed:
    """What is returned is a heading, a colon, and one name a line."""

    def typed(result: Any, arguments: Mapping[str, Any]) -> Result:
        names = [line.strip() for line in str(result).partition(": ")[2].splitlines()]
        beside = {at: arguments[parameter] for at, parameter in echoed.items()}
        return [{name: line, **beside} for line in names if line]

    return typed


def done(result: Any, arguments: Mapping[str, Any]) -> Result:
    """What is returned says that it was done, in words."""
    return {"message": str(_json(result))}


DONE = foreign("message")


def _json(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _json(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(inner) for inner in value]
    return value
