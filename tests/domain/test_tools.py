"""What the reading tools answer, to whom, and what never leaves them."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from state.contract import Effect
from state.domain import Domain
from state.tools import Tool, ToolContext, ToolError
from tests.domain.conftest import NOW, Call, Rows, ScopeOf


def test_the_worked_example(call: Call) -> None:
    assert call("ana@acme", "check_api_key_status", account_id="A-123") == {
        "account_id": "A-123",
        "key_id": "K-1007",
        "status": "revoked",
        "reason": "reported_exposed",
        "revoked_at": "2026-07-15T07:30:00Z",
        "expires_at": "2027-07-12T09:30:00Z",
        "checked_at": "2026-07-15T09:30:00Z",
        "label": "storefront production",
    }


def test_every_key_answers_with_its_state(call: Call, rows: Rows) -> None:
    for key_id, account_id, tenant, status in rows("SELECT key_id, account_id, tenant, status FROM api_keys"):
        admin = {"acme": "bea@acme", "globex": "omar@globex", "maravel": "alma@maravel"}[tenant]
        found = call(admin, "check_api_key_status", account_id=account_id, key_id=key_id)
        assert (found["key_id"], found["account_id"], found["status"]) == (key_id, account_id, status)


def test_an_active_key_past_its_last_day_is_expired(call: Call) -> None:
    later = NOW + timedelta(days=300)
    assert call("bea@acme", "check_api_key_status", account_id="A-124", now=later)["status"] == "expired"


ASKED_AS_ANA: list[tuple[str, dict[str, Any]]] = [
    ("check_api_key_status", {"account_id": "A-201"}),
    ("check_api_key_status", {"account_id": "A-999"}),
    ("check_api_key_status", {"account_id": "A-124"}),
    ("check_api_key_status", {"account_id": "A-201", "key_id": "K-2001"}),
    ("get_account", {"account_id": "A-201"}),
    ("get_account", {"account_id": "A-999"}),
    ("get_account", {"account_id": "A-124"}),
]


@pytest.mark.parametrize(("tool", "arguments"), ASKED_AS_ANA)
def test_missing_and_foreign_accounts_look_the_same(call: Call, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as caught:
        call("ana@acme", tool, **arguments)
    assert str(caught.value) == "not_found: you have no account with this id"


@pytest.mark.parametrize("key_id", ["K-2001", "K-1012", "K-9999", "K-1015"])
def test_missing_and_foreign_keys_look_the_same(call: Call, key_id: str) -> None:
    with pytest.raises(ToolError) as caught:
        call("ana@acme", "check_api_key_status", account_id="A-123", key_id=key_id)
    assert str(caught.value) == "not_found: you have no API key with this id"


def test_an_account_without_a_key_in_use_says_so(call: Call, rows: Rows) -> None:
    rows("UPDATE api_keys SET in_use = 0 WHERE account_id = 'A-123'")
    with pytest.raises(ToolError, match="no_key_in_use"):
        call("ana@acme", "check_api_key_status", account_id="A-123")
    assert call("ana@acme", "get_account", account_id="A-123")["key_in_use"] is None


def test_incidents_are_everybodys_and_the_own_tenants(call: Call) -> None:
    def seen(name: str, **arguments: Any) -> list[str]:
        return [incident["incident_id"] for incident in call(name, "search_incidents", **arguments)]

    assert seen("ana@acme")[:4] == ["INC-302", "INC-320", "INC-301", "INC-303"]
    assert seen("omar@globex")[:4] == ["INC-340", "INC-302", "INC-301", "INC-303"]
    assert seen("leo@acme") == seen("ana@acme")
    assert not {"INC-320", "INC-360"} & set(seen("omar@globex"))
    assert seen("ana@acme", query="Are webhook deliveries late?")[0] == "INC-302"
    assert seen("ana@acme", query="bulk uploads of one organisation")[0] == "INC-320"
    assert seen("ana@acme", component="billing") == ["INC-303", "INC-277", "INC-241"]
    assert seen("ana@acme", query="teapot % _ ' OR") == []
    assert seen("ana@acme", query="of an to") == seen("ana@acme")


def of_the_database(support: Domain) -> list[Tool]:
    """The tools that work on the domain's own data; what is remembered is the engine's to keep."""
    return [tool for tool in support.tools if tool.contract.name not in ("save_memory", "forget_memory")]


def test_a_database_that_fails_becomes_a_typed_error_without_a_path(
    support: Domain, scope_of: ScopeOf, folder: Path
) -> None:
    context = ToolContext(scope=scope_of("ana@acme"), now=NOW, idempotency_key="effect-1")
    (folder / "support.sqlite").rename(folder / "moved.sqlite")
    arguments: dict[str, dict[str, Any]] = {
        "check_api_key_status": {"account_id": "A-123"},
        "search_incidents": {},
        "get_account": {"account_id": "A-123"},
        "list_api_keys": {"account_id": "A-123"},
        "list_tickets": {},
        "get_ticket": {"ticket_id": "T-501"},
        "rotate_api_key": {"key_id": "K-1007"},
        "delete_api_key": {"key_id": "K-1007"},
        "add_ticket_note": {"ticket_id": "T-501", "note": "Seen."},
        "issue_credit": {"account_id": "A-123", "amount": 10, "currency": "EUR"},
    }
    for tool in of_the_database(support):
        with pytest.raises(ToolError) as caught:
            tool.run(context, **arguments[tool.contract.name])
        assert caught.value.code == "unavailable"
        assert str(folder) not in str(caught.value)


def test_no_key_value_leaves_the_database(call: Call, rows: Rows, support: Domain) -> None:
    said: list[str] = [json.dumps(call("bea@acme", "rotate_api_key", key_id="K-1012"))]
    values = [value for (value,) in rows("SELECT value FROM api_keys")]
    for name in support.principals():
        found = support.principal(name)
        assert found is not None
        said += [repr(found), found.model_dump_json()]
        for (account_id,) in rows("SELECT account_id FROM accounts WHERE tenant = ?", found.tenant):
            for tool in ("check_api_key_status", "list_api_keys", "get_account"):
                try:
                    said.append(json.dumps(call(name, tool, account_id=account_id)))
                except ToolError as error:
                    said.append(repr(error))
        said += [json.dumps(call(name, tool)) for tool in ("search_incidents", "list_tickets")]
    said += [repr(support), repr(support.memories), repr(support.examples)]
    text = "\n".join(said)
    assert "sk-demo" not in text
    assert len(values) == 31
    assert not [value for value in values if value in text]


def test_a_result_holds_only_what_the_contract_declares(call: Call, support: Domain) -> None:
    results = {
        "check_api_key_status": [call("ana@acme", "check_api_key_status", account_id="A-123")],
        "get_account": [call("ana@acme", "get_account", account_id="A-123")],
        "search_incidents": call("ana@acme", "search_incidents"),
        "list_api_keys": call("ana@acme", "list_api_keys", account_id="A-123"),
        "list_tickets": call("leo@acme", "list_tickets"),
        "get_ticket": [call("ana@acme", "get_ticket", ticket_id="T-503")],
        "delete_api_key": [call("bea@acme", "delete_api_key", key_id="K-1001")],
        "add_ticket_note": [call("ana@acme", "add_ticket_note", ticket_id="T-501", note="Seen.")],
        "issue_credit": [call("leo@acme", "issue_credit", account_id="A-125", amount=10, currency="EUR")],
        "rotate_api_key": [call("bea@acme", "rotate_api_key", key_id="K-1012")],
    }
    for tool in of_the_database(support):
        declared = {field.name for field in tool.contract.output}
        for result in results[tool.contract.name]:
            assert set(result) <= declared
            assert json.loads(json.dumps(result)) == result


def test_only_fields_that_nobody_else_can_write_are_trusted(support: Domain) -> None:
    free_text = {"label", "title", "summary", "display_name", "concern", "tried", "note", "notes"}
    for tool in support.tools:
        untrusted = {field.name for field in tool.contract.output if field.trust == "untrusted"}
        assert untrusted == {field.name for field in tool.contract.output} & free_text


def test_the_contracts_are_sane(support: Domain) -> None:
    contracts = {tool.contract.name: tool.contract for tool in support.tools}
    assert len(contracts) == len(support.tools) == 12
    for contract in contracts.values():
        assert re.fullmatch(r"[A-Z][^.]{30,140}\.", contract.description), contract.description
        jsonschema.Draft202012Validator.check_schema(contract.parameters)
        assert contract.parameters["additionalProperties"] is False
        properties = contract.parameters["properties"]
        assert isinstance(properties, dict)
        assert set(contract.resources) <= set(properties)
        assert set(contract.resources.values()) <= set(support.resources)
        assert all(isinstance(field, dict) and field["description"] for field in properties.values())
        # An id in a schema could end up in a call.
        assert not re.search(r"[AK]-[0-9]", json.dumps(contract.model_dump(mode="json")).replace("-[0-9]", ""))
        assert contract.idempotent
        if contract.effect is Effect.READ:
            assert contract.roles == ("customer", "admin", "agent", "supervisor")
            assert not contract.confirm


@pytest.mark.parametrize(
    ("name", "roles", "confirm", "reversible", "resource"),
    [
        ("rotate_api_key", ("admin",), True, False, ("key_id", "api_key")),
        ("delete_api_key", ("admin",), True, False, ("key_id", "api_key")),
        ("add_ticket_note", ("customer", "admin", "agent", "supervisor"), False, True, ("ticket_id", "ticket")),
        ("issue_credit", ("agent", "supervisor"), False, False, ("account_id", "account")),
    ],
)
def test_what_a_change_asks_for(
    support: Domain, name: str, roles: tuple[str, ...], confirm: bool, reversible: bool, resource: tuple[str, str]
) -> None:
    contract = next(tool.contract for tool in support.tools if tool.contract.name == name)
    assert (contract.effect, contract.roles) == (Effect.WRITE, roles)
    assert (contract.confirm, contract.reversible) == (confirm, reversible)
    assert contract.resources == dict([resource])


def test_a_credits_limit_is_a_value_of_the_policy_record(support: Domain) -> None:
    (limit,) = next(tool.contract.limits for tool in support.tools if tool.contract.name == "issue_credit")
    assert (limit.parameter, limit.policy_key, limit.over) == ("amount", "credit_limit", "approve")
    assert all(limit.policy_key in policy.values for policy in support.policies)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("check_api_key_status", {}),
        ("check_api_key_status", {"account_id": "A-1234"}),
        ("check_api_key_status", {"account_id": "A-123\nK-1"}),
        ("check_api_key_status", {"account_id": 123}),
        ("check_api_key_status", {"account_id": "A-123", "tenant": "globex"}),
        ("check_api_key_status", {"account_id": "A-123", "key_id": "1007"}),
        ("search_incidents", {"component": "everything"}),
        ("search_incidents", {"query": "x" * 201}),
        ("rotate_api_key", {}),
        ("rotate_api_key", {"key_id": "K-1007", "approved": True}),
        ("issue_credit", {"account_id": "A-123", "amount": 0, "currency": "EUR"}),
        ("issue_credit", {"account_id": "A-123", "amount": "30", "currency": "EUR"}),
        ("issue_credit", {"account_id": "A-123", "amount": 30.5, "currency": "EUR"}),
        ("issue_credit", {"account_id": "A-123", "amount": 30, "currency": "USD"}),
        ("issue_credit", {"account_id": "A-123", "amount": 30}),
        ("add_ticket_note", {"ticket_id": "T-501", "note": ""}),
        ("get_ticket", {"ticket_id": "501"}),
        ("list_tickets", {"status": "any"}),
    ],
)
def test_the_schemas_refuse_what_is_not_meant(support: Domain, tool: str, arguments: dict[str, Any]) -> None:
    contract = next(each.contract for each in support.tools if each.contract.name == tool)
    assert not jsonschema.Draft202012Validator(contract.parameters).is_valid(arguments)
