"""What was forgotten on purpose: so that it stays so, and an erasing that was cut off can be finished."""

from collections.abc import Iterable

from sqlalchemy import Engine, bindparam, select

from graph.stores.engine import insert_or_ignore
from graph.stores.schema import forgotten
from state.ports import Clock

THREAD, SUBJECT, MEMORY = "thread", "subject", "memory"
ERASED = "erased"  # a thread whose forgetting was brought to its end


class SqlForgotten:
    """Names of a kind in a tenant, each with when it was forgotten last. A mark is set before anything is erased."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        own = forgotten.c
        made = insert_or_ignore(engine, forgotten)
        self._mark = made.on_conflict_do_update(
            index_elements=[own.kind, own.tenant, own.name], set_={"at": made.excluded.at}
        )
        self._names = select(own.tenant, own.name).where(own.kind == bindparam("of_kind"))

    def mark(self, kind: str, tenant: str, names: Iterable[str]) -> None:
        """Mark names as forgotten now."""
        rows = [{"kind": kind, "tenant": tenant, "name": name, "at": self._clock.now()} for name in names]
        if rows:
            with self._engine.connect() as connection:
                connection.execute(self._mark, rows)

    def names(self, kind: str) -> frozenset[tuple[str, str]]:
        """All that was forgotten of a kind, as tenant and name."""
        with self._engine.connect() as connection:
            return frozenset((row.tenant, row.name) for row in connection.execute(self._names, {"of_kind": kind}))
