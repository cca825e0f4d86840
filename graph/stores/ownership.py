"""Whose thread is it: a thread belongs to the principal and tenant that started it."""

from datetime import datetime
from functools import lru_cache

from pydantic import AwareDatetime
from sqlalchemy import Engine, bindparam, select

from graph.stores.engine import insert_or_ignore
from graph.stores.forgotten import THREAD
from graph.stores.schema import forgotten, threads
from state.ports import Clock
from state.value import Value

MAX_THREAD_CHARS = 200
_REMEMBERED = 1_024
_AGE = (threads.c.created_at, threads.c.thread)


class UnknownThread(RuntimeError):
    """There is no such thread for this principal. The words are the same when it belongs to somebody else."""

    def __init__(self, thread: str) -> None:
        super().__init__(f"there is no thread {thread[:MAX_THREAD_CHARS]!r}; check its name, or start one by asking")


class ThreadForgotten(UnknownThread):
    """What was said on the thread was erased. It takes no new turn: nothing of it could be read back."""

    def __init__(self, thread: str, at: datetime) -> None:
        RuntimeError.__init__(
            self,
            f"thread {thread[:MAX_THREAD_CHARS]!r} was forgotten on {at.date().isoformat()}; its records can be shown "
            "and verified, and it takes no new question; start another thread",
        )


class BadThreadName(ValueError):
    """A thread's name is empty, too long, or holds characters that do not print."""


class ThreadOwner(Value):
    """Who a thread belongs to."""

    thread: str
    tenant: str
    principal: str
    created_at: AwareDatetime


class SqlOwnership:
    """The ownership row of each thread, written once, before its first run."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._claim = insert_or_ignore(engine, threads).on_conflict_do_nothing()
        # Every node of a run asks. A row is written once and never changed or removed, also when a thread is
        # forgotten, so what one process remembers no other can make wrong. That there is no row is not remembered.
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._read)
        self._of = select(threads).where(threads.c.principal == bindparam("of_principal")).order_by(*_AGE)
        self._all = select(threads).order_by(*_AGE)
        gone = forgotten.c
        # By its whole key: every node of a run asks, however many threads were forgotten.
        this = (gone.kind == THREAD, gone.tenant == bindparam("of_tenant"), gone.name == bindparam("of_thread"))
        self._forgotten = select(gone.at).where(*this)
        self._owner = select(threads).where(threads.c.thread == bindparam("of_thread"))

    def claim_thread(self, thread: str, tenant: str, principal: str) -> ThreadOwner:
        """Make a new thread the principal's, or verify that it is.

        Raises UnknownThread for somebody else's, ThreadForgotten, BadThreadName for a name that cannot be one.
        """
        if not _can_name(thread):
            got = f"{len(thread)} characters" if thread.isprintable() else "characters that do not print"
            raise BadThreadName(
                f"got a thread name of {got}; allowed: 1 to {MAX_THREAD_CHARS} printable characters; choose another"
            )
        row = {"thread": thread, "tenant": tenant, "principal": principal, "created_at": self._clock.now()}
        with self._engine.connect() as connection:
            if connection.execute(self._claim, row).rowcount == 1:
                return ThreadOwner.model_validate(row)
        owner = self.require(thread, tenant, principal)  # first: to everybody else it was never there
        if (at := self.forgotten_at(thread)) is not None:
            raise ThreadForgotten(thread, at)
        return owner

    def of(self, principal: str) -> tuple[ThreadOwner, ...]:
        """Every thread of a principal of that name, in all tenants, oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(self._of, {"of_principal": principal}).mappings().all()
        return tuple(ThreadOwner.model_validate(dict(row)) for row in rows)

    def all(self) -> tuple[ThreadOwner, ...]:
        """Every thread there is, oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(self._all).mappings().all()
        return tuple(ThreadOwner.model_validate(dict(row)) for row in rows)

    def forgotten_at(self, thread: str) -> datetime | None:
        """When a thread was forgotten; None for one that was not. Never remembered: it may happen at any time.

        Raises UnknownThread for a thread that nobody has.
        """
        key = {"of_tenant": self.owner(thread).tenant, "of_thread": thread}
        with self._engine.connect() as connection:
            found: datetime | None = connection.scalar(self._forgotten, key)
        return found

    def require(self, thread: str, tenant: str, principal: str) -> ThreadOwner:
        """The owner, verified to be this principal; creates nothing. Raises UnknownThread."""
        owner = self.owner(thread)
        if (owner.tenant, owner.principal) != (tenant, principal):
            raise UnknownThread(thread)
        return owner

    def owner(self, thread: str) -> ThreadOwner:
        """Who a thread belongs to, for callers that check it themselves (an approver of the same tenant).

        Raises UnknownThread.
        """
        if not _can_name(thread):
            raise UnknownThread(thread)
        return self._remembered(thread)

    def _read(self, thread: str) -> ThreadOwner:
        with self._engine.connect() as connection:
            row = connection.execute(self._owner, {"of_thread": thread}).mappings().first()
        if row is None:
            raise UnknownThread(thread)
        return ThreadOwner.model_validate(dict(row))


def _can_name(thread: str) -> bool:
    return 0 < len(thread) <= MAX_THREAD_CHARS and thread.isprintable()
