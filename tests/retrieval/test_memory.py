"""Memory: the four checks, H14, and that nothing of others ever shows."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore
from pydantic import ValidationError

from retrieval.memory import StoreMemory, namespace
from state.context import DropReason
from state.memory import MemoryRecord, MemorySource
from state.run import Principal, Scope

NOW = datetime(2026, 10, 2, tzinfo=UTC)
LATER = NOW + timedelta(days=30)
TEN = datetime(2026, 11, 29, 10, tzinfo=UTC)


def scope(*subjects: str, tenant: str = "t1") -> Scope:
    ana = Principal(name="ana@t1", tenant=tenant, roles=(), subjects=subjects)
    return Scope(principal=ana, actor=ana, thread="T")


def record(memory_id: str, text: str = "text", expires_at: datetime = LATER, **given: object) -> MemoryRecord:
    fields = {"subject": "u1", "tenant": "t1", "purpose": "support", "source": "system_record", "source_ref": "db://1"}
    return MemoryRecord.model_validate(
        {**fields, "memory_id": memory_id, "text": text, "basis": "contract", "created_at": NOW - timedelta(days=3)}
        | {"expires_at": expires_at}
        | given
    )


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url").replace("postgresql+psycopg", "postgresql")
        with PostgresStore.from_conn_string(url) as on_server:
            on_server.setup()
            yield on_server
        return
    with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as opened:
        opened.setup()
        yield opened


@pytest.fixture
def memory(store: BaseStore) -> StoreMemory:
    return StoreMemory(store)


def test_the_known_answer(memory: StoreMemory) -> None:
    memory.add(record("created", "Key created 3 days ago"))
    memory.add(record("short", "Prefers short answers", source="model_inferred"))
    memory.add(record("card", "Card ends 4242", purpose="billing"))
    memory.add(record("other", "Another user's key", subject="u2"))
    memory.add(record("plan", "Old plan: Free", expires_at=NOW))
    memory.add(record("rumour", "Somebody said so", source="unknown"))
    recalled = memory.recall(scope("u1"), "support", NOW)
    assert [one.text for one in recalled.facts] == ["Key created 3 days ago"]
    assert [one.text for one in recalled.hypotheses] == ["Prefers short answers"]
    assert recalled.excluded == (
        ("card", DropReason.OTHER_PURPOSE),
        ("plan", DropReason.EXPIRED),
        ("rumour", DropReason.UNKNOWN_SOURCE),
    )


def test_what_the_user_stated_is_a_fact(memory: StoreMemory) -> None:
    memory.add(record("said", source="user_stated"))
    assert [one.memory_id for one in memory.recall(scope("u1"), "support", NOW).facts] == ["said"]


def test_m6_another_subject_or_tenant_shows_nowhere_not_even_as_an_id(memory: StoreMemory, store: BaseStore) -> None:
    for subject, tenant in itertools.product(["u1", "u10", "u2", "u_", "u1.x"], ["t1", "t10", "t2"]):
        for purpose, source in itertools.product(["support", "billing"], ["system_record", "unknown"]):
            name = f"{tenant}/{subject}/{purpose}/{source}"
            memory.add(record(name, subject=subject, tenant=tenant, purpose=purpose, source=source))
            memory.add(record(f"{name}/old", NOW.isoformat(), NOW, subject=subject, tenant=tenant, purpose=purpose))
    # Someone else's record that was put into this place, and a place below it.
    store.put(namespace("t1", "u1"), "misfiled", record("misfiled", subject="u2").model_dump(mode="json"))
    store.put(namespace("t1", "u1"), "foreign", record("foreign", tenant="t2").model_dump(mode="json"))
    store.put((*namespace("t1", "u1"), "below"), "below", record("below").model_dump(mode="json"))
    recalled = memory.recall(scope("u1"), "support", NOW)
    shown = {one.memory_id for one in (*recalled.facts, *recalled.hypotheses)} | {name for name, _ in recalled.excluded}
    assert len(shown) == 8
    assert all(name.startswith("t1/u1/") for name in shown)


def test_only_the_scopes_own_subjects_are_read(memory: StoreMemory) -> None:
    for subject in ("u1", "A-123", "u2"):
        memory.add(record(subject, subject=subject))
    recalled = memory.recall(scope("u1", "A-123", "u1"), "support", NOW)
    assert [one.memory_id for one in recalled.facts] == ["A-123", "u1"]
    assert memory.recall(scope(), "support", NOW).facts == ()
    assert memory.recall(scope("u1", tenant="t2"), "support", NOW).facts == ()


@pytest.mark.parametrize(("second", "there"), [(-1, True), (0, False), (1, False)])
def test_h14_a_memory_is_out_at_exactly_its_end(memory: StoreMemory, second: int, there: bool) -> None:
    memory.add(record("m", expires_at=TEN.astimezone(timezone(timedelta(hours=5)))))
    recalled = memory.recall(scope("u1"), "support", TEN + timedelta(seconds=second))
    assert bool(recalled.facts) is there
    assert recalled.excluded == (() if there else (("m", DropReason.EXPIRED),))


@pytest.mark.parametrize("expires_at", ["2026-11-29T10:00:00", "soon", None])
def test_h14_a_naive_or_unreadable_end_is_refused_on_write(expires_at: str | None) -> None:
    with pytest.raises(ValidationError, match="expires_at"):
        record("m", expires_at=expires_at)  # type: ignore[arg-type]  # the wrong type is the point


@pytest.mark.parametrize("expires_at", ["2026-11-29T10:00:00", "soon", None, 17, "", [], "2026-13-40T00:00:00Z", True])
def test_h14_stored_rubbish_is_excluded_and_no_error(memory: StoreMemory, store: BaseStore, expires_at: object) -> None:
    value = record("m").model_dump(mode="json") | {"expires_at": expires_at}
    store.put(namespace("t1", "u1"), "m", value)
    store.put(namespace("t1", "u1"), "n", {key: value[key] for key in value if key != "expires_at"})
    for second in (-1, 0, 1):
        recalled = memory.recall(scope("u1"), "support", TEN + timedelta(seconds=second))
        assert (recalled.facts, recalled.hypotheses) == ((), ())
        assert recalled.excluded == (("m", DropReason.INVALID_EXPIRY), ("n", DropReason.INVALID_EXPIRY))


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"source": "hearsay"}, DropReason.UNKNOWN_SOURCE),
        ({"source": ["system_record"]}, DropReason.UNKNOWN_SOURCE),
        ({"source_ref": ""}, DropReason.UNKNOWN_SOURCE),
        ({"text": "x" * 401}, DropReason.MALFORMED),
        ({"text": None}, DropReason.MALFORMED),
        ({"created_at": "2026-11-29T10:00:00"}, DropReason.MALFORMED),
        ({"extra": 1}, DropReason.MALFORMED),
        ({"purpose": {}}, DropReason.OTHER_PURPOSE),
    ],
)
def test_a_damaged_record_is_excluded_with_a_reason(
    memory: StoreMemory, store: BaseStore, broken: dict[str, object], reason: DropReason
) -> None:
    store.put(namespace("t1", "u1"), "m", record("m").model_dump(mode="json") | broken)
    assert memory.recall(scope("u1"), "support", NOW).excluded == (("m", reason),)


def test_an_end_at_the_edge_of_the_calendar_is_compared_all_the_same(memory: StoreMemory, store: BaseStore) -> None:
    value = record("m").model_dump(mode="json")
    store.put(namespace("t1", "u1"), "first", value | {"expires_at": "0001-01-01T00:00:00+14:00"})
    store.put(namespace("t1", "u1"), "last", value | {"expires_at": "9999-12-31T23:59:59-14:00"})
    recalled = memory.recall(scope("u1"), "support", NOW)
    assert (len(recalled.facts), recalled.excluded) == (1, (("first", DropReason.EXPIRED),))


def test_the_checks_are_made_in_order(memory: StoreMemory) -> None:
    memory.add(record("purpose first", expires_at=NOW, purpose="billing", source="unknown"))
    memory.add(record("then the end", expires_at=NOW, source="unknown"))
    assert memory.recall(scope("u1"), "support", NOW).excluded == (
        ("purpose first", DropReason.OTHER_PURPOSE),
        ("then the end", DropReason.EXPIRED),
    )


def test_every_record_is_read_however_many_there_are(memory: StoreMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.memory.PAGE", 7)
    for number in range(60):
        memory.add(record(f"{number:04}", subject="u10" if number % 2 else "u1"))
    recalled = memory.recall(scope("u1"), "support", NOW)
    assert (len(recalled.facts), recalled.excluded_by_reason) == (20, {DropReason.OVER_LIMIT: 10})


def test_facts_come_newest_first_and_a_second_write_replaces(memory: StoreMemory) -> None:
    memory.add(record("old", created_at="2026-01-01T00:00:00Z"))
    memory.add(record("b"))
    memory.add(record("a", "first"))
    memory.add(record("a", "second"))
    assert [(m.memory_id, m.text) for m in memory.recall(scope("u1"), "support", NOW).facts] == [
        ("a", "second"),
        ("b", "text"),
        ("old", "text"),
    ]


def test_what_shares_most_with_the_question_comes_first_then_the_newest(memory: StoreMemory) -> None:
    memory.add(
        record("a", "Exports run at two in the morning", created_at="2026-01-01T00:00:00Z"),
        record("b", "Prefers short answers"),
        record("c", "Exports are sent to the warehouse in Valencia", source="user_stated"),
        record("d", "Reads exports on Mondays", source="model_inferred"),
    )
    recalled = memory.recall(scope("u1"), "support", NOW, "When do our exports run in the morning?")
    assert [one.memory_id for one in recalled.facts] == ["a", "c", "b"]
    assert [one.memory_id for one in recalled.hypotheses] == ["d"]
    assert recalled.relevance["b"] == 0
    assert recalled.relevance["a"] > recalled.relevance["c"] > 0


def test_of_ten_thousand_the_exclusions_are_counted_and_the_most_relevant_twenty_listed(store: BaseStore) -> None:
    memory = StoreMemory(store)
    memory.add(*(record(f"m{n:05}", f"word{n} rest", NOW if n % 2 else LATER) for n in range(10_000)))
    recalled = memory.recall(scope("u1"), "support", NOW, "word7 word9999")
    assert recalled.excluded_by_reason == {DropReason.EXPIRED: 5_000, DropReason.OVER_LIMIT: 4_980}
    assert (len(recalled.facts), len(recalled.excluded)) == (20, 20)
    assert dict(recalled.excluded)["m00007"] == dict(recalled.excluded)["m09999"] == DropReason.EXPIRED


def test_what_another_process_writes_or_removes_is_seen_at_once(store: BaseStore) -> None:
    here, there = StoreMemory(store), StoreMemory(store)
    here.add(record("a"), record("b"))
    assert len(here.recall(scope("u1"), "support", NOW).facts) == 2
    there.remove("t1", "u1", ["a"])
    assert [one.memory_id for one in here.recall(scope("u1"), "support", NOW).facts] == ["b"]
    there.add(record("b", "second"))
    assert [one.text for one in here.recall(scope("u1"), "support", NOW).facts] == ["second"]


def test_what_is_due_for_review_is_out_until_it_is_confirmed(memory: StoreMemory) -> None:
    memory.add(record("m", expires_at=TEN + timedelta(days=1), review_at=TEN.isoformat()))
    before = memory.recall(scope("u1"), "support", TEN - timedelta(seconds=1))
    assert (len(before.facts), before.excluded) == (1, ())
    assert memory.recall(scope("u1"), "support", TEN).excluded == (("m", DropReason.REVIEW_DUE),)


def test_h15_of_one_topic_one_record_stands_the_best_source_first_then_the_newest(memory: StoreMemory) -> None:
    memory.add(
        record("contact-1", about="contact", source="user_stated", created_at="2026-01-01T00:00:00Z"),
        record("contact-2", about="contact", source="user_stated"),
        record("contact-3", about="contact", source="model_inferred"),
        record("window", about="window", created_at="2026-01-01T00:00:00Z"),
        record("said", about="window", source="user_stated"),
        record("other", about="contact", source="user_stated", subject="u2"),
    )
    recalled = memory.recall(scope("u1"), "support", NOW)
    assert {one.memory_id for one in recalled.facts} == {"contact-2", "window"}
    assert recalled.hypotheses == ()
    assert recalled.excluded == tuple((name, DropReason.SUPERSEDED) for name in ("contact-1", "contact-3", "said"))


def test_a_seed_that_was_replaced_stays_so_and_one_that_was_changed_is_written_anew(memory: StoreMemory) -> None:
    first = record("seed", "before")
    memory.seed([first, record("other")])
    memory.add(first.model_copy(update={"superseded_by": "new"}), record("new", "after"))
    memory.seed([first, record("other", "in another release")])
    assert sorted(one.text for one in memory.recall(scope("u1"), "support", NOW).facts) == [
        "after",
        "in another release",
    ]


def test_names_with_dots_have_places_of_their_own() -> None:
    places = {namespace("t", subject) for subject in ("a.b", "a%2Eb", "a%252Eb", "a-b")}
    assert len(places) == 4
    assert not any("." in label for place in places for label in place)
    with pytest.raises(ValueError, match="none may be empty"):
        namespace("t", "")


def test_a_record_that_is_recalled_is_the_one_that_was_written(memory: StoreMemory) -> None:
    written = record("m", source=MemorySource.USER_STATED)
    memory.add(written)
    assert memory.recall(scope("u1"), "support", NOW).facts == (written,)


def test_what_is_kept_of_a_subject_can_be_listed_and_removed(store: BaseStore, memory: StoreMemory) -> None:
    for subject in ("ana@t.1", "ana@t.10", "u1"):
        memory.add(record("m1", subject=subject))
    memory.add(record("m2", subject="ana@t.1", purpose="other", expires_at=NOW - timedelta(days=1)))
    place = namespace("t1", "ana@t.1")
    store.put(place, "m3", {"tenant": "t1", "subject": "ana@t.1", "text": "spoilt"})
    store.put(place, "m4", {"words": "without a subject"})
    store.put(place, "m5", record("m5", subject="somebody").model_dump(mode="json"))
    store.put((*place, "below"), "m6", {})
    assert set(memory.subjects()) == {("t1", "ana@t.1"), ("t1", "ana@t.10"), ("t1", "u1")}
    kept = dict(memory.of("t1", "ana@t.1"))
    assert kept.keys() == {"m1", "m2", "m3", "m4", "m5", "m6"}
    assert {memory_id for memory_id, read in kept.items() if read} == {"m1", "m2"}
    memory.remove("t1", "ana@t.1", [*kept, "never there"])
    assert memory.of("t1", "ana@t.1") == ()
    assert [memory_id for memory_id, _ in memory.of("t1", "ana@t.10")] == ["m1"]
