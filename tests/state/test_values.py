"""The laws that every value of the house keeps: frozen, no unknown fields, aware times, finite numbers."""

from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import JsonValue, ValidationError

from state.context import Provenance, Span
from state.contract import Effect, OutputField, ToolContract
from state.policy import Policy, UtilityWeights
from state.task import TaskState, UserTurn
from state.value import Ruled, Value
from tests.fakes import NOW

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("state", "nodes", "retrieval", "graph")


def _import_modules_with_values() -> None:
    """Not every module: those that a server loads open an app when they are imported."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "from state.value import" in path.read_text(encoding="utf-8"):
                name = path.relative_to(ROOT).with_suffix("")
                import_module(".".join(name.parts).removesuffix(".__init__"))


def _below(kind: type[Value]) -> Iterator[type[Value]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


_import_modules_with_values()
VALUES = sorted(
    {kind for kind in _below(Value) if kind.__module__.partition(".")[0] in PACKAGES},
    key=lambda kind: (kind.__module__, kind.__qualname__),
)


def test_the_values_are_found() -> None:
    assert {TaskState, ToolContract, Span, UtilityWeights} <= {*VALUES}
    assert len(VALUES) > 80


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: f"{kind.__module__}.{kind.__qualname__}")
def test_a_value_is_frozen_closed_and_finite(kind: type[Value]) -> None:
    held = {name: kind.model_config.get(name) for name in ("frozen", "extra", "allow_inf_nan")}
    assert held == {"frozen": True, "extra": "forbid", "allow_inf_nan": False}


def _annotations(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _annotations(inner)


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: f"{kind.__module__}.{kind.__qualname__}")
def test_a_value_holds_aware_times_only(kind: type[Value]) -> None:
    naive = [
        name
        for name, field in kind.model_fields.items()
        if any(inner is datetime for inner in _annotations(field.annotation))
    ]
    assert naive == []


CLOSED: dict[str, JsonValue] = {"type": "object", "properties": {}, "additionalProperties": False}
TURN = {"index": 1, "message_id": "m", "ref": "r"}


@pytest.mark.parametrize(
    ("kind", "fields", "problem"),
    [
        pytest.param(UserTurn, {**TURN, "at": datetime(2026, 1, 1)}, "timezone_aware", id="naive"),  # noqa: DTZ001 - a naive time is what must be refused
        pytest.param(UserTurn, {**TURN, "at": "2026-01-01T00:00:00"}, "timezone_aware", id="naive text"),
        pytest.param(UserTurn, {**TURN, "at": NOW, "more": 1}, "extra_forbidden", id="unknown field"),
        pytest.param(UtilityWeights, {"relevance": float("nan")}, "finite_number", id="NaN"),
        pytest.param(
            Provenance,
            {"tenant": "t", "scope": "s", "content_hash": "h", "scores": {"x": float("inf")}},
            "finite_number",
            id="Infinity inside",
        ),
        pytest.param(TaskState, {"schema_version": 1}, "literal_error", id="another schema's task"),
    ],
)
def test_what_breaks_a_law_is_refused(kind: type[Value], fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(fields)
    assert [error["type"] for error in refused.value.errors()] == [problem]


def test_a_value_cannot_be_changed() -> None:
    span = Span(start=1, end=2)
    with pytest.raises(ValidationError, match="frozen"):
        span.end = 3  # type: ignore[misc]  # this is what must fail
    assert span == Span(start=1, end=2)
    assert span.model_copy(update={"end": 3}) != span


RULED = {
    "a policy": (Policy(version="v", effective_from=NOW, approver_roles=()), {"max_decisions": 0}, "greater_than"),
    "a field there is not": (Policy(version="v", effective_from=NOW, approver_roles=()), {"max": 1}, "extra_forbidden"),
    "a contract": (
        ToolContract(name="look", description="", effect=Effect.READ, parameters=CLOSED, roles=(), output=()),
        {"parameters": {**CLOSED, "$ref": "https://elsewhere.example"}},
        "value_error",
    ),
}


@pytest.mark.parametrize(("value", "change", "problem"), RULED.values(), ids=RULED)
def test_a_copy_of_what_gates_are_built_on_is_checked(value: Ruled, change: dict[str, Any], problem: str) -> None:
    assert value.model_copy() == value.model_copy(deep=True) == value
    with pytest.raises(ValidationError) as refused:
        value.model_copy(update=change)
    assert [error["type"] for error in refused.value.errors()] == [problem]


def test_a_changed_copy_keeps_the_rest() -> None:
    policy = Policy(version="v", effective_from=NOW, approver_roles=("lead",), values={"limit": 5})
    assert policy.model_copy(update={"max_decisions": 3}) == Policy(
        version="v", effective_from=NOW, approver_roles=("lead",), values={"limit": 5}, max_decisions=3
    )


def test_values_do_not_share_their_defaults() -> None:
    one = Policy(version="v", effective_from=NOW, approver_roles=())
    other = Policy(version="v", effective_from=NOW, approver_roles=())
    one.values["limit"] = 5
    assert other.values == {}
    assert OutputField(name="x").trust == "untrusted"
