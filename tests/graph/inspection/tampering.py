"""A thread with a plan, an effect and an answer, and somebody who can write its database and has no secret."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from sqlalchemy import Engine, create_engine, text

from graph.app import App
from graph.inspection.verify import Verification, verify
from graph.stores.url import database_url as stores_url
from state.canonical import canonical_json, digest
from state.record import DecisionRecord
from tests.desk import AGENT, Desk
from tests.fakes import NOW, FakeClock
from tests.graph.order_desk import ENDS, PLANS, message, order_desk

ON: RunnableConfig = {"configurable": {"thread_id": "T"}}
LOOKS = message(("c1", "get_invoice", {"id": "INV-9"}))
REFUND = message(("c1", "refund", {"order": "A1", "amount": 100}))
ONE_REFUND = message(("p2", "plan", {"goal": "g", "steps": ["refund"]}))
REFUNDED = (PLANS, ONE_REFUND, REFUND, ENDS)
"""What the model says in a turn of four decisions, the third of which has an effect."""


class Tampering:
    """The thread T of the order desk, or another one, and its database laid open."""

    def __init__(
        self, home: Path, url: str | None, stack: ExitStack, tenant: str = AGENT.tenant, thread: str = "T"
    ) -> None:
        self._home, self._url, self._stack = home, url, stack
        self._tenant, self._thread, self.desk = tenant, thread, Desk()
        self.engine: Engine = create_engine(stores_url(url or home / "expediente.db"))
        stack.callback(self.engine.dispose)

    def app(self, *lines: AIMessage) -> App:
        """The desk's app, opened on what is stored."""
        self.opened = self._stack.enter_context(order_desk(self._home, self.desk, lines, FakeClock(NOW), self._url))
        return self.opened

    def asked(self, *lines: AIMessage, question: str = "Refund A1, 100") -> App:
        """The app after one question on T."""
        app = self.app(*lines)
        app.ask(question, as_=AGENT.name, thread="T")
        return app

    def sql(self, statement: str, **values: Any) -> int:
        """Run a statement as whoever can write the database; how many rows it met."""
        with self.engine.begin() as connection:
            return connection.execute(text(statement), values).rowcount

    def value(self, query: str) -> Any:
        """The one value that a query finds."""
        with self.engine.connect() as connection:
            return connection.execute(text(query)).scalar_one()

    def unlink(self) -> None:
        """Let records be removed whose children stay. SQLite asks each connection for it, and ours does not."""
        if self._url is not None:
            constraint = "expediente_records_tenant_thread_parent_fkey"
            self.sql(f"ALTER TABLE expediente_records DROP CONSTRAINT IF EXISTS {constraint}")

    def remove(self, *records: str) -> None:
        """Take records away."""
        self.unlink()
        for record in records:
            assert self.sql("DELETE FROM expediente_records WHERE hash = :record", record=record) == 1

    def chain(self) -> dict[str, DecisionRecord]:
        """The records of the thread by name, oldest first."""
        statement = text("SELECT hash, body FROM expediente_records WHERE thread = :thread")
        with self.engine.connect() as connection:
            rows = connection.execute(statement, {"thread": self._thread}).all()
        found = {row.hash: DecisionRecord.model_validate_json(row.body) for row in rows}
        return dict(sorted(found.items(), key=lambda pair: pair[1].index))

    def rewrite(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change each record of the one branch, and make its hash and its parent's anew: anyone can."""
        records = [record.model_dump(mode="json") for record in self.chain().values()]
        self.remove(*self.chain())
        parent = None
        for record in records:
            body = canonical_json(change({**record, "parent": parent}))
            self.insert(body, parent)
            parent = digest(body)

    def insert(self, body: bytes, parent: str | None) -> None:
        """File a record as its own hash says."""
        self.sql(
            "INSERT INTO expediente_records (tenant, thread, hash, parent, body) "
            "VALUES (:tenant, :thread, :hash, :parent, :body)",
            tenant=self._tenant,
            thread=self._thread,
            hash=digest(body),
            parent=parent,
            body=body,
        )

    def forget_checkpoints(self) -> None:
        """Remove every checkpoint of the thread."""
        saver = self.opened.graph.checkpointer
        assert not isinstance(saver, bool | None)
        saver.delete_thread(self._thread)

    def checked(self) -> Verification:
        """What verify says of T."""
        return verify(self.opened, "T", as_=AGENT.name)

    def faults(self) -> list[str]:
        """The faults of T, each in its line."""
        return [fault.told for fault in self.checked().faults]
