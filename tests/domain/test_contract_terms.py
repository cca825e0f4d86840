"""What the contracts promise beyond rights: how tools fail, what a result looks like, what can be looked up after."""

import re
from typing import Any

import jsonschema
import pytest

from state.contract import Effect, ToolContract
from state.domain import Domain
from state.tools import Tool, ToolContext, ToolError
from tests.domain.conftest import NOW, Call, ScopeOf

SAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    ("ana@acme", "check_api_key_status", {"account_id": "A-123"}),
    ("ana@acme", "get_account", {"account_id": "A-123"}),
    ("ana@acme", "search_incidents", {}),
    ("ana@acme", "list_api_keys", {"account_id": "A-123"}),
    ("leo@acme", "list_tickets", {}),
    ("ana@acme", "get_ticket", {"ticket_id": "T-503"}),
    ("bea@acme", "rotate_api_key", {"key_id": "K-1012"}),
    ("bea@acme", "delete_api_key", {"key_id": "K-1001"}),
    ("ana@acme", "add_ticket_note", {"ticket_id": "T-501", "note": "Seen."}),
    ("leo@acme", "issue_credit", {"account_id": "A-125", "amount": 10, "currency": "EUR"}),
]
CHANGES = SAMPLES[6:]


def tool_of(support: Domain, name: str) -> Tool:
    return next(tool for tool in support.tools if tool.contract.name == name)


def test_a_tool_declares_the_failures_that_its_docstring_names(support: Domain) -> None:
    for tool in support.tools:
        told = re.search(r"Errors: (.+?)\.", " ".join((tool.run.__doc__ or "").split()))
        assert told is not None, tool.contract.name
        assert {mode.code for mode in tool.contract.failures} == set(re.findall(r"`(\w+)`", told[1]))


def test_only_a_system_of_record_that_is_away_is_a_passing_failure(support: Domain) -> None:
    for tool in support.tools:
        kept_by_the_engine = tool.contract.name in ("save_memory", "forget_memory")  # which has no system of record
        assert [mode.code for mode in tool.contract.failures if mode.passing] == ["unavailable"][kept_by_the_engine:]
        assert [mode.code for mode in tool.contract.failures if mode.undecided] == []


@pytest.mark.parametrize(("name", "tool", "arguments"), SAMPLES, ids=[tool for _, tool, _ in SAMPLES])
def test_a_result_fits_what_the_contract_says_of_it(
    call: Call, support: Domain, name: str, tool: str, arguments: dict[str, Any]
) -> None:
    result = call(name, tool, **arguments)
    validator = jsonschema.Draft202012Validator(tool_of(support, tool).contract.output_schema())
    rows = result if isinstance(result, list) else [result]
    assert rows
    for row in rows:
        validator.validate(row)
    # And the schema says something: a status of another word does not fit.
    fields = {field.name for field in tool_of(support, tool).contract.output}
    if "status" in fields:
        assert not validator.is_valid({**rows[0], "status": "perhaps"})


@pytest.mark.parametrize(("name", "tool", "arguments"), CHANGES, ids=[tool for _, tool, _ in CHANGES])
def test_a_change_can_be_looked_up_by_the_key_of_its_effect(
    call: Call, scope_of: ScopeOf, support: Domain, name: str, tool: str, arguments: dict[str, Any]
) -> None:
    read_back = tool_of(support, tool).read_back
    assert read_back is not None
    context = ToolContext(scope_of(name), NOW, "effect-1")
    assert read_back(context, **arguments) is None
    done = call(name, tool, **arguments)
    assert read_back(context, **arguments) == done
    assert read_back(ToolContext(scope_of(name), NOW, "effect-2"), **arguments) is None
    with pytest.raises(ToolError, match="idempotency_key_reused"):
        read_back(ToolContext(scope_of("ines@globex"), NOW, "effect-1"), **arguments)


def test_every_change_that_cannot_be_undone_can_be_looked_up(support: Domain) -> None:
    contracts = [tool.contract for tool in support.tools]
    assert all(contract.reads_back for contract in contracts if not contract.reversible)
    assert not any(contract.reads_back for contract in contracts if contract.effect is Effect.READ)


@pytest.mark.parametrize(
    ("tool", "key", "window_s"),
    [("rotate_api_key", "rotations_per_hour", 3_600), ("issue_credit", "credits_per_day", 86_400)],
)
def test_a_rate_is_a_value_of_every_policy_record(support: Domain, tool: str, key: str, window_s: int) -> None:
    contract: ToolContract = tool_of(support, tool).contract
    (rate,) = contract.rates
    assert (rate.policy_key, rate.per, rate.window_s, rate.counts) == (key, "actor", window_s, "calls")
    assert all(isinstance(policy.values[key], int) for policy in support.policies)
