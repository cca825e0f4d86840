"""The database is seeded once, whole or not at all, says clearly why it cannot be used, and keeps key values."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from domain import load
from domain.database import Database
from domain.seed import fill
from state.domain import Domain, DomainUnavailable
from tests.domain.conftest import NOW, Call, Rows


def test_there_are_three_tenants_a_dozen_accounts_and_thirty_keys_in_every_state(rows: Rows) -> None:
    by_tenant = rows("SELECT tenant, count(*) FROM accounts GROUP BY tenant")
    assert by_tenant == [("acme", 4), ("globex", 4), ("maravel", 4)]
    for (tenant,) in rows("SELECT DISTINCT tenant FROM accounts"):
        plans = {plan for (plan,) in rows("SELECT plan FROM accounts WHERE tenant = ?", tenant)}
        assert len(plans) > 1
    states: dict[str, int] = dict(rows("SELECT status, count(*) FROM api_keys GROUP BY status"))
    assert set(states) == {"active", "revoked", "expired", "rate_limited", "disabled", "pending"}
    assert sum(states.values()) == 30
    assert min(states.values()) >= 3
    assert rows("SELECT count(*) FROM api_keys WHERE value NOT GLOB 'sk-demo-????????????????????????????????'") == [
        (0,)
    ]
    assert rows("SELECT count(DISTINCT value) FROM api_keys") == [(30,)]


def test_a_key_belongs_to_the_tenant_of_its_account(rows: Rows) -> None:
    for table in ("api_keys", "tickets", "people"):
        joined = f"SELECT t.tenant, a.tenant FROM {table} AS t JOIN accounts AS a USING (account_id)"
        assert all(own == of_account for own, of_account in rows(joined))


def test_there_are_a_year_of_incidents_and_tickets_with_a_history(rows: Rows) -> None:
    incidents = rows("SELECT tenant, started_at, resolved_at, status FROM incidents ORDER BY started_at")
    assert {tenant for tenant, *_ in incidents} == {"public", "acme", "globex", "maravel"}
    assert incidents[0][1] < "2025-08" < "2026-07" < incidents[-1][1]
    assert all((resolved is None) == (status != "resolved") for _, _, resolved, status in incidents)
    assert rows("SELECT count(*) FROM ticket_notes WHERE tenant NOT IN (SELECT tenant FROM accounts)") == [(0,)]
    late = """
        SELECT ticket_id FROM ticket_notes AS n JOIN tickets AS t USING (ticket_id)
        WHERE n.written_at < t.opened_at OR n.tenant <> t.tenant
    """
    assert rows(late) == []
    assert {status for (status,) in rows("SELECT status FROM tickets")} == {"open", "closed"}


def test_nobody_is_over_the_limits_of_the_own_plan_without_a_reason(rows: Rows) -> None:
    over = """
        SELECT account_id FROM accounts JOIN plans USING (plan)
        WHERE requests_this_month > requests_per_month
           OR keys_at_most < (SELECT count(*) FROM api_keys AS k WHERE k.account_id = accounts.account_id)
    """
    assert rows(over) == []


def test_times_are_relative_to_the_first_opening_and_stay(folder: Path, support: Domain, rows: Rows) -> None:
    revoked = "SELECT created_at, changed_at FROM api_keys WHERE key_id = 'K-1007'"
    assert rows(revoked) == [("2026-07-12T09:30:00Z", "2026-07-15T07:30:00Z")]
    again = load(folder, NOW + timedelta(days=5))
    assert rows(revoked) == [("2026-07-12T09:30:00Z", "2026-07-15T07:30:00Z")]
    assert again.memories == support.memories
    assert rows("SELECT count(*) FROM api_keys") == [(30,)]


def test_a_naive_time_is_refused_and_leaves_nothing(folder: Path) -> None:
    with pytest.raises(ValueError, match="time zone"):
        load(folder, datetime(2026, 7, 15))  # noqa: DTZ001  # a naive time is what is tested
    load(folder, NOW)


def test_a_seeding_that_breaks_off_leaves_an_unseeded_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_off(connection: sqlite3.Connection, now: datetime) -> None:
        fill(connection, now)
        raise KeyboardInterrupt

    monkeypatch.setattr("domain.database.fill", breaks_off)
    with pytest.raises(KeyboardInterrupt):
        load(folder, NOW)
    monkeypatch.undo()
    assert len(load(folder, NOW).principals()) == 12


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
import domain.database
whole = domain.database.fill
def killed(connection, now):
    connection.execute("PRAGMA cache_spill = 1")
    whole(connection, now)
    os.kill(os.getpid(), signal.SIGKILL)
domain.database.fill = killed
domain.load(Path(sys.argv[1]), datetime.now(UTC))
"""


def test_a_kill_in_the_middle_leaves_an_unseeded_file(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(load(folder, NOW).principals()) == 12


def test_many_may_open_a_new_folder_at_once(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: load(folder, NOW), range(16)))
    assert {len(domain.principals()) for domain in opened} == {12}


def _lock(path: Path) -> Callable[[], None]:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    return holder.close


def _damage(path: Path) -> Callable[[], None]:
    path.write_bytes(b"not a database, whatever its name says " * 40)
    return lambda: None


def _make_foreign(path: Path) -> Callable[[], None]:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE something_else (x)")
    return lambda: None


def _make_newer(path: Path) -> Callable[[], None]:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    return lambda: None


@pytest.mark.parametrize(
    ("spoil", "got", "step"),
    [
        (_lock, "locked", "wait for it or end it"),
        (_damage, "not a database", "move the file away"),
        (_make_foreign, "schema version 0", "move the file away"),
        (_make_newer, "schema version 99", "move the file away"),
    ],
)
def test_a_file_that_cannot_be_used_gives_one_clear_error(
    spoil: Callable[[Path], Callable[[], None]],
    got: str,
    step: str,
    support: Domain,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("domain.database.BUSY_SECONDS", 0.05)
    mend = spoil(folder / "support.sqlite")
    try:
        with pytest.raises(DomainUnavailable) as caught:
            load(folder, NOW)
    finally:
        mend()
    message = str(caught.value)
    assert got in message
    assert "needed is a file" in message
    assert step in message
    assert "\n" not in message


def test_a_file_that_can_only_be_read_is_read_and_says_so_before_anything_runs(support: Domain, folder: Path) -> None:
    support.check_writable()
    (folder / "support.sqlite").chmod(0o444)
    kept = load(folder, NOW)
    assert kept.principals() == support.principals()
    with pytest.raises(DomainUnavailable, match=r"readonly file; needed is .* make the file and its folder writable"):
        kept.check_writable()
    (folder / "support.sqlite").chmod(0o644)


def test_a_folder_that_is_a_file_gives_the_same_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(DomainUnavailable, match="support database"):
        load(tmp_path / "data", NOW)


@pytest.mark.skipif(os.name == "nt", reason="the mode bits of a folder mean little there")
def test_a_deleted_file_is_not_created_again_by_a_read(folder: Path, support: Domain) -> None:
    (folder / "support.sqlite").unlink()
    with pytest.raises(DomainUnavailable):
        support.principals()
    assert not (folder / "support.sqlite").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT value FROM api_keys",
        "SELECT * FROM api_keys",
        "SELECT key_id FROM api_keys WHERE value LIKE 'sk-%'",
        "SELECT key_id FROM api_keys ORDER BY value",
        "SELECT length(k.value) FROM api_keys AS k",
        "INSERT INTO seeding SELECT value FROM api_keys",
        "UPDATE api_keys SET label = value",
        "CREATE TABLE copy AS SELECT * FROM api_keys",
        "DELETE FROM api_keys RETURNING value",
    ],
)
def test_no_statement_can_read_a_key_value(statement: str, folder: Path, support: Domain) -> None:
    database = Database(folder / "support.sqlite")
    with pytest.raises(DomainUnavailable, match=r"prohibited|not authorized"), database.write() as connection:
        connection.execute(statement).fetchall()


def test_a_reading_connection_changes_nothing(folder: Path, support: Domain, call: Call) -> None:
    database = Database(folder / "support.sqlite")
    with pytest.raises(DomainUnavailable, match="readonly"), database.read() as connection:
        connection.execute("UPDATE accounts SET plan = 'enterprise'")
    assert call("ana@acme", "get_account", account_id="A-123")["plan"] == "pro"


def test_a_reading_connection_is_kept_for_the_next_question(folder: Path, support: Domain) -> None:
    database = Database(folder / "support.sqlite")
    with database.read() as first, database.read() as at_once:
        assert at_once is not first
    with database.read() as again:
        assert again in (first, at_once)
    database.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        first.execute("SELECT 1")


def test_a_file_in_the_place_of_another_is_the_one_that_is_read(folder: Path, support: Domain) -> None:
    file = folder / "support.sqlite"
    database = Database(file)
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone()[0] > 0
    other = folder / "other.sqlite"
    shutil.copy(file, other)
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM people")
    other.replace(file)
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone()[0] == 0
    database.close()


def test_a_connection_that_met_an_error_is_not_kept(folder: Path, support: Domain) -> None:
    database = Database(folder / "support.sqlite")
    with pytest.raises(DomainUnavailable), database.read() as failed:
        failed.execute("SELECT value FROM api_keys")
    with database.read() as connection:
        assert connection is not failed
    database.close()
