"""From one schema version to the next: ordered steps, all in the one transaction in which a database is opened."""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, text, update

from graph.stores.schema import (
    SCHEMA_VERSION,
    artifact_makers,
    events,
    forgotten,
    marks,
    metadata,
    schema_version,
    settled_events,
    uses,
)
from graph.stores.unavailable import StoreUnavailable
from state.ports import Seal

Step = Callable[[Connection, Seal | None], None]
# Raises for the marks of a database that is not this deployment's.
Admit = Callable[[Mapping[str, str]], None]
# The version that brought a table; the others are there from the first on.
_SINCE = {
    marks.name: 2,
    forgotten.name: 3,
    uses.name: 5,
    artifact_makers.name: 6,
    events.name: 7,
    settled_events.name: 7,
}


class SchemaTooNew(StoreUnavailable):
    """A later release wrote this database. It is left as it is: an older one would not know what it must not break."""

    def __init__(self, where: str, found: int, known: int, what: str = "schema") -> None:
        super().__init__(
            where,
            f"{what} version {found}, of a later release",
            f"{what} versions up to {known}",
            "update Expediente here as well, or name another database",
        )


def _marks(connection: Connection, _: Seal | None) -> None:
    """Version 2: what a database belongs to (graph.home)."""
    connection.exec_driver_sql(
        "CREATE TABLE expediente_marks (name VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY (name))"
    )


def _forgotten(connection: Connection, _: Seal | None) -> None:
    """Version 3: what was forgotten (graph.forgetting)."""
    connection.exec_driver_sql(
        "CREATE TABLE expediente_forgotten (kind VARCHAR NOT NULL, tenant VARCHAR NOT NULL, name VARCHAR NOT NULL, "
        "at VARCHAR(32) NOT NULL, PRIMARY KEY (kind, tenant, name))"
    )


def _steps_of_plans(connection: Connection, _: Seal | None) -> None:
    """Version 4: which step of its plan an effect spends (graph.stores.ledger)."""
    connection.exec_driver_sql("ALTER TABLE expediente_claims ADD COLUMN slot INTEGER")
    connection.exec_driver_sql(
        "CREATE UNIQUE INDEX expediente_claims_by_step ON expediente_claims (opened_by, tool, slot)"
    )


def _uses(connection: Connection, _: Seal | None) -> None:
    """Version 5: how often tools were called (graph.stores.quotas)."""
    connection.exec_driver_sql(
        "CREATE TABLE expediente_uses (bound VARCHAR NOT NULL, call VARCHAR NOT NULL, at VARCHAR(32) NOT NULL, "
        "amount FLOAT NOT NULL, PRIMARY KEY (bound, call))"
    )


def _makers(connection: Connection, _: Seal | None) -> None:
    """Version 6: which thread put a body first (graph.stores.artifacts)."""
    connection.exec_driver_sql(
        "CREATE TABLE expediente_artifact_makers (tenant VARCHAR NOT NULL, thread VARCHAR NOT NULL, "
        "ref VARCHAR NOT NULL, PRIMARY KEY (tenant, thread, ref))"
    )


def _events(connection: Connection, _: Seal | None) -> None:
    """Version 7: what happened beside the conversations, and which threads were told (graph.stores.events)."""
    seq = "seq BIGSERIAL NOT NULL" if connection.dialect.name == "postgresql" else "seq INTEGER NOT NULL"
    number = "BIGINT" if connection.dialect.name == "postgresql" else "INTEGER"
    connection.exec_driver_sql(
        f"CREATE TABLE expediente_events ({seq}, tenant VARCHAR NOT NULL, principal VARCHAR, thread VARCHAR, "
        "kind VARCHAR NOT NULL, about VARCHAR NOT NULL, at VARCHAR(32) NOT NULL, key VARCHAR, PRIMARY KEY (seq))"
    )
    connection.exec_driver_sql("CREATE UNIQUE INDEX expediente_events_by_key ON expediente_events (tenant, key)")
    connection.exec_driver_sql(
        "CREATE TABLE expediente_settled_events (tenant VARCHAR NOT NULL, thread VARCHAR NOT NULL, "
        f"seq {number} NOT NULL, decision INTEGER NOT NULL, dropped VARCHAR, at VARCHAR(32) NOT NULL, "
        "PRIMARY KEY (tenant, thread, seq))"
    )


def _seals_of_claims(connection: Connection, seal: Seal | None) -> None:
    """Version 8: a seal over each row of the ledger (graph.stores.ledger). The rows that are there are taken as they
    are: nothing tells what was changed in them before."""
    connection.exec_driver_sql("ALTER TABLE expediente_claims ADD COLUMN seal VARCHAR")
    rows = connection.exec_driver_sql(
        "SELECT key, tenant, thread, parent, ordinal, call_id, tool, arguments_digest, proposal_ref, opened_by, "
        "effect, state, at, result_ref, slot FROM expediente_claims"
    ).mappings()
    held = [dict(row) for row in rows]
    if not held:
        return
    if seal is None:
        raise StoreUnavailable(
            "of an earlier release",
            "a ledger to seal, and no key",
            "a process that has the master secret",
            "ask or verify something on it first",
        )
    for row in held:
        connection.execute(
            text("UPDATE expediente_claims SET seal = :seal WHERE key = :key"),
            {"key": row["key"], "seal": seal.sign({"effect": row})},
        )


# STEPS[n] makes version n + 2 of version n + 1. A step is written out and not made from graph.stores.schema: it must
# do the same for ever, whatever becomes of the schema. It may meet rows of running processes of the release before.
STEPS: tuple[Step, ...] = (_marks, _forgotten, _steps_of_plans, _uses, _makers, _events, _seals_of_claims)


def usable(connection: Connection, where: str, admit: Admit | None) -> int | None:
    """The version of a database that may be opened, of which nothing is changed; None where no table of ours is.

    Raises SchemaTooNew, StoreUnavailable for tables of ours without a version, and what `admit` raises.
    """
    tables = set(inspect(connection).get_table_names())
    found = _version(connection, where, tables)
    known = 1 + len(STEPS)
    if found is not None and found > known:
        raise SchemaTooNew(where, found, known)
    if admit is not None and marks.name in tables:
        admit({row.name: row.value for row in connection.execute(select(marks.c.name, marks.c.value))})
    return found


def bring_up_to_date(connection: Connection, where: str, admit: Admit | None, seal: Seal | None) -> None:
    """Make the schema, or bring an older one to this release's version. The caller holds the transaction and the lock.

    `seal` seals what an earlier release left without one.

    Raises what `usable` raises, and StoreUnavailable for a schema that lacks tables and for a read-only database.
    """
    found = usable(connection, where, admit)
    known = 1 + len(STEPS)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(schema_version).values(version=SCHEMA_VERSION))
        found = SCHEMA_VERSION
    _whole(connection, where, found)
    for step in STEPS[found - 1 :]:
        step(connection, seal)
    # Also where nothing changes it asks to write: a read-only database must show itself now, not halfway in a run.
    connection.execute(update(schema_version).values(version=known))


def _whole(connection: Connection, where: str, version: int) -> None:
    """Raises StoreUnavailable, naming the tables of this version that are not there."""
    needed = {name for name in metadata.tables if _SINCE.get(name, 1) <= version}
    missing = sorted(needed - set(inspect(connection).get_table_names()))
    if missing:
        raise StoreUnavailable(
            where,
            f"schema version {version} without the table {', '.join(missing)}",
            "a whole schema, or an empty database",
            "restore a backup, or name another database or schema",
        )


def _version(connection: Connection, where: str, tables: set[str]) -> int | None:
    """The version of the tables that are there; None where there are none."""
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
