"""Reading and storing many at once: the same law as one at a time, in the fakes and on both engines."""

import pytest
from sqlalchemy import event

from graph.stores.artifacts import SqlArtifacts
from graph.stores.engine import Database
from graph.stores.records import SqlDecisionLog
from graph.stores.schema import artifacts as table
from state.ports import ArtifactGone, Artifacts, DecisionLog, RecordMissing
from tests.fakes import FakeArtifacts, FakeDecisionLog
from tests.graph.stores.test_records import record

SECRET = b"a master secret of thirty-two by"
NEVER = "art-" + "0" * 64


@pytest.fixture
def store(place: Database | None) -> Artifacts:
    return FakeArtifacts() if place is None else SqlArtifacts(place.everyday, (SECRET,))


@pytest.fixture
def log(place: Database | None) -> DecisionLog:
    return FakeDecisionLog() if place is None else SqlDecisionLog(place.everyday)


def test_texts_stored_together_have_the_addresses_of_texts_stored_alone(store: Artifacts) -> None:
    texts = ["one", "two \ud800", "", "one"]
    refs = store.put_all("acme", texts)
    assert refs == tuple(store.put("acme", text) for text in texts)
    assert refs == tuple(store.address("acme", text) for text in texts)
    assert store.get_all("acme", refs) == dict(zip(refs, ["one", "two \ufffd", "", "one"], strict=True))
    assert store.put_all("acme", []) == ()
    assert store.get_all("acme", []) == {}


def test_an_address_alone_stores_nothing(store: Artifacts) -> None:
    with pytest.raises(ArtifactGone):
        store.get("acme", store.address("acme", "text"))


@pytest.mark.parametrize("wrong", [NEVER, "", "\x00", "art-\ud800"])
def test_one_body_that_is_gone_is_named(store: Artifacts, wrong: str) -> None:
    ref = store.put("acme", "here")
    with pytest.raises(ArtifactGone):
        store.get_all("acme", [ref, wrong])
    with pytest.raises(ArtifactGone):
        store.get_all("globex", [ref])


def test_an_erased_body_is_stored_again(database: Database) -> None:
    """Nothing in the process remembers that it was there."""
    store = SqlArtifacts(database.everyday, (SECRET,))
    kept, erased = store.put_all("acme", ["kept", "erased"])
    with database.everyday.connect() as connection:
        connection.execute(table.delete().where(table.c.ref == erased))
    with pytest.raises(ArtifactGone):
        store.get_all("acme", [kept, erased])
    assert store.put_all("acme", ["kept", "erased"]) == (kept, erased)
    assert store.get_all("acme", [kept, erased]) == {kept: "kept", erased: "erased"}


def test_what_is_there_is_not_written(database: Database) -> None:
    store = SqlArtifacts(database.everyday, (SECRET,))
    store.put_all("acme", ["one", "two"])
    statements: list[str] = []
    event.listen(database.everyday, "before_cursor_execute", lambda *given: statements.append(given[2].split()[0]))
    store.put_all("acme", ["two", "one"])
    assert statements == ["SELECT"]
    store.put_all("acme", ["two", "three", "four"])
    assert [word for word in statements[1:] if word not in ("IMMEDIATE",)] == ["SELECT", "BEGIN", "INSERT", "COMMIT"]


def test_records_come_in_the_order_asked_for(log: DecisionLog) -> None:
    first = log.append(record(0, None))
    second = log.append(record(1, first))
    found = log.get_all("acme", "T", [second, first])
    assert [one.hash() for one in found] == [second, first]
    assert log.get_all("acme", "T", []) == ()
    for wrong in ("0" * 64, "no hash"):
        with pytest.raises(RecordMissing):
            log.get_all("acme", "T", [first, wrong])
    with pytest.raises(RecordMissing):
        log.get_all("globex", "T", [first])
