"""An older schema is brought up to date whole or not at all, with all its rows; a newer one is left alone."""

import multiprocessing
import os
import signal
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, inspect, select, update

from graph.stores import migrations
from graph.stores.artifacts import SqlArtifacts
from graph.stores.engine import Database, open_database
from graph.stores.ledger import SqlLedger
from graph.stores.ownership import SqlOwnership
from graph.stores.records import SqlDecisionLog
from graph.stores.schema import SCHEMA_VERSION, claims, marks, metadata, schema_version
from graph.stores.unavailable import StoreUnavailable
from graph.stores.url import database_url
from state.ports import Seal
from tests.fakes import FakeClock, FakeSeal
from tests.graph.stores import version_1

NEXT = SCHEMA_VERSION + 1
SEAL = FakeSeal()


@pytest.fixture
def old(target: Path | str) -> Path | str:
    """A database as the first release left it, with rows."""
    engine = create_engine(database_url(target))
    with engine.begin() as connection:
        version_1.make(connection)
    engine.dispose()
    return target


def version(database: Database) -> int:
    with database.everyday.connect() as connection:
        return int(connection.execute(select(schema_version.c.version)).scalar_one())


def raw_version(target: Path | str) -> tuple[int, set[str]]:
    """The version and the tables, read without opening it as ours."""
    engine = create_engine(database_url(target))
    with engine.connect() as connection:
        found = (
            connection.execute(select(schema_version.c.version)).scalar_one(),
            set(inspect(connection).get_table_names()),
        )
    engine.dispose()
    return found


def shape(database: Database) -> dict[str, Any]:
    """Everything that the engine says of the tables."""
    look = inspect(database.everyday)
    return {
        table: {
            "columns": [
                (c["name"], str(c["type"]), c["nullable"], c["default"] and "default") for c in look.get_columns(table)
            ],
            "key": look.get_pk_constraint(table)["constrained_columns"],
            "unique": [one["column_names"] for one in look.get_unique_constraints(table)],
            "indexes": sorted((str(one["name"]), one["column_names"]) for one in look.get_indexes(table)),
            "foreign": [(f["constrained_columns"], f["referred_columns"]) for f in look.get_foreign_keys(table)],
        }
        for table in look.get_table_names()
    }


def test_a_database_of_the_first_release_keeps_all_its_rows(old: Path | str) -> None:
    database = open_database(old, seal=SEAL)
    assert version(database) == SCHEMA_VERSION
    store, log = SqlArtifacts(database.everyday, (b"any",)), SqlDecisionLog(database.everyday)
    assert store.get("acme", version_1.ARTIFACT) == version_1.BODY
    assert store.named("acme", "toolrun://req-1/step-1") == version_1.ARTIFACT
    chain = log.chain("acme", "T", version_1.SECOND)
    assert [record.hash() for record in chain] == [version_1.SECOND, version_1.FIRST]
    rows = SqlLedger(database.durable, SEAL).rows("acme", "T")
    assert [(row.claim.key, row.state, row.result_ref) for row in rows] == [
        ("k1", "done", version_1.ARTIFACT),
        ("k2", "open", None),
    ]
    assert SqlOwnership(database.everyday, FakeClock()).owner("T").principal == "ana@acme"
    database.close()


def test_effects_of_an_earlier_release_are_sealed_as_they_are_and_trusted_from_then_on(old: Path | str) -> None:
    database = open_database(old, seal=SEAL)
    ledger = SqlLedger(database.durable, SEAL)
    ledger.close("k2", "done", None)
    assert [row.state for row in ledger.rows("acme", "T")] == ["done", "done"]
    with database.everyday.connect() as connection:
        connection.execute(update(claims).where(claims.c.key == "k1").values(slot=1))
    assert [row and row.intact for row in ledger.examined("acme", "T")] == [False, True]
    database.close()


def test_effects_of_an_earlier_release_are_left_alone_by_whoever_has_no_key(old: Path | str) -> None:
    before = raw_version(old)
    with pytest.raises(StoreUnavailable, match="got a ledger to seal, and no key; allowed: a process that has the"):
        open_database(old)
    assert raw_version(old) == before


def test_a_migrated_schema_is_the_one_that_is_made_new(old: Path | str) -> None:
    database = open_database(old, seal=SEAL)
    migrated = shape(database)
    with database.everyday.connect() as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
    assert migrated == shape(database)
    assert set(migrated) == set(metadata.tables)
    database.close()


def test_the_steps_lead_to_the_schema_of_this_release() -> None:
    assert len(migrations.STEPS) == SCHEMA_VERSION - 1


def test_steps_run_in_order_and_once(old: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    more = (lambda *_: ran.append("first"), lambda *_: ran.append("second"))
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *more))
    for _ in range(2):
        database = open_database(old, seal=SEAL)
        assert version(database) == SCHEMA_VERSION + 2
        database.close()
    assert ran == ["first", "second"]


def _half_a_step(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE expediente_half (a INTEGER)")
    connection.exec_driver_sql("DELETE FROM expediente_threads")


def test_a_step_that_fails_leaves_the_database_as_it_was(old: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: Connection, _: Seal | None) -> None:
        _half_a_step(connection)
        connection.exec_driver_sql("SELECT nonsense FROM nowhere")

    before = raw_version(old)
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "STEPS", (*migrations.STEPS, fails))
        with pytest.raises(StoreUnavailable):
            open_database(old, seal=SEAL)
    assert raw_version(old) == before
    assert before[0] == 1
    database = open_database(old, seal=SEAL)
    assert SqlOwnership(database.everyday, FakeClock()).owner("T").principal == "ana@acme"
    database.close()


def _killed_halfway(target: Path | str) -> None:
    """In a process of its own: migrate, and be killed between two statements."""

    def killed(connection: Connection, _: Seal | None) -> None:
        _half_a_step(connection)
        os.kill(os.getpid(), signal.SIGKILL)

    migrations.STEPS = (*migrations.STEPS, killed)
    open_database(target, seal=SEAL)


def test_a_process_killed_in_the_middle_of_a_step_leaves_the_database_as_it_was(old: Path | str) -> None:
    before = raw_version(old)
    process = multiprocessing.get_context("spawn").Process(target=_killed_halfway, args=(old,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert raw_version(old) == before
    database = open_database(old, seal=SEAL)
    assert SqlOwnership(database.everyday, FakeClock()).owner("T").principal == "ana@acme"
    database.close()


def _opened_version(target: Path | str) -> int:
    database = open_database(target, seal=SEAL)
    try:
        return version(database)
    finally:
        database.close()


def test_processes_that_open_an_old_database_together_migrate_it_once(old: Path | str) -> None:
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert set(pool.map(_opened_version, [old] * 6)) == {SCHEMA_VERSION}


def test_a_newer_schema_is_a_named_error_and_is_left_alone(target: Path | str) -> None:
    database = open_database(target, seal=SEAL)
    with database.everyday.connect() as connection:
        connection.execute(update(schema_version).values(version=NEXT))
    database.close()
    with pytest.raises(migrations.SchemaTooNew) as refused:
        open_database(target, seal=SEAL)
    told = str(refused.value)
    assert f"got schema version {NEXT}, of a later release; allowed: schema versions up to {SCHEMA_VERSION};" in told
    assert "next: update Expediente here as well" in told
    assert raw_version(target)[0] == NEXT


@pytest.mark.parametrize("wrong", [0, None])
def test_a_schema_without_a_version_of_ours_is_refused(target: Path | str, wrong: int | None) -> None:
    database = open_database(target, seal=SEAL)
    with database.everyday.connect() as connection:
        connection.execute(schema_version.delete() if wrong is None else update(schema_version).values(version=wrong))
    database.close()
    told = "a schema without a version" if wrong is None else "schema version 0"
    with pytest.raises(StoreUnavailable, match=f"got {told}; allowed: an empty database or ours; next: choose"):
        open_database(target, seal=SEAL)


def test_a_database_of_somebody_else_is_refused_before_anything_in_it_is_changed(old: Path | str) -> None:
    """The marks came with the second version: such a database is migrated, unless it is another deployment's."""
    engine = create_engine(database_url(old))
    with engine.begin() as connection:
        migrations.STEPS[0](connection, SEAL)
        connection.execute(marks.insert().values(name="domain", value="garden"))
        connection.execute(update(schema_version).values(version=2))
    engine.dispose()
    before, content = raw_version(old), old.read_bytes() if isinstance(old, Path) else b""

    def foreign(found: Mapping[str, str]) -> None:
        raise PermissionError(f"of {found['domain']}")

    with pytest.raises(PermissionError, match="of garden"):
        open_database(old, admit=foreign)
    assert raw_version(old) == before
    assert before[0] == 2
    if isinstance(old, Path):
        assert old.read_bytes() == content  # the journal mode stands in the file too
    seen: list[Mapping[str, str]] = []
    open_database(old, admit=seen.append, seal=SEAL).close()
    assert seen[0] == {"domain": "garden"}
    assert raw_version(old)[0] == SCHEMA_VERSION


@pytest.mark.parametrize("lost", ["expediente_run_leases", "expediente_marks", "expediente_forgotten"])
def test_a_schema_that_lacks_a_table_is_refused_and_the_table_named(target: Path | str, lost: str) -> None:
    database = open_database(target, seal=SEAL)
    with database.everyday.connect() as connection:
        metadata.tables[lost].drop(connection)
    database.close()
    told = f"got schema version {SCHEMA_VERSION} without the table {lost}; allowed: a whole schema, .*; next: restore"
    with pytest.raises(StoreUnavailable, match=told):
        open_database(target, seal=SEAL)


def test_an_older_schema_that_lacks_a_table_is_refused_and_left_as_it_was(old: Path | str) -> None:
    engine = create_engine(database_url(old))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE expediente_claims")
    engine.dispose()
    before = raw_version(old)
    with pytest.raises(StoreUnavailable, match="schema version 1 without the table expediente_claims; allowed"):
        open_database(old, seal=SEAL)
    assert raw_version(old) == before
