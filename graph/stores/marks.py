"""What a database belongs to: a mark is set by the first process, and is the same for every one after it."""

from collections.abc import Sequence

from sqlalchemy import Engine, bindparam, select, update

from graph.stores.engine import insert_or_ignore
from graph.stores.schema import marks


class SqlMarks:
    """Names with one value each. Raises StoreUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        own = marks.c
        self._set = insert_or_ignore(engine, marks).on_conflict_do_nothing()
        self._get = select(own.value).where(own.name == bindparam("of_name"))
        before = own.value.in_(bindparam("before", expanding=True))
        self._renew = update(marks).where(own.name == bindparam("of_name"), before).values(value=bindparam("new_value"))

    def claim(self, name: str, value: str, before: Sequence[str] = ()) -> str:
        """Set a mark where there is none, or where it has one of the values `before`; the value that holds then."""
        with self._engine.connect() as connection:
            connection.execute(self._set, {"name": name, "value": value})
            if before:
                connection.execute(self._renew, {"of_name": name, "before": list(before), "new_value": value})
            return str(connection.execute(self._get, {"of_name": name}).scalar_one())
