"""What the tests of forgetting and retention share: people who said something, and a look at every stored byte."""

from pathlib import Path

from graph.app import App
from graph.inspection.replay import replay
from graph.inspection.verify import verify
from state.memory import MemoryRecord, MemorySource
from tests.graph.conftest import NOW, OpenApp
from tests.graph.stored_bytes import stored, stored_on_server

SHARED = "Why is my API key not working?"
# Longer than a page: what was deleted would else lie about in pages that are free.
OWN = " ".join(f"zanzibar-{n}" for n in range(900)) + f". {SHARED}"
OWN_MEMORY = "Wants invoices as PDF by e-mail."


def everything(home: Path, database_url: str | None) -> dict[str, bytes]:
    """All stored bytes but the domain's own data and the documents, which are no subject's."""
    found: dict[str, bytes] = {}
    # The copied home was made on SQLite, with the seeded memories.
    not_used = {"expediente.db", "checkpoints.db", "memory.db"} if database_url else set()
    for where, content in stored(home, but=frozenset({"domain", "library", *not_used})):
        found[where] = found.get(where, b"") + b"\0" + content
    for where, content in stored_on_server(database_url) if database_url else ():
        found[where] = found.get(where, b"") + b"\0" + content
    return found


def holding(words: str, home: Path, database_url: str | None) -> list[str]:
    return [where for where, content in everything(home, database_url).items() if words.encode() in content]


def bodies(app: App) -> set[str]:
    """The addresses of all bodies, of every tenant."""
    with app.ports.artifacts._engine.connect() as connection:  # type: ignore[attr-defined]  # read past the port
        return set(connection.exec_driver_sql("SELECT ref FROM expediente_artifacts").scalars())


def two_people(start: OpenApp) -> App:
    """Ana with two threads, one of which holds what bea asked in the very same words."""
    app = start()
    app.ask(OWN, as_="ana@acme", thread="anas")
    app.ask(SHARED, as_="ana@acme", thread="anas")
    app.ask(SHARED, as_="ana@acme", thread="anas-too")
    app.ask(SHARED, as_="bea@acme", thread="beas")
    app.ask("Rotate my key", as_="bea@acme", thread="beas")
    app.ask(SHARED, as_="omar@globex", thread="omars")
    return app


def untouched(app: App, thread: str, as_: str) -> None:
    found = verify(app, thread, as_=as_)
    assert found.sound
    assert found.erased == ()
    for decision in app.records(thread, as_=as_):
        if decision.attempts:
            assert replay(app, thread, decision.index, as_=as_).proved


def memory(tenant: str, subject: str, text: str) -> MemoryRecord:
    return MemoryRecord(
        memory_id="mem-1",
        subject=subject,
        tenant=tenant,
        purpose="support",
        text=text,
        source=MemorySource.USER_STATED,
        source_ref="turn://1",
        basis="consent",
        created_at=NOW,
        expires_at=NOW.replace(year=2030),
    )
