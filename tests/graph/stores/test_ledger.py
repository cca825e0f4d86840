"""The contract of the port Ledger (H01): exactly one caller runs an effect, also across processes."""

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue
from sqlalchemy import select, update

from graph.stores.engine import Database, open_database
from graph.stores.ledger import SqlLedger
from graph.stores.schema import claims
from state.ports import Claim, Claimed, ClaimRefused, Ledger, RecordDamaged
from tests.fakes import NOW, FakeLedger, FakeSeal

CLAIM = Claim(
    key="k1",
    tenant="acme",
    thread="T",
    parent=None,
    ordinal=0,
    call_id="call-1",
    proposal_ref="art-p",
    tool="rotate_api_key",
    arguments_digest="d1",
    effect="write",
    opened_by="plan",
)


def like(**changes: str | int | None) -> Claim:
    return CLAIM.model_copy(update=changes)


@pytest.fixture
def ledger(place: Database | None) -> Ledger:
    return FakeLedger() if place is None else SqlLedger(place.durable, FakeSeal())


def test_the_first_claim_is_fresh_and_the_next_is_told(ledger: Ledger) -> None:
    assert ledger.claim(CLAIM, NOW) == Claimed(fresh=True, state="open")
    assert ledger.claim(CLAIM, NOW) == Claimed(fresh=False, state="open")
    ledger.close("k1", "done", "art-1")
    assert ledger.claim(CLAIM, NOW) == Claimed(fresh=False, state="done", result_ref="art-1")


def test_an_effect_was_begun_once_its_key_was_claimed(ledger: Ledger) -> None:
    assert not ledger.begun("k1")
    ledger.claim(CLAIM, NOW)
    assert ledger.begun("k1")
    assert not ledger.begun("k2")
    ledger.close("k1", "unknown", None)
    assert ledger.begun("k1")


@pytest.mark.parametrize("state", ["open", "done", "unknown"])
def test_a_step_of_a_plan_is_spent_once(ledger: Ledger, state: str) -> None:
    assert ledger.claim(like(slot=0), NOW).fresh
    if state != "open":
        ledger.close("k1", state, None)
    assert ledger.claim(like(key="k2", slot=0), NOW) == Claimed(fresh=False, state="spent")
    assert ledger.claim(like(slot=0), NOW) == Claimed(fresh=False, state=state)
    others = [like(key="k3", slot=1), like(key="k4", slot=0, opened_by="p2"), like(key="k5", slot=0, tool="pay")]
    assert [ledger.claim(claim, NOW).fresh for claim in others] == [True, True, True]


def test_what_a_person_approved_beyond_a_plan_spends_no_step(ledger: Ledger) -> None:
    assert [ledger.claim(like(key=key), NOW).fresh for key in ("k1", "k2")] == [True, True]


def test_a_done_effect_never_changes(ledger: Ledger) -> None:
    ledger.claim(CLAIM, NOW)
    ledger.close("k1", "done", "art-1")
    ledger.close("k1", "done", "art-1")
    for state, ref in (("done", "art-2"), ("unknown", "art-1"), ("unknown", None)):
        with pytest.raises(ClaimRefused, match="already done"):
            ledger.close("k1", state, ref)
    assert [(row.state, row.result_ref) for row in ledger.rows("acme", "T")] == [("done", "art-1")]


def test_an_unknown_effect_may_be_found_done(ledger: Ledger) -> None:
    ledger.claim(CLAIM, NOW)
    ledger.close("k1", "unknown", None)
    assert ledger.claim(CLAIM, NOW) == Claimed(fresh=False, state="unknown")
    ledger.close("k1", "done", "art-1")
    assert ledger.claim(CLAIM, NOW).state == "done"


def test_closing_needs_a_claim_and_a_state(ledger: Ledger) -> None:
    with pytest.raises(ClaimRefused, match="never claimed"):
        ledger.close("k1", "done", "art-1")
    ledger.claim(CLAIM, NOW)
    with pytest.raises(ClaimRefused, match="'done' or 'unknown'"):
        ledger.close("k1", "open", None)


@pytest.mark.parametrize(
    "other",
    [
        like(tenant="globex"),
        like(thread="U"),
        like(arguments_digest="d2"),
        like(tool="delete_api_key"),
        like(ordinal=1),
        like(parent="0" * 64),
        like(effect="egress"),
        like(proposal_ref="art-q"),
        like(opened_by="another plan"),
        like(opened_by=None),
    ],
)
def test_a_key_stands_for_one_effect(ledger: Ledger, other: Claim) -> None:
    ledger.claim(CLAIM, NOW)
    ledger.close("k1", "done", "art-of-acme")
    with pytest.raises(ClaimRefused) as refused:
        ledger.claim(other, NOW)
    assert "acme" not in str(refused.value).replace("globex", "")


@pytest.mark.parametrize("call_id", ["call\x00", "call\n1"])
def test_a_model_may_not_name_a_call_as_no_engine_stores_it(ledger: Ledger, call_id: str) -> None:
    with pytest.raises(ClaimRefused, match="do not print"):
        ledger.claim(like(call_id=call_id), NOW)
    assert ledger.rows("acme", "T") == ()


def test_a_call_may_be_named_anew(ledger: Ledger) -> None:
    ledger.claim(CLAIM, NOW)
    assert not ledger.claim(like(call_id="call-9"), NOW).fresh
    assert [row.claim.call_id for row in ledger.rows("acme", "T")] == ["call-1"]


def test_rows_are_a_threads_effects_in_order(ledger: Ledger) -> None:
    for key in ("k3", "k1", "k2"):
        ledger.claim(like(key=key), NOW)
    ledger.claim(like(key="k4", thread="U"), NOW)
    ledger.claim(like(key="k5", tenant="globex", opened_by=None), NOW)
    ledger.close("k1", "done", "art-1")
    rows = ledger.rows("acme", "T")
    assert [(row.claim.key, row.state, row.result_ref) for row in rows] == [
        ("k3", "open", None),
        ("k1", "done", "art-1"),
        ("k2", "open", None),
    ]
    assert rows[1].claim == CLAIM
    assert rows[1].at == NOW
    assert rows[1].at.utcoffset() == timedelta(0)
    assert [(row.claim.key, row.claim.opened_by) for row in ledger.rows("globex", "T")] == [("k5", None)]
    assert ledger.rows("acme", "elsewhere") == ()


@pytest.mark.parametrize(
    "change",
    [
        {"slot": 1},
        {"slot": None},
        {"effect": "read"},
        {"ordinal": 3},
        {"result_ref": None},
        {"state": "open"},
        {"state": "unknown", "result_ref": None},
        {"opened_by": "another plan"},
        {"parent": "0" * 64},
        {"call_id": "call-9"},
        {"key": "k9"},
        {"at": NOW + timedelta(days=1)},
        {"seal": None},
        {"seal": "test.00"},
    ],
    ids=lambda change: "-".join(change),
)
def test_a_row_that_was_changed_from_outside_is_trusted_by_nobody(
    database: Database, change: dict[str, object]
) -> None:
    ledger = SqlLedger(database.durable, FakeSeal())
    ledger.claim(like(slot=0), NOW)
    ledger.close("k1", "done", "art-1")
    with database.everyday.connect() as connection:
        connection.execute(update(claims).values(**change))
    told = "thread T: a row of its ledger is not as it was written, so no effect runs on it; run `agent verify`"
    for trusting in (
        lambda: ledger.rows("acme", "T"),
        lambda: ledger.claim(like(slot=0), NOW),
        lambda: ledger.claim(like(key="k2", slot=1), NOW),
    ):
        with pytest.raises(RecordDamaged, match=told):
            trusting()
    assert [row and row.intact for row in ledger.examined("acme", "T")] == [False]
    assert ledger.claim(like(key="k3", thread="U"), NOW).fresh


def test_a_row_that_was_changed_is_not_closed_over(database: Database) -> None:
    ledger = SqlLedger(database.durable, FakeSeal())
    ledger.claim(like(slot=0), NOW)
    with database.everyday.connect() as connection:
        connection.execute(update(claims).values(slot=1))
    with pytest.raises(RecordDamaged):
        ledger.close("k1", "done", "art-1")
    with database.everyday.connect() as connection:
        connection.exec_driver_sql("UPDATE expediente_claims SET slot = 0, at = 'yesterday'")
    assert ledger.examined("acme", "T") == (None,)


def test_of_two_that_close_an_effect_together_the_later_sees_what_the_first_said(database: Database) -> None:
    class Late(FakeSeal):
        """Another process closes the effect between this one's look and its change."""

        def sign(self, payload: Mapping[str, JsonValue]) -> str:
            made, others = super().sign(payload), list(closing)
            closing.clear()
            for state, ref in others:
                SqlLedger(database.durable, FakeSeal()).close("k1", state, ref)
            return made

    closing: list[tuple[str, str]] = []
    ledger = SqlLedger(database.durable, Late())
    ledger.claim(CLAIM, NOW)
    closing.append(("unknown", "art-1"))
    ledger.close("k1", "done", "art-2")
    assert [(row.state, row.result_ref) for row in ledger.rows("acme", "T")] == [("done", "art-2")]
    ledger.claim(like(key="k2"), NOW)
    with pytest.raises(ClaimRefused, match="already done"):
        ledger.close("k1", "unknown", "art-3")


def _claim_all(target: Path | str, keys: list[str]) -> list[str]:
    """In a process of its own: claim every key and say which were fresh."""
    database = open_database(target)
    try:
        ledger = SqlLedger(database.durable, FakeSeal())
        return [key for key in keys if ledger.claim(like(key=key), NOW).fresh]
    finally:
        database.close()


def test_of_many_processes_exactly_one_is_fresh(target: Path | str) -> None:
    """They also open the new database at the same time: one creates the schema, the others wait for it."""
    keys = [f"k{number}" for number in range(50)]
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        fresh = [key for won in pool.map(_claim_all, [target] * 6, [keys] * 6) for key in won]
    assert sorted(fresh) == sorted(keys)


def test_of_many_threads_exactly_one_is_fresh(database: Database) -> None:
    ledger = SqlLedger(database.durable, FakeSeal())
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: ledger.claim(like(key=f"k{number % 10}"), NOW).fresh, range(200)))
    assert sum(answers) == 10
    with database.everyday.connect() as connection:
        assert len(connection.execute(select(claims)).all()) == 10


def test_a_claim_is_on_disk_when_it_returns(database: Database) -> None:
    with database.durable.connect() as connection:
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        else:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
