"""A rotation happens once per effect, for the right person, on a key that can be rotated."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from state.tools import ToolError
from tests.domain.conftest import Call, Rows

KEYS_OF_BEA = "SELECT key_id, status, in_use, replaced_by FROM api_keys WHERE account_id = 'A-124' ORDER BY created_at"


def test_the_old_key_is_revoked_and_a_new_one_takes_its_place(call: Call, rows: Rows) -> None:
    (old_value,) = rows("SELECT value FROM api_keys WHERE key_id = 'K-1012'")
    done = call("bea@acme", "rotate_api_key", key_id="K-1012")
    new = done["new_key_id"]
    assert done == {
        "account_id": "A-124",
        "key_id": "K-1012",
        "new_key_id": new,
        "status": "rotated",
        "rotated_at": "2026-07-15T09:30:00Z",
    }
    assert rows(KEYS_OF_BEA) == [("K-1012", "revoked", 0, new), (new, "active", 1, None)]
    (new_value,) = rows("SELECT value FROM api_keys WHERE key_id = ?", new)
    assert new_value != old_value
    assert call("bea@acme", "check_api_key_status", account_id="A-124")["key_id"] == new
    assert call("bea@acme", "check_api_key_status", account_id="A-124", key_id="K-1012")["reason"] == "rotated"


def test_the_same_effect_gives_the_same_result_and_no_second_rotation(call: Call, rows: Rows) -> None:
    first = call("bea@acme", "rotate_api_key", key_id="K-1012")
    before = rows("SELECT * FROM api_keys ORDER BY key_id")
    assert call("bea@acme", "rotate_api_key", key_id="K-1012") == first
    assert rows("SELECT * FROM api_keys ORDER BY key_id") == before
    assert rows("SELECT count(*) FROM rotations") == [(1,)]


def test_the_same_effect_at_the_same_time_rotates_once(call: Call, rows: Rows) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: call("bea@acme", "rotate_api_key", key_id="K-1012"), range(16)))
    assert all(result == done[0] for result in done)
    assert len(rows(KEYS_OF_BEA)) == 2


def test_another_effect_on_the_same_key_is_refused(call: Call, rows: Rows) -> None:
    call("bea@acme", "rotate_api_key", key_id="K-1012")
    with pytest.raises(ToolError, match="already_rotated"):
        call("bea@acme", "rotate_api_key", effect="effect-2", key_id="K-1012")
    assert len(rows(KEYS_OF_BEA)) == 2


@pytest.mark.parametrize(("name", "key_id"), [("bea@acme", "K-1007"), ("omar@globex", "K-1012")])
def test_an_effects_key_is_bound_to_its_rotation(call: Call, rows: Rows, name: str, key_id: str) -> None:
    call("bea@acme", "rotate_api_key", key_id="K-1012")
    with pytest.raises(ToolError) as caught:
        call(name, "rotate_api_key", key_id=key_id)
    assert caught.value.code == "idempotency_key_reused"
    assert rows("SELECT count(*) FROM rotations") == [(1,)]


def test_an_effect_without_a_key_is_refused(call: Call, rows: Rows) -> None:
    with pytest.raises(ToolError, match="idempotency_key_missing"):
        call("bea@acme", "rotate_api_key", effect="", key_id="K-1012")
    assert rows("SELECT count(*) FROM rotations") == [(0,)]


@pytest.mark.parametrize(
    ("name", "key_id", "code"),
    [
        ("bea@acme", "K-2001", "not_found"),
        ("bea@acme", "K-9999", "not_found"),
        ("bea@acme", "K-1016", "not_rotatable"),
        ("omar@globex", "K-2002", "not_rotatable"),
        ("omar@globex", "K-1012", "not_found"),
        # Roles are checked before a tool runs; the rows of a customer end at the own account all the same.
        ("ana@acme", "K-1012", "not_found"),
    ],
)
def test_what_cannot_be_rotated_stays_as_it_is(call: Call, rows: Rows, name: str, key_id: str, code: str) -> None:
    before = rows("SELECT * FROM api_keys ORDER BY key_id")
    with pytest.raises(ToolError) as caught:
        call(name, "rotate_api_key", key_id=key_id)
    assert caught.value.code == code
    assert rows("SELECT * FROM api_keys ORDER BY key_id") == before


@pytest.mark.parametrize(
    ("name", "key_id"), [("bea@acme", "K-1007"), ("omar@globex", "K-2010"), ("bea@acme", "K-1015")]
)
def test_a_key_that_stopped_working_can_be_rotated(call: Call, rows: Rows, name: str, key_id: str) -> None:
    new = call(name, "rotate_api_key", key_id=key_id)["new_key_id"]
    assert rows("SELECT status, in_use FROM api_keys WHERE key_id = ?", new) == [("active", 1)]
    assert rows("SELECT status, in_use FROM api_keys WHERE key_id = ?", key_id) == [("revoked", 0)]


def test_a_key_that_was_revoked_before_keeps_its_reason(call: Call, rows: Rows) -> None:
    call("bea@acme", "rotate_api_key", key_id="K-1007")
    assert rows("SELECT reason, changed_at FROM api_keys WHERE key_id = 'K-1007'") == [
        ("reported_exposed", "2026-07-15T07:30:00Z")
    ]


def test_a_new_id_that_is_taken_is_passed_over(call: Call, rows: Rows) -> None:
    first = call("bea@acme", "rotate_api_key", key_id="K-1012")["new_key_id"]
    rows("DELETE FROM rotations")
    second = call("bea@acme", "rotate_api_key", key_id="K-1007")["new_key_id"]
    assert second == f"K-{(int(first[2:]) + 1) % 10_000:04d}"
