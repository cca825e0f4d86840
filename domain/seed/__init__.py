"""The rows a new database starts with. Times are ages before the moment of seeding, so a demo is always recent."""

import sqlite3
from datetime import datetime, timedelta

from domain.seed.accounts import ACCOUNTS, PEOPLE, PLANS
from domain.seed.incidents import INCIDENTS
from domain.seed.keys import KEYS
from domain.seed.tickets import NOTES, TICKETS
from domain.times import stamp

__all__ = ["fill"]


def fill(connection: sqlite3.Connection, now: datetime) -> None:
    """Insert every row, its times counted back from `now`."""

    def ago(hours: int | None) -> str | None:
        return None if hours is None else stamp(now - timedelta(hours=hours))

    tenant_of = {account[0]: account[1] for account in ACCOUNTS}
    connection.executemany("INSERT INTO plans VALUES (?, ?, ?, ?, ?)", PLANS)
    connection.executemany(
        "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?)", [(*row[:6], ago(24 * row[6])) for row in ACCOUNTS]
    )
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", [(n, *row) for n, row in enumerate(PEOPLE)])
    connection.executemany(
        # The value is drawn inside SQLite: it exists in no file of the repository and never passes through Python.
        "INSERT INTO api_keys VALUES"
        " (?, ?, ?, ?, 'sk-demo-' || lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, NULL, NULL)",
        [
            (key, tenant_of[account], account, label, status, reason, in_use, ago(created),
             ago(changed), None if expires is None else ago(-expires))
            for key, account, label, status, reason, in_use, created, changed, expires in KEYS
        ],
    )  # fmt: skip
    connection.executemany(
        "INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(*row[:6], ago(row[6]), ago(row[7])) for row in INCIDENTS],
    )
    connection.executemany(
        "INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(row[0], tenant_of[row[1]], *row[1:6], ago(row[6])) for row in TICKETS],
    )
    tenant_of_ticket = {ticket[0]: tenant_of[ticket[1]] for ticket in TICKETS}
    connection.executemany(
        "INSERT INTO ticket_notes VALUES (NULL, ?, ?, ?, ?, ?, NULL)",
        [(row[0], tenant_of_ticket[row[0]], *row[1:3], ago(row[3])) for row in NOTES],
    )
