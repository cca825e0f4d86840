"""From one schema version to the next: ordered steps, all in the one transaction in which a database is opened."""

from collections.abc import Callable

from sqlalchemy import Connection, insert, inspect, select, update

from graph.stores.schema import SCHEMA_VERSION, metadata, schema_version
from graph.stores.unavailable import StoreUnavailable

Step = Callable[[Connection], None]


class SchemaTooNew(StoreUnavailable):
    """A later release wrote this database. It is left as it is: an older one would not know what it must not break."""

    def __init__(self, where: str, found: int, known: int, what: str = "schema") -> None:
        super().__init__(
            where,
            f"{what} version {found}, of a later release",
            f"{what} versions up to {known}",
            "update Expediente here as well, or name another database",
        )


def _marks(connection: Connection) -> None:
    """Version 2: what a database belongs to (graph.home)."""
    connection.exec_driver_sql(
        "CREATE TABLE expediente_marks (name VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY (name))"
    )


def _forgotten(connection: Connection) -> None:
    """Version 3: what was forgotten (graph.forgetting)."""
    connection.exec_driver_sql(
        "CREATE TABLE expediente_forgotten (kind VARCHAR NOT NULL, tenant VARCHAR NOT NULL, name VARCHAR NOT NULL, "
        "at VARCHAR(32) NOT NULL, PRIMARY KEY (kind, tenant, name))"
    )


def _steps_of_plans(connection: Connection) -> None:
    """Version 4: which step of its plan an effect spends (graph.stores.ledger)."""
    connection.exec_driver_sql("ALTER TABLE expediente_claims ADD COLUMN slot INTEGER")
    connection.exec_driver_sql(
        "CREATE UNIQUE INDEX expediente_claims_by_step ON expediente_claims (opened_by, tool, slot)"
    )


# STEPS[n] makes version n + 2 of version n + 1. A step is written out and not made from graph.stores.schema: it must
# do the same for ever, whatever becomes of the schema. It may meet rows of running processes of the release before.
STEPS: tuple[Step, ...] = (_marks, _forgotten, _steps_of_plans)


def bring_up_to_date(connection: Connection, where: str) -> None:
    """Make the schema, or bring an older one to this release's version. The caller holds the transaction and the lock.

    Raises SchemaTooNew, and StoreUnavailable for tables of ours without a version and for a read-only database.
    """
    found = _version(connection, where)
    known = 1 + len(STEPS)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(schema_version).values(version=SCHEMA_VERSION))
        found = SCHEMA_VERSION
    if found > known:
        raise SchemaTooNew(where, found, known)
    for step in STEPS[found - 1 :]:
        step(connection)
    # Also where nothing changes it asks to write: a read-only database must show itself now, not halfway in a run.
    connection.execute(update(schema_version).values(version=known))


def _version(connection: Connection, where: str) -> int | None:
    """The version of the tables that are there; None where there are none."""
    tables = set(inspect(connection).get_table_names())
    if schema_version.name in tables:
        found: int | None = connection.scalar(select(schema_version.c.version))
        if found is not None and found >= 1:
            return found
        got = "a schema without a version" if found is None else f"schema version {found}"
    elif tables & set(metadata.tables):
        got = "tables without a schema version"
    else:
        return None
    raise StoreUnavailable(where, got, "an empty database or ours", "choose another database, or restore a backup")
