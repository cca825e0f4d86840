"""What forgetting needs of the stores, on both engines: marks, erasing bodies, reading all records of a tenant."""

from graph.stores.artifacts import SqlArtifacts
from graph.stores.engine import Database
from graph.stores.forgotten import SUBJECT, THREAD, SqlForgotten
from graph.stores.ownership import SqlOwnership
from graph.stores.records import SqlDecisionLog
from tests.fakes import FakeClock
from tests.graph.stores.test_records import record

SECRET, BEFORE = b"a secret", b"the one before"


def test_a_mark_is_of_its_kind_and_tenant_and_may_be_set_again(database: Database) -> None:
    clock = FakeClock()
    marks, owners = SqlForgotten(database.everyday, clock), SqlOwnership(database.everyday, clock)
    owners.claim_thread("T", "t1", "ana@t1")
    assert owners.forgotten_at("T") is None
    for _ in range(2):
        clock.advance(60)
        marks.mark(THREAD, "t1", ["T", "U"])
    marks.mark(SUBJECT, "t2", [])
    assert marks.names(THREAD) == {("t1", "T"), ("t1", "U")}
    assert marks.names(SUBJECT) == frozenset()
    assert owners.forgotten_at("T") == clock.now()
    assert [owner.thread for owner in owners.of("ana@t1")] == ["T"]  # it stays whose it was


def test_bodies_are_erased_together_and_only_in_their_tenants_space(database: Database) -> None:
    store = SqlArtifacts(database.everyday, (SECRET, BEFORE))
    refs = store.put_all("t1", [f"text {n}" for n in range(1_200)])
    other = store.put("t2", "text 1")
    kept = refs[0]
    assert store.present("t1", [*refs, other]) == set(refs)
    assert store.erase("t1", [*refs[1:], other]) == 1_199
    assert store.present("t1", refs) == {kept}
    assert store.get("t2", other) == "text 1"
    assert store.erase("t1", refs[1:]) == 0


def test_a_text_has_an_address_of_each_secret(database: Database) -> None:
    old = SqlArtifacts(database.everyday, (BEFORE,)).put("t1", "text")
    store = SqlArtifacts(database.everyday, (SECRET, BEFORE))
    assert store.addresses("t1", "text") == (store.address("t1", "text"), old)


def test_every_record_of_a_tenant_is_read_a_page_at_a_time(database: Database) -> None:
    log = SqlDecisionLog(database.everyday)
    filed = {(f"T{n % 7}", log.append(record(n, None, f"T{n % 7}", "t1"))) for n in range(1_100)}
    log.append(record(0, None, "T1", "t2"))
    read = list(log.filed("t1"))
    assert len(read) == len(filed) == 1_100
    assert {thread for thread, _ in read} == {f"T{n}" for n in range(7)}
