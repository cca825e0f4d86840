"""How often, and at what cost, tools were called: one row per call and bound, counted over a time (X8)."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Engine, bindparam, delete, func, select

from graph.stores.engine import insert_or_ignore, transaction
from graph.stores.schema import uses
from state.ports import Bound


class SqlQuotas:
    """The port Quotas on SQL. What is counted is read and written in one transaction, so no two calls share the rest
    of a quota, whichever process they run in."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        own = uses.c
        of_bound = (own.bound == bindparam("of_bound"), own.call != bindparam("of_call"))
        counted = select(func.coalesce(func.sum(own.amount), 0.0))
        self._sum = counted.where(*of_bound)
        self._since = counted.where(*of_bound, own.at > bindparam("since", type_=own.at.type))
        self._take = insert_or_ignore(engine, uses).on_conflict_do_nothing()
        self._past = delete(uses).where(own.bound == bindparam("of_bound"), own.at <= bindparam("since"))

    def used(self, bound: Bound) -> float:
        """What calls took of a bound until now."""
        with self._engine.connect() as connection:
            return self._used(connection, bound, "")

    def take(self, call: str, bounds: Sequence[Bound], at: datetime) -> Bound | None:
        """Take a call's amount of every bound, or of none: then the bound that it would exceed. The same call takes
        once."""
        in_order = sorted(bounds, key=lambda bound: bound.name)  # so that no two transactions wait for each other
        with self._engine.connect() as connection, transaction(connection):
            if connection.dialect.name != "sqlite":  # which has one writer at a time
                for bound in in_order:
                    connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(bound.name, 0))))
            for bound in in_order:
                if self._used(connection, bound, call) + bound.amount > bound.most:
                    return bound
            for bound in in_order:
                if bound.since is not None:
                    connection.execute(self._past, {"of_bound": bound.name, "since": bound.since})
                row = {"bound": bound.name, "call": call, "at": at, "amount": bound.amount}
                connection.execute(self._take, row)
        return None

    def enter(self, call: str, bounds: Sequence[Bound], at: datetime) -> None:
        """Enter a call's amounts, whatever is left: what was used is used. The same call enters once."""
        with self._engine.connect() as connection, transaction(connection):
            for bound in sorted(bounds, key=lambda bound: bound.name):
                row = {"bound": bound.name, "call": call, "at": at, "amount": bound.amount}
                connection.execute(self._take, row)

    def _used(self, connection: Connection, bound: Bound, call: str) -> float:
        keys = {"of_bound": bound.name, "of_call": call}
        if bound.since is None:
            return float(connection.scalar(self._sum, keys) or 0)
        return float(connection.scalar(self._since, {**keys, "since": bound.since}) or 0)
