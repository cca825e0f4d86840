"""A function becomes a tool's contract: name, docstring and annotations say it all (S7)."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from state.contract import RESERVED, Effect, Limit, OutputField, ToolContract
from state.tools import Tool, ToolContext, ToolError, tool

ORDER = OutputField(name="order", trust="system")


def made() -> Tool:
    @tool(
        effect=Effect.WRITE,
        roles=("agent",),
        output=(ORDER,),
        resources={"order": "order"},
        limits=(Limit(parameter="amount", policy_key="refund_limit"),),
        confirm=True,
        idempotent=True,
        reversible=False,
        max_rows=5,
    )
    def refund_order(
        context: ToolContext,
        *,
        order: Annotated[str, Field(pattern=r"^A[0-9]$", description="The order.")],
        amount: Annotated[float, Field(gt=0)],
        reason: Literal["late", "broken"] = "late",
    ) -> dict[str, Any]:
        """Refund part
        of an order.

        Errors: `unavailable`.
        """
        return {"order": order}

    return refund_order


def test_a_function_becomes_a_contract() -> None:
    assert made().contract == ToolContract(
        name="refund_order",
        description="Refund part of an order.",
        effect=Effect.WRITE,
        parameters={
            "type": "object",
            "properties": {
                "order": {"type": "string", "pattern": "^A[0-9]$", "description": "The order."},
                "amount": {"type": "number", "exclusiveMinimum": 0},
                "reason": {"type": "string", "enum": ["late", "broken"], "default": "late"},
            },
            "required": ["order", "amount"],
            "additionalProperties": False,
        },
        roles=("agent",),
        output=(ORDER,),
        resources={"order": "order"},
        limits=(Limit(parameter="amount", policy_key="refund_limit", over="approve"),),
        confirm=True,
        idempotent=True,
        reversible=False,
        max_rows=5,
        max_bytes=8_000,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"name": "refund_all"},
        {"description": "Refund an order."},
        {"effect": Effect.READ},
        {"parameters": {"type": "object", "additionalProperties": False}},
        {"roles": ("agent", "lead")},
        {"output": ()},
        {"resources": {}},
        {"limits": ()},
        {"confirm": False},
        {"max_bytes": 9_000},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_definition_has_another_digest(change: dict[str, Any]) -> None:
    contract = made().contract
    assert contract.definition_digest() == made().contract.definition_digest()
    assert contract.model_copy(update=change).definition_digest() != contract.definition_digest()


def test_by_default_a_tool_is_nobodys_and_its_fields_are_untrusted() -> None:
    contract = ToolContract.model_validate(
        {
            "name": "look",
            "description": "d",
            "effect": "read",
            "parameters": {"type": "object", "additionalProperties": False},
            "roles": [],
            "output": [{"name": "x"}],
        }
    )
    assert contract.roles == ()
    assert (contract.confirm, contract.idempotent) == (False, False)
    assert contract.output[0].trust == "untrusted"


@pytest.mark.parametrize("name", ["Refund", "re fund", "r", "../x", "refund\n", "x" * 65, "réfund"])
def test_a_name_is_plain(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        ToolContract(
            name=name,
            description="d",
            effect=Effect.READ,
            parameters={"type": "object", "additionalProperties": False},
            roles=(),
            output=(),
        )


@pytest.mark.parametrize("bound", [{"max_rows": 0}, {"max_rows": -1}, {"max_bytes": 0}, {"timeout_s": 1e12}])
def test_a_bound_is_one_that_can_hold(bound: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        made().contract.model_copy(update=bound)


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_result_field_cannot_pass_for_one_that_the_engine_writes(name: str) -> None:
    with pytest.raises(ValidationError, match="which the engine writes itself; rename the field"):
        OutputField(name=name)


def test_a_tool_error_names_its_code_first() -> None:
    assert str(ToolError("not_found")) == "not_found"
    assert str(ToolError("not_found", "no such order")) == "not_found: no such order"
