"""Whose thread is it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from graph.stores.engine import Database
from graph.stores.forgotten import THREAD, SqlForgotten
from graph.stores.ownership import BadThreadName, SqlOwnership, UnknownThread
from tests.fakes import NOW, FakeClock


@pytest.fixture
def ownership(database: Database) -> SqlOwnership:
    return SqlOwnership(database.everyday, FakeClock())


def test_a_new_thread_belongs_to_who_claims_it(ownership: SqlOwnership) -> None:
    owner = ownership.claim_thread("T", "acme", "ana@acme")
    assert (owner.thread, owner.tenant, owner.principal, owner.created_at) == ("T", "acme", "ana@acme", NOW)
    assert ownership.claim_thread("T", "acme", "ana@acme") == owner
    assert ownership.require("T", "acme", "ana@acme") == owner
    assert ownership.owner("T") == owner


@pytest.mark.parametrize(("tenant", "principal"), [("globex", "ana@acme"), ("acme", "bo@acme")])
def test_a_foreign_thread_looks_like_none(ownership: SqlOwnership, tenant: str, principal: str) -> None:
    ownership.claim_thread("T", "acme", "ana@acme")
    with pytest.raises(UnknownThread) as foreign:
        ownership.claim_thread("T", tenant, principal)
    with pytest.raises(UnknownThread) as required:
        ownership.require("T", tenant, principal)
    with pytest.raises(UnknownThread) as none:
        ownership.require("N", tenant, principal)
    assert str(foreign.value) == str(required.value)
    assert str(foreign.value).replace("'T'", "'N'") == str(none.value)


def test_looking_creates_nothing(ownership: SqlOwnership) -> None:
    for _ in range(2):
        with pytest.raises(UnknownThread):
            ownership.require("T", "acme", "ana@acme")
        with pytest.raises(UnknownThread):
            ownership.owner("T")


@pytest.mark.parametrize("name", ["", "x" * 201, "a\x00b", "a\nb", "\ud800", "\u202eT"])
def test_a_name_that_cannot_be_one_is_refused(ownership: SqlOwnership, name: str) -> None:
    with pytest.raises(BadThreadName, match="allowed: 1 to 200 printable"):
        ownership.claim_thread(name, "acme", "ana@acme")
    with pytest.raises(UnknownThread):
        ownership.owner(name)


def test_of_two_principals_one_gets_the_thread(ownership: SqlOwnership) -> None:
    def claim(principal: str) -> bool:
        try:
            ownership.claim_thread("T", "acme", principal)
        except UnknownThread:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claim, [f"user{number}@acme" for number in range(16)])) == 1


def test_a_thread_is_forgotten_in_its_own_tenant_alone(database: Database, ownership: SqlOwnership) -> None:
    marks = SqlForgotten(database.everyday, FakeClock())
    ownership.claim_thread("T", "acme", "ana@acme")
    marks.mark(THREAD, "globex", ["T"])
    assert ownership.forgotten_at("T") is None
    marks.mark(THREAD, "acme", ["T"])
    assert ownership.forgotten_at("T") == NOW
    with pytest.raises(UnknownThread):
        ownership.forgotten_at("N")
