"""The contract of the port DecisionLog, and damage that only stored rows can have."""

import time
from collections.abc import Callable

import pytest
from sqlalchemy import insert, update

from graph.stores.engine import Database
from graph.stores.records import SqlDecisionLog
from graph.stores.schema import records
from state.canonical import canonical_json, digest
from state.ports import DecisionLog, RecordDamaged, RecordMissing
from state.record import DecisionRecord
from state.verdict import Denied
from state.work import LapOutcome
from tests.fakes import NOW, FakeDecisionLog


def record(index: int, parent: str | None, thread: str = "T", tenant: str = "acme", **fields: str) -> DecisionRecord:
    return DecisionRecord(
        parent=parent,
        tenant=tenant,
        thread=thread,
        principal="ana@acme",
        request_id=fields.get("request_id", f"req-{index}"),
        index=index,
        at=NOW,
        turn_ref="art-1",
        turn_index=0,
        decision=None,
        verdicts=(Denied(call_id="c\x00", rule="r", reason="¿no? 🔑", policy_version="1"),),
        outcome=LapOutcome.OBSERVED,
        task_hash="0" * 64,
    )


def filed(log: DecisionLog, count: int, thread: str = "T") -> list[str]:
    """A chain of that length; its hashes, oldest first."""
    hashes: list[str] = []
    for index in range(count):
        hashes.append(log.append(record(index, hashes[-1] if hashes else None, thread)))
    return hashes


@pytest.fixture
def log(place: Database | None) -> DecisionLog:
    return FakeDecisionLog() if place is None else SqlDecisionLog(place.everyday)


def test_a_record_comes_back_equal_under_its_hash(log: DecisionLog) -> None:
    given = record(0, None)
    assert log.append(given) == given.hash()
    assert log.get("acme", "T", given.hash()) == given


def test_appending_again_changes_nothing(log: DecisionLog) -> None:
    first, second = record(0, None), record(1, record(0, None).hash())
    log.append(first)
    log.append(second)
    assert log.append(first) == first.hash()
    assert log.chain("acme", "T", second.hash()) == (second, first)


@pytest.mark.parametrize("missing", ["0" * 64, "", "\x00", "\ud800", "x" * 10**6])
def test_what_is_not_there_is_missing(log: DecisionLog, missing: str) -> None:
    filed(log, 1)
    for ask in (log.get, log.chain):
        with pytest.raises(RecordMissing) as error:
            ask("acme", "T", missing)
        assert len(str(error.value)) < 600


def test_a_record_belongs_to_its_tenant_and_thread(log: DecisionLog) -> None:
    (head,) = filed(log, 1)
    for tenant, thread in (("globex", "T"), ("acme", "U")):
        with pytest.raises(RecordMissing):
            log.get(tenant, thread, head)
        with pytest.raises(RecordMissing):
            log.chain(tenant, thread, head)


def test_a_parent_must_be_in_the_same_chain(log: DecisionLog) -> None:
    (head,) = filed(log, 1)
    for orphan in (
        record(1, "0" * 64),
        record(1, head, thread="U"),
        record(1, head, tenant="globex"),
        record(1, "\x00"),
    ):
        with pytest.raises(RecordMissing):
            log.append(orphan)
        with pytest.raises(RecordMissing):
            log.get(orphan.tenant, orphan.thread, orphan.hash())


def test_a_chain_is_read_newest_first_and_stops_at_its_limit(log: DecisionLog) -> None:
    hashes = filed(log, 5)
    assert [one.index for one in log.chain("acme", "T", hashes[-1])] == [4, 3, 2, 1, 0]
    assert [one.index for one in log.chain("acme", "T", hashes[-1], limit=2)] == [4, 3]
    assert [one.index for one in log.chain("acme", "T", hashes[2], limit=9)] == [2, 1, 0]
    assert [one.index for one in log.chain("acme", "T", hashes[-1], limit=5)] == [4, 3, 2, 1, 0]
    assert log.chain("acme", "T", hashes[-1], limit=0) == ()
    assert log.chain("acme", "T", None) == ()


def test_two_branches_share_their_past(log: DecisionLog) -> None:
    root, left = filed(log, 2)
    right = log.append(record(1, root, request_id="req-other"))
    assert left != right
    assert log.chain("acme", "T", left)[1:] == log.chain("acme", "T", right)[1:] == (log.get("acme", "T", root),)


def test_the_names_are_those_of_every_branch_of_the_thread_alone(log: DecisionLog) -> None:
    first, second = filed(log, 2)
    branch = log.append(record(7, first))
    filed(log, 1, thread="another")
    assert log.names("acme", "T") == tuple(sorted((first, second, branch)))
    assert log.names("globex", "T") == log.names("acme", "nobody's") == ()


def test_the_bytes_of_records_are_read_together_and_what_is_not_there_is_left_out(log: DecisionLog) -> None:
    first, second = filed(log, 2)
    assert log.bodies("acme", "T", [second, "0" * 64, "\x00", first]) == {
        first: canonical_json(record(0, None)),
        second: canonical_json(record(1, first)),
    }
    assert log.bodies("globex", "T", [first]) == log.bodies("acme", "U", [first]) == log.bodies("acme", "T", []) == {}


def change_a_byte(database: Database, victim: str) -> None:
    with database.everyday.connect() as connection:
        body = canonical_json(record(1, record(0, None).hash())).replace(b'"index":1', b'"index":7')
        connection.execute(update(records).where(records.c.hash == victim).values(body=body))


def relink(database: Database, victim: str) -> None:
    with database.everyday.connect() as connection:
        connection.execute(update(records).where(records.c.hash == victim).values(parent=victim))


def move(database: Database, victim: str) -> None:
    """A whole, undamaged record of another thread, filed under this one's key."""
    foreign = canonical_json(record(1, record(0, None).hash(), thread="elsewhere"))
    with database.everyday.connect() as connection:
        connection.execute(
            update(records).where(records.c.hash == victim).values(body=foreign, hash=digest(foreign), parent=None)
        )


@pytest.mark.parametrize("damage", [change_a_byte, relink])
def test_damage_is_found_and_named(database: Database, damage: Callable[[Database, str], None]) -> None:
    log = SqlDecisionLog(database.everyday)
    hashes = filed(log, 3)
    damage(database, hashes[1])
    with pytest.raises(RecordDamaged, match=hashes[1]):
        log.get("acme", "T", hashes[1])
    for limit in (None, 2, 50):
        with pytest.raises(RecordDamaged, match=hashes[1]):
            log.chain("acme", "T", hashes[-1], limit)
    assert log.get("acme", "T", hashes[2]).index == 2


def test_a_record_under_foreign_keys_is_damage(database: Database) -> None:
    log = SqlDecisionLog(database.everyday)
    _, head = filed(log, 2)
    move(database, head)
    moved = record(1, record(0, None).hash(), thread="elsewhere").hash()
    with pytest.raises(RecordDamaged, match="not its own"):
        log.get("acme", "T", moved)


def test_a_shape_of_another_version_is_named(database: Database) -> None:
    body = canonical_json({"shape": "of another version"})
    with database.everyday.connect() as connection:
        row = {"tenant": "acme", "thread": "T", "hash": digest(body), "parent": None, "body": body}
        connection.execute(insert(records).values(row))
    with pytest.raises(RecordDamaged, match="this version does not know"):
        SqlDecisionLog(database.everyday).get("acme", "T", digest(body))


def test_a_long_chain_costs_what_its_end_costs(database: Database) -> None:
    """With 1,000 records below, reading the newest 8 takes about as long as with 20."""
    log = SqlDecisionLog(database.everyday)
    short, long = filed(log, 20, "short"), filed(log, 1_000, "long")

    def fastest(thread: str, head: str) -> float:
        def once() -> float:
            start = time.perf_counter()
            assert len(log.chain("acme", thread, head, limit=8)) == 8
            return time.perf_counter() - start

        return min(once() for _ in range(15))

    assert fastest("long", long[-1]) < 5 * fastest("short", short[-1])
    assert len(log.chain("acme", "long", long[-1])) == 1_000
