"""Forgetting (X7) on real stores: a subject's words are in the bytes before and nowhere after; others' stay proved."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from graph.app import App
from graph.domain_loading import load_domain
from graph.forgetting import forget as forgetting
from graph.forgetting import shred
from graph.forgetting.forget import TenantNeeded
from graph.forgetting.shred import ON_SERVER
from graph.inspection.replay import replay
from graph.inspection.tree import tree
from graph.inspection.verify import verify
from graph.scope import UnknownPrincipal
from graph.stores.artifacts import SqlArtifacts
from graph.stores.lease import ThreadBusy
from graph.stores.ownership import ThreadForgotten, UnknownThread
from retrieval.memory import StoreMemory, namespace
from state.work import Status
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp, on_both_engines
from tests.graph.erasing import OWN, OWN_MEMORY, SHARED, bodies, everything, holding, memory, two_people, untouched


@on_both_engines
def test_a_subjects_words_are_nowhere_afterwards_and_the_chain_holds(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    app = two_people(start)
    records = tree(app, "anas", as_="ana@acme").records
    for words in ("zanzibar-7", OWN_MEMORY):
        assert holding(words, home, database_url)

    done = app.forgetting.subject("ana@acme")

    for words in ("zanzibar", OWN_MEMORY):
        assert holding(words, home, database_url) == []
    assert done.threads == ("anas", "anas-too")
    assert done.memories == 1
    assert done.checkpoints > 20
    assert {"turns", "proposals", "results", "snapshots", "items"} <= done.bodies.keys()
    assert done.shared > 0  # the words that bea said too, and what both were told of the account's documents
    assert done.left == ((ON_SERVER,) if database_url else ())

    found = verify(app, "anas", as_="ana@acme")
    assert found.sound
    assert found.records == len(records)
    assert "decision 0: the user's turn" in found.erased
    assert tree(app, "anas", as_="ana@acme").records == records
    gone = replay(app, "anas", 0, as_="ana@acme")
    assert (gone.proved, gone.rebuilt) == (False, None)
    assert "objective (turn://1)" in gone.gone
    assert "runbook/api-keys@v7#revoked-keys" not in " ".join(gone.gone)  # a document is no subject's
    history = app.history("anas", as_="ana@acme")
    assert history.decisions[0].question is None
    assert all(decision.proposal is None for decision in history.decisions)
    assert (history.status, history.answer) == (Status.ANSWERED, None)
    assert "forgotten on 2026-07-15" in (history.error or "")

    untouched(app, "beas", "bea@acme")
    untouched(app, "omars", "omar@globex")
    (call,) = app.result("beas", as_="bea@acme").pending  # what waited still waits, and can be answered
    assert app.resume("beas", as_="bea@acme", answers={call.call_id: "approve"}).status is Status.ANSWERED


@on_both_engines
def test_what_was_forgotten_stays_so(start: OpenApp, home: Path, database_url: str | None) -> None:
    app = two_people(start)
    app.forgetting.subject("ana@acme")
    with pytest.raises(ThreadForgotten, match="start another thread"):
        app.ask("Hello?", as_="ana@acme", thread="anas")
    for stranger in ("omar@globex", "bea@acme"):
        with pytest.raises(UnknownThread) as refused:
            app.ask("Hello?", as_=stranger, thread="anas")
        assert str(refused.value) == str(UnknownThread("anas"))
    again = start()  # a new process: it seeds memories
    assert holding(OWN_MEMORY, home, database_url) == []
    assert again.forgetting.subject("ana@acme").nothing
    again.ask(OWN, as_="ana@acme", thread="another")
    assert again.forgetting.subject("ana@acme").threads == ("another",)
    assert holding("zanzibar", home, database_url) == []


@on_both_engines
def test_an_accounts_memories_go_from_every_thread_that_was_shown_them(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    app = start()
    app.ask(SHARED, as_="ana@acme", thread="anas")
    app.ask(SHARED, as_="bea@acme", thread="beas")
    item = next(item for item in items(app, "anas", "ana@acme") if item.item_id == "mem-key-created")
    assert "was created on" in app.ports.artifacts.get("acme", item.ref)
    done = app.forgetting.subject("A-123")
    assert (done.threads, done.memories, done.bodies["memories"]) == ((), 4, 1)
    assert holding("K-1007 was created on", home, database_url) == []
    assert verify(app, "anas", as_="ana@acme").erased[0] == "decision 0: the item mem-key-created"
    assert replay(app, "anas", 0, as_="ana@acme").gone == ("mem-key-created (memory://mem-key-created)",)
    untouched(app, "beas", "bea@acme")
    assert app.ask(SHARED, as_="ana@acme", thread="anas").status is Status.ANSWERED


def test_a_file_that_somebody_reads_is_named_as_left(
    start: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shred, "BUSY_TIMEOUT_S", 0.2)
    app = two_people(start)
    with closing(sqlite3.connect(home / "checkpoints.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM checkpoints").fetchone()
        (left,) = app.forgetting.subject("ana@acme").left
    assert "checkpoints.db: erased bytes may still lie in it" in left
    assert app.forgetting.subject("ana@acme").left == ()
    assert holding("zanzibar", home, None) == []


def recalled(app: App, thread: str, as_: str) -> bool:
    """Whether the memory of these tests was a candidate there, shown in the end or not."""
    made = [one.manifest for one in app.records(thread, as_=as_) if one.manifest]
    candidates = [(*(item.item_id for item in one.items), *(out.item_id for out in one.dropped)) for one in made]
    return any("mem-1" in ids for ids in candidates)


def items(app: App, thread: str, as_: str) -> list[Any]:
    return [item for one in app.records(thread, as_=as_) if one.manifest for item in one.manifest.items]


@on_both_engines
def test_a_dry_run_says_the_same_and_changes_nothing(start: OpenApp, home: Path, database_url: str | None) -> None:
    app = two_people(start)
    before = everything(home, database_url)
    would = app.forgetting.subject("ana@acme", dry_run=True)
    assert everything(home, database_url) == before
    done = app.forgetting.subject("ana@acme")
    assert would.model_copy(update={"dry_run": False, "left": done.left}) == done


Step = tuple[Any, str]
STEPS: list[Step] = [
    (SqlArtifacts, "erase"),
    (BaseCheckpointSaver, "delete_thread"),
    (StoreMemory, "remove"),
    (forgetting, "shredded"),
]


@pytest.mark.parametrize(("where", "name"), STEPS, ids=[name for _, name in STEPS])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_one_that_is_cut_off_is_finished_by_the_next(
    start: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, late: bool
) -> None:
    app = two_people(start)
    owner = type(app.graph.checkpointer) if where is BaseCheckpointSaver else where
    whole: Callable[..., Any] = getattr(owner, name)

    def cut_off(*given: Any, **named: Any) -> Any:
        if late:
            done = whole(*given, **named)
            list(done) if name == "shredded" else None
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, cut_off)
        with pytest.raises(KeyboardInterrupt):
            app.forgetting.subject("ana@acme")
    start().forgetting.subject("ana@acme")
    for words in ("zanzibar", OWN_MEMORY):
        assert holding(words, home, None) == []
    assert verify(app, "anas", as_="ana@acme").sound
    untouched(app, "beas", "bea@acme")


def test_while_a_run_is_on_a_thread_nothing_is_erased(start: OpenApp, home: Path) -> None:
    app = two_people(start)
    with app._run_lock.holding("anas-too"), pytest.raises(ThreadBusy):
        app.forgetting.subject("ana@acme")
    assert verify(app, "anas", as_="ana@acme").erased == ()
    app.forgetting.subject("ana@acme")
    assert holding("zanzibar", home, None) == []


def test_the_last_who_shares_a_body_takes_it_along(start: OpenApp, home: Path) -> None:
    app = start()
    app.ask(f"zanzibar: {SHARED}", as_="ana@acme", thread="anas")
    app.ask(f"zanzibar: {SHARED}", as_="bea@acme", thread="beas")
    app.forgetting.subject("ana@acme")
    assert holding("zanzibar", home, None)
    untouched(app, "beas", "bea@acme")
    app.forgetting.subject("bea@acme")
    assert holding("zanzibar", home, None) == []


@on_both_engines
def test_a_turn_of_the_same_words_as_a_memory_stays_its_speakers(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    """A body's address is made of its words alone, whatever it is."""
    app = start()
    kept = memory("acme", "A-123", f"zanzibar. {SHARED}")
    app.ports.memory.add(kept)
    app.ask(kept.shown(), as_="bea@acme", thread="beas")
    app.ask(SHARED, as_="ana@acme", thread="anas")  # who is shown it as the memory that it is
    assert recalled(app, "anas", "ana@acme")
    for subject in ("A-123", "ana@acme"):
        app.forgetting.subject(subject)
        untouched(app, "beas", "bea@acme")
        assert app.records("beas", as_="bea@acme")[0].question == kept.shown()
    app.forgetting.subject("bea@acme")
    assert holding("zanzibar", home, database_url) == []


@on_both_engines
def test_another_subjects_memory_of_the_same_words_stays(start: OpenApp, home: Path, database_url: str | None) -> None:
    app = start()
    for subject in ("ana@acme", "bea@acme"):
        app.ports.memory.add(memory("acme", subject, "zanzibar"))
        app.ask(SHARED, as_=subject, thread=subject)
        assert recalled(app, subject, subject)
    done = app.forgetting.subject("ana@acme")
    assert (done.memories, done.bodies.get("memories")) == (2, 1)  # one was seeded
    untouched(app, "bea@acme", "bea@acme")
    app.forgetting.subject("bea@acme")
    assert holding("zanzibar", home, database_url) == []


@on_both_engines
def test_a_turn_of_the_same_words_as_a_manifest_hides_nothing_of_what_that_names(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    wide = tuple(policy.model_copy(update={"max_input_chars": 100_000}) for policy in domain.policies)
    app = start(domain=replace(domain, policies=wide))
    app.ask(SHARED, as_="bea@acme", thread="b")
    own = {item.ref for item in items(app, "b", "bea@acme") if item.source.startswith("toolrun://")}
    assert own
    for record in app.ports.log.get_all("acme", "b", app.ports.log.names("acme", "b")):
        if record.manifest_ref:  # the threads are looked through in the order of their names
            app.ask(app.ports.artifacts.get("acme", record.manifest_ref), as_="bea@acme", thread="a")
    app.forgetting.subject("bea@acme")
    assert not own & bodies(app)


@on_both_engines
def test_a_memory_that_nobody_can_read_goes_with_whose_place_it_lies_in(
    start: OpenApp, home: Path, database_url: str | None
) -> None:
    app = start()
    store: BaseStore = app.ports.memory._store  # type: ignore[attr-defined]  # what a broken program would write
    whole = memory("acme", "bea@acme", "zanzibar").model_dump(mode="json")
    place = namespace("acme", "bea@acme")
    store.put(place, "no-subject", {name: whole[name] for name in whole if name != "subject"})
    store.put(place, "no-text", {"subject": "bea@acme", "tenant": "acme", "words": "zanzibar"})
    store.put(place, "misfiled", whole | {"subject": "somebody"})
    store.put((*place, "below"), "below", whole)
    would = app.forgetting.subject("bea@acme", dry_run=True)
    assert app.forgetting.subject("bea@acme").memories == would.memories == 4
    assert holding("zanzibar", home, database_url) == []
    assert app.forgetting.subject("bea@acme").memories == 0


@on_both_engines
def test_calls_that_wait_on_a_forgotten_thread_are_told(start: OpenApp) -> None:
    app = start()
    app.ask("Rotate my key", as_="bea@acme", thread="waits")
    (call,) = app.ask("Rotate my key", as_="bea@acme", thread="waited").pending
    app.resume("waited", as_="bea@acme", answers={call.call_id: "reject"})
    assert app.forgetting.subject("bea@acme", dry_run=True).waiting == {"waits": 1}
    assert app.forgetting.subject("bea@acme").waiting == {"waits": 1}
    assert app.forgetting.subject("bea@acme").waiting == {}


def test_another_tenants_subject_of_that_name_is_not_touched(start: OpenApp, home: Path) -> None:
    app = start()
    for tenant in ("acme", "globex"):
        app.ports.memory.add(memory(tenant, "U-1", f"zanzibar of {tenant}"))
    with pytest.raises(TenantNeeded, match="allowed: one of acme, globex"):
        app.forgetting.subject("U-1")
    assert app.forgetting.subject("U-1", "acme").memories == 1
    assert holding("zanzibar of acme", home, None) == []
    assert holding("zanzibar of globex", home, None)


def test_of_a_stranger_nothing_is_kept(start: OpenApp) -> None:
    app = start()
    stranger = app.forgetting.subject("nobody@acme")
    assert (stranger.nothing, stranger.known) == (True, False)
    with pytest.raises(UnknownPrincipal):
        app.ask(SHARED, as_="nobody@acme")
