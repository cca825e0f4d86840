"""Replay (M4) on real stores: the bytes that were sent, rebuilt from the record alone."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graph.app import App
from graph.domain_loading import load_domain
from graph.inspection.finding import NoSuchDecision
from graph.inspection.replay import replay
from graph.models.adapter import ChatModelAdapter
from graph.models.offline import OfflineReader
from graph.stores.ownership import UnknownThread
from state.context import RequestSettings
from state.request import AttemptOutcome, ModelError, Reply, Request
from state.work import Status
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, OpenApp

QUESTION = "Why is my API key not working?"


class Keeping:
    """The offline reader, which keeps the bytes it was handed; it says that some requests are too long."""

    name = "keeping"

    def __init__(self, too_long: Sequence[int] = ()) -> None:
        self.sent: list[bytes] = []
        self._too_long = too_long
        self._reader = ChatModelAdapter(OfflineReader(), "offline")

    def reply(self, request: Request) -> Reply:
        self.sent.append(request.canonical_bytes())
        if len(self.sent) - 1 in self._too_long:
            raise ModelError(AttemptOutcome(name="context_too_long"))
        return self._reader.reply(request)

    async def areply(self, request: Request) -> Reply:
        return self.reply(request)


def rebuilt(app: App, thread: str = "t", as_: str = "ana@acme") -> list[bytes]:
    """The bytes of every attempt of a thread, in order, each proved by its hash."""
    found = []
    for decision in app.records(thread, as_=as_):
        for number in range(len(decision.attempts)):
            again = replay(app, thread, decision.index, as_=as_, attempt=number)
            assert again.proved
            assert again.request is not None
            found.append(again.request.canonical_bytes())
    return found


def test_every_attempt_is_rebuilt_to_the_byte(start: OpenApp) -> None:
    model = Keeping()
    app = start(model=model)
    app.ask(QUESTION, as_="ana@acme", thread="t")
    app.ask("Which plan am I on?", as_="ana@acme", thread="t")
    assert len(model.sent) >= 3
    assert rebuilt(app) == model.sent


def test_an_attempt_that_was_too_long_is_rebuilt_from_its_own_manifest(start: OpenApp, home: Path) -> None:
    """The lap went back to pack: its two attempts were made from two manifests."""
    model = Keeping(too_long=[0])
    domain = load_domain("domain", home / "domain", FakeClock(NOW))
    # No evidence is asked for, so that the smaller request is a sufficient one.
    specs = tuple(spec.model_copy(update={"min_citations": 0}) for spec in domain.table.specs)
    app = start(model=model, domain=replace(domain, table=domain.table.model_copy(update={"specs": specs})))
    app.ask(QUESTION, as_="ana@acme", thread="t")
    first = app.records("t", as_="ana@acme")[0]
    assert [attempt.outcome.name for attempt in first.attempts] == ["context_too_long", "proposal"]
    assert len({attempt.manifest_ref for attempt in first.attempts}) == 2
    assert rebuilt(app) == model.sent
    assert model.sent[0] != model.sent[1]


def test_a_decision_that_waits_and_its_resumed_run_are_rebuilt(start: OpenApp) -> None:
    model = Keeping()
    app = start(model=model)
    (call,) = app.ask("Rotate my key", as_="bea@acme", thread="t").pending
    assert rebuilt(app, as_="bea@acme") == model.sent
    assert app.resume("t", as_="bea@acme", answers={call.call_id: "approve"}).status is Status.ANSWERED
    assert rebuilt(app, as_="bea@acme") == model.sent


def test_newer_documents_policy_instructions_and_tools_do_not_change_what_was_sent(start: OpenApp, home: Path) -> None:
    model = Keeping()
    start(model=model).ask(QUESTION, as_="ana@acme", thread="t")
    clock = FakeClock(NOW)
    domain = load_domain("domain", home / "domain", clock)
    corpus = home / "rewritten"
    corpus.mkdir()
    for page in domain.corpus.glob("*.md"):
        written = page.read_text(encoding="utf-8").replace("key", "credential")
        (corpus / page.name).write_text(written, encoding="utf-8")
    rewritten = replace(
        domain,
        corpus=corpus,
        instructions=tuple(
            section.model_copy(update={"text": "Say nothing.", "version": "9"}) for section in domain.instructions
        ),
        policies=tuple(policy.model_copy(update={"max_decisions": 3}) for policy in domain.policies),
        tools=tuple(
            replace(tool, contract=tool.contract.model_copy(update={"description": "Another tool."}))
            for tool in domain.tools
        ),
        memories=(),
    )
    later = start(domain=rewritten, clock=clock)
    assert rebuilt(later) == model.sent


def test_an_erased_body_is_named_and_never_a_silent_difference(start: OpenApp, home: Path) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    first = app.records("t", as_="ana@acme")[0]
    assert first.manifest is not None
    (span,) = [item for item in first.manifest.items if item.source == "runbook/api-keys@v7#revoked-keys"]
    with sqlite3.connect(home / "expediente.db") as connection:
        connection.execute("DELETE FROM expediente_artifacts WHERE ref = ?", (span.ref,))
    again = replay(app, "t", 0, as_="ana@acme")
    assert (again.rebuilt, again.request, again.proved) == (None, None, False)
    assert again.gone == ("runbook/api-keys@v7#revoked-keys (runbook/api-keys@v7#revoked-keys)",)
    assert "gone" in again._repr_html_()


def test_a_changed_body_shows_as_another_hash(start: OpenApp, home: Path) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    first = app.records("t", as_="ana@acme")[0]
    assert first.manifest is not None
    changed = first.manifest.model_copy(update={"settings": RequestSettings(max_output_tokens=7)})
    with sqlite3.connect(home / "expediente.db") as connection:
        body = changed.model_dump_json().encode()
        ref = first.attempts[0].manifest_ref
        connection.execute("UPDATE expediente_artifacts SET body = ? WHERE ref = ?", (body, ref))
    again = replay(app, "t", 0, as_="ana@acme")
    assert again.rebuilt is not None
    assert not again.proved
    assert "differs" in again._repr_html_()


@pytest.mark.parametrize(
    ("index", "attempt", "said"),
    [
        (9, None, r"got decision 9; allowed on thread t: 0 to 1"),
        (0, 4, r"got attempt 4 of decision 0; allowed: 0 to 0"),
        (0, -1, r"got attempt -1 of decision 0; allowed: 0 to 0"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(start: OpenApp, index: int, attempt: int | None, said: str) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    with pytest.raises(NoSuchDecision, match=said):
        replay(app, "t", index, as_="ana@acme", attempt=attempt)


def test_nobody_but_the_owner_can_replay(start: OpenApp) -> None:
    app = start()
    app.ask(QUESTION, as_="ana@acme", thread="t")
    with pytest.raises(UnknownThread) as foreign:
        replay(app, "t", 0, as_="omar@globex")
    with pytest.raises(UnknownThread) as unknown:
        replay(app, "nobody", 0, as_="omar@globex")
    assert str(foreign.value).replace("t", "") == str(unknown.value).replace("nobody", "").replace("t", "")
    with pytest.raises(NoSuchDecision, match="none that you may see"):
        replay(app, "t", 0, as_="bea@acme")  # an approver of the tenant sees pending calls only
