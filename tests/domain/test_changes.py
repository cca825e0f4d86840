"""Deleting keys, writing notes and issuing credits: once per effect, on own rows, for those who may."""

from typing import Any

import pytest

from domain.ownership import STAFF
from state.domain import Domain
from state.tools import ToolContext, ToolError
from tests.domain.conftest import NOW, Call, Rows, ScopeOf

CHANGES: list[tuple[str, str, dict[str, Any], str]] = [
    ("bea@acme", "delete_api_key", {"key_id": "K-1001"}, "deletions"),
    ("ana@acme", "add_ticket_note", {"ticket_id": "T-501", "note": "The proxy is new."}, "ticket_notes"),
    ("leo@acme", "issue_credit", {"account_id": "A-125", "amount": 30, "currency": "EUR"}, "credits"),
]
OTHERS: dict[str, dict[str, Any]] = {
    "delete_api_key": {"key_id": "K-1032"},
    "add_ticket_note": {"note": "Another one."},
    "issue_credit": {"amount": 31},
}


@pytest.mark.parametrize(("name", "tool", "arguments", "table"), CHANGES)
def test_the_same_effect_happens_once(
    call: Call, rows: Rows, name: str, tool: str, arguments: dict[str, Any], table: str
) -> None:
    before = rows(f"SELECT count(*) FROM {table}")[0][0]
    first = call(name, tool, **arguments)
    assert call(name, tool, **arguments) == first
    assert rows(f"SELECT count(*) FROM {table}")[0][0] == before + 1


@pytest.mark.parametrize(("name", "tool", "arguments", "table"), CHANGES)
def test_an_effects_key_is_needed_and_bound_to_its_call(
    call: Call, rows: Rows, name: str, tool: str, arguments: dict[str, Any], table: str
) -> None:
    with pytest.raises(ToolError, match="idempotency_key_missing"):
        call(name, tool, effect="", **arguments)
    call(name, tool, **arguments)
    with pytest.raises(ToolError, match="idempotency_key_reused"):
        call(name, tool, **{**arguments, **OTHERS[tool]})


def test_a_deleted_key_is_gone_and_its_value_with_it(call: Call, rows: Rows) -> None:
    done = call("bea@acme", "delete_api_key", key_id="K-1012")
    assert done == {
        "account_id": "A-124",
        "key_id": "K-1012",
        "status": "deleted",
        "deleted_at": "2026-07-15T09:30:00Z",
    }
    assert rows("SELECT value, in_use FROM api_keys WHERE key_id = 'K-1012'") == [("", 0)]
    assert call("bea@acme", "list_api_keys", account_id="A-124") == []
    assert call("bea@acme", "get_account", account_id="A-124")["key_in_use"] is None
    for tool in ("rotate_api_key", "delete_api_key"):
        with pytest.raises(ToolError, match="not_found"):
            call("bea@acme", tool, effect="effect-2", key_id="K-1012")


@pytest.mark.parametrize(
    ("name", "key_id", "code"),
    [("bea@acme", "K-2001", "not_found"), ("bea@acme", "K-9999", "not_found"), ("bea@acme", "K-1016", "under_review")],
)
def test_what_cannot_be_deleted_stays(call: Call, rows: Rows, name: str, key_id: str, code: str) -> None:
    before = rows("SELECT * FROM api_keys ORDER BY key_id")
    with pytest.raises(ToolError) as caught:
        call(name, "delete_api_key", key_id=key_id)
    assert caught.value.code == code
    assert rows("SELECT * FROM api_keys ORDER BY key_id") == before


def test_a_note_joins_the_history_in_its_authors_name(call: Call) -> None:
    call("ana@acme", "add_ticket_note", ticket_id="T-501", note="The proxy is new.")
    notes = call("leo@acme", "get_ticket", ticket_id="T-501")["notes"]
    assert notes[-1] == {"written_at": "2026-07-15T09:30:00Z", "written_by": "customer", "note": "The proxy is new."}
    assert [note["written_by"] for note in notes] == ["agent", "customer"]


@pytest.mark.parametrize(
    ("name", "ticket_id", "code"),
    [
        ("ana@acme", "T-502", "ticket_closed"),
        ("ana@acme", "T-510", "not_found"),
        ("leo@acme", "T-601", "not_found"),
        ("leo@acme", "T-999", "not_found"),
    ],
)
def test_a_note_on_a_closed_or_foreign_ticket_is_refused(
    call: Call, rows: Rows, name: str, ticket_id: str, code: str
) -> None:
    before = rows("SELECT count(*) FROM ticket_notes")
    with pytest.raises(ToolError) as caught:
        call(name, "add_ticket_note", ticket_id=ticket_id, note="Hello.")
    assert caught.value.code == code
    assert rows("SELECT count(*) FROM ticket_notes") == before


def approved_by(support: Domain, scope_of: ScopeOf, owner: str, actor: str, amount: int) -> Any:
    """An issue_credit that `owner` asked for and `actor` answered, as the engine hands it over."""
    (credit,) = (tool for tool in support.tools if tool.contract.name == "issue_credit")
    scope = scope_of(owner).model_copy(update={"actor": scope_of(actor).principal})
    context = ToolContext(scope=scope, now=NOW, idempotency_key="e")
    return credit.run(context, account_id="A-125", amount=amount, currency="EUR")


def test_a_credit_up_to_the_limit_needs_nobody_else(call: Call, rows: Rows) -> None:
    done = call("leo@acme", "issue_credit", account_id="A-125", amount=50, currency="EUR")
    assert (done["amount"], done["currency"], done["status"]) == (50, "EUR", "issued")
    assert rows("SELECT issued_by, approved_by, amount FROM credits") == [("leo@acme", None, 50)]


def test_a_credit_above_the_limit_is_a_supervisors_to_approve(support: Domain, scope_of: ScopeOf, rows: Rows) -> None:
    approved_by(support, scope_of, "leo@acme", "vera@acme", 120)
    assert rows("SELECT issued_by, approved_by, amount FROM credits") == [("leo@acme", "vera@acme", 120)]


def test_what_was_approved_and_done_is_told_to_whoever_goes_on_after_a_crash(
    support: Domain, scope_of: ScopeOf, rows: Rows
) -> None:
    done = approved_by(support, scope_of, "leo@acme", "vera@acme", 120)
    assert approved_by(support, scope_of, "leo@acme", "leo@acme", 120) == done
    assert rows("SELECT issued_by, approved_by, amount FROM credits") == [("leo@acme", "vera@acme", 120)]


@pytest.mark.parametrize(
    ("owner", "actor"),
    [
        pytest.param("leo@acme", "leo@acme", id="an agent alone"),
        pytest.param("vera@acme", "vera@acme", id="a supervisor for an own wish"),
        pytest.param("leo@acme", "bea@acme", id="an account admin for the own organisation"),
    ],
)
def test_nobody_else_makes_a_credit_above_the_limit_happen(
    support: Domain, scope_of: ScopeOf, rows: Rows, owner: str, actor: str
) -> None:
    with pytest.raises(ToolError, match="not_approved"):
        approved_by(support, scope_of, owner, actor, 51)
    assert rows("SELECT count(*) FROM credits") == [(0,)]


def test_a_credit_in_another_currency_than_the_policys_is_refused(call: Call, rows: Rows) -> None:
    with pytest.raises(ToolError, match="currency_not_allowed"):
        call("leo@acme", "issue_credit", account_id="A-125", amount=30, currency="USD")
    assert rows("SELECT count(*) FROM credits") == [(0,)]


def test_a_credit_stays_inside_the_organisation(call: Call) -> None:
    with pytest.raises(ToolError, match="not_found"):
        call("leo@acme", "issue_credit", account_id="A-201", amount=10, currency="EUR")


def test_only_staff_may_issue_credits(support: Domain) -> None:
    (credit,) = (tool.contract for tool in support.tools if tool.contract.name == "issue_credit")
    assert credit.roles == STAFF
