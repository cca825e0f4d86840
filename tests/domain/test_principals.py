"""Who there is, and which facts go with each: read anew, the person's own, never another's."""

import pytest

from state.context import Trust
from state.domain import Domain
from state.run import Fact, Principal
from tests.domain.conftest import Call, Rows, ScopeOf


def principal(support: Domain, name: str) -> Principal:
    found = support.principal(name)
    assert found is not None
    return found


def facts(support: Domain, name: str) -> dict[str, Fact]:
    return {fact.name: fact for fact in principal(support, name).facts}


def test_ana_comes_first_because_a_development_server_starts_as_her(support: Domain) -> None:
    assert support.principals()[:4] == ["ana@acme", "bea@acme", "ines@globex", "omar@globex"]


def test_a_principal_is_named_after_the_tenant(support: Domain) -> None:
    for name in support.principals():
        found = principal(support, name)
        assert found.name == name
        assert name.endswith(f"@{found.tenant}")
        assert found.groups
        assert "api" in found.products


@pytest.mark.parametrize("name", ["", "ana", "ana@globex", "ANA@acme", "ana@acme ", "' OR 1=1 --", "%"])
def test_an_unknown_name_is_nobody(support: Domain, name: str) -> None:
    assert support.principal(name) is None


def test_ana_is_a_customer_with_an_open_ticket_in_her_own_words(support: Domain) -> None:
    ana = principal(support, "ana@acme")
    assert (ana.roles, ana.subjects, ana.locale) == (("customer",), ("ana@acme", "A-123"), "en")
    held = facts(support, "ana@acme")
    assert list(held) == ["account_id", "plan", "ticket"]
    assert (held["account_id"].value, held["plan"].value) == ("A-123", "pro")
    assert held["account_id"].trust is Trust.SYSTEM
    assert held["ticket"].trust is Trust.USER
    assert held["ticket"].seeks
    assert held["ticket"].source == "ticket://T-501"
    assert "stopped working" in held["ticket"].value
    assert "Tried:" in held["ticket"].value


def test_bea_is_an_account_admin_whose_one_key_needs_no_naming(support: Domain) -> None:
    assert principal(support, "bea@acme").roles == ("admin",)
    held = facts(support, "bea@acme")
    assert list(held) == ["account_id", "plan", "key_id"]
    assert held["key_id"].value == "K-1012"


def test_an_admin_with_two_keys_has_to_name_one(support: Domain) -> None:
    assert principal(support, "omar@globex").roles == ("admin",)
    assert "key_id" not in facts(support, "omar@globex")


def test_one_principal_at_globex_speaks_spanish(support: Domain) -> None:
    assert principal(support, "ines@globex").locale == "es"


@pytest.mark.parametrize("tenant", ["acme", "globex", "maravel"])
def test_every_organisation_has_each_role(support: Domain, tenant: str) -> None:
    found = [principal(support, name) for name in support.principals() if name.endswith(f"@{tenant}")]
    assert {role for one in found for role in one.roles} == {"customer", "admin", "agent", "supervisor"}


@pytest.mark.parametrize("name", ["leo@acme", "vera@acme"])
def test_the_support_desk_has_no_account_of_its_own_and_names_what_it_means(support: Domain, name: str) -> None:
    found = principal(support, name)
    assert (found.facts, found.subjects) == ((), (name,))
    assert "staff" in (found.groups or ())


def test_facts_are_read_anew(support: Domain, rows: Rows, call: Call) -> None:
    rows("UPDATE accounts SET plan = 'starter' WHERE account_id = 'A-123'")
    rows("UPDATE tickets SET status = 'closed' WHERE ticket_id = 'T-501'")
    held = facts(support, "ana@acme")
    assert held["plan"].value == "starter"
    assert "ticket" not in held
    new_key = call("bea@acme", "rotate_api_key", key_id="K-1012")["new_key_id"]
    assert facts(support, "bea@acme")["key_id"].value == new_key


@pytest.mark.parametrize(
    ("name", "kind", "resource", "mine"),
    [
        ("ana@acme", "account", "A-123", True),
        ("ana@acme", "account", "A-124", False),
        ("ana@acme", "account", "A-201", False),
        ("ana@acme", "account", "A-999", False),
        ("ana@acme", "api_key", "K-1007", True),
        ("ana@acme", "api_key", "K-1012", False),
        ("ana@acme", "api_key", "K-2001", False),
        ("ana@acme", "api_key", "", False),
        ("ana@acme", "api_key", "K-____", False),
        ("bea@acme", "account", "A-123", True),
        ("bea@acme", "account", "A-201", False),
        ("bea@acme", "api_key", "K-1007", True),
        ("bea@acme", "api_key", "K-2001", False),
        ("ines@globex", "api_key", "K-2001", True),
        ("ines@globex", "api_key", "K-2010", False),
        ("omar@globex", "api_key", "K-2001", True),
        ("omar@globex", "api_key", "K-1007", False),
        ("leo@acme", "account", "A-125", True),
        ("leo@acme", "account", "A-301", False),
        ("vera@acme", "api_key", "K-1015", True),
        ("vera@acme", "api_key", "K-3001", False),
        ("ana@acme", "ticket", "T-501", True),
        ("ana@acme", "ticket", "T-510", False),
        ("bea@acme", "ticket", "T-501", True),
        ("leo@acme", "ticket", "T-501", True),
        ("leo@acme", "ticket", "T-601", False),
        ("ana@acme", "ticket", "T-___", False),
    ],
)
def test_what_belongs_to_whom(
    support: Domain, scope_of: ScopeOf, name: str, kind: str, resource: str, mine: bool
) -> None:
    assert support.resources[kind](scope_of(name), resource) is mine


def test_a_scope_that_names_another_tenant_gets_neither(support: Domain, scope_of: ScopeOf) -> None:
    """Name and tenant must both match: a customer of acme who claims globex owns nothing anywhere."""
    scope = scope_of("ana@acme")
    moved = scope.model_copy(update={"principal": scope.principal.model_copy(update={"tenant": "globex"})})
    for account_id in ("A-123", "A-201"):
        assert support.resources["account"](moved, account_id) is False
