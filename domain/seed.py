"""The rows a new database starts with. Times are ages before the moment of seeding, so a demo is always recent."""

import sqlite3
from datetime import datetime, timedelta

from domain.times import stamp
from state.run import PUBLIC_TENANT

REQUESTS_PER_MINUTE = {"starter": 60, "pro": 600, "enterprise": 6000}

# account, tenant, display name, plan, standing, age in days
ACCOUNTS = (
    ("A-123", "acme", "Acme storefront", "pro", "good", 420),
    ("A-124", "acme", "Acme data platform", "pro", "good", 800),
    ("A-125", "acme", "Acme prototypes", "starter", "overdue", 90),
    ("A-201", "globex", "Globex logística", "enterprise", "good", 1100),
    ("A-202", "globex", "Globex research", "pro", "good", 510),
    ("A-203", "globex", "Globex events", "starter", "suspended", 60),
)

# name, tenant, role, account, locale; the first is the default principal of a development server
PEOPLE = (
    ("ana@acme", "acme", "customer", "A-123", "en"),
    ("bea@acme", "acme", "admin", "A-124", "en"),
    ("ines@globex", "globex", "customer", "A-201", "es"),
    ("omar@globex", "globex", "admin", "A-202", "en"),
)

# key, account, label, status, reason, in use, hours since created, hours since the status, hours until expiry
KEYS = (
    ("K-1001", "A-123", "storefront 2025", "expired", None, 0, 9600, 840, -840),
    ("K-1007", "A-123", "storefront production", "revoked", "reported_exposed", 1, 72, 2, 8688),
    ("K-1012", "A-124", "nightly export", "active", None, 1, 2400, 2400, 6360),
    ("K-1015", "A-125", "prototype", "rate_limited", "plan_limit_reached", 1, 700, 1, None),
    ("K-1016", "A-125", "load test", "disabled", "abuse_review", 0, 500, 48, None),
    ("K-2001", "A-201", "rutas", "active", None, 1, 5000, 5000, None),
    ("K-2002", "A-201", "rutas nueva", "pending", "awaiting_confirmation", 0, 5, 5, None),
    ("K-2003", "A-201", "almacén", "revoked", "owner_request", 0, 7000, 900, None),
    ("K-2010", "A-202", "notebooks", "expired", None, 1, 8800, 40, -40),
    ("K-2011", "A-202", "old pipeline", "disabled", "abuse_review", 0, 9000, 4000, None),
    ("K-2020", "A-203", "ticket shop", "rate_limited", "plan_limit_reached", 1, 1000, 3, None),
    ("K-2021", "A-203", "ticket shop staging", "pending", "awaiting_confirmation", 0, 30, 30, None),
)

# incident, tenant, component, status, title, summary, hours since start, hours since its end
INCIDENTS = (
    ("INC-301", PUBLIC_TENANT, "api", "resolved", "Slow responses on the API",
     "Some requests took more than ten seconds in one region. Capacity was added.", 480, 476),
    ("INC-302", PUBLIC_TENANT, "webhooks", "monitoring", "Webhook deliveries arrive late",
     "Deliveries are queued and arrive up to ten minutes late. None are lost.", 5, None),
    ("INC-303", PUBLIC_TENANT, "billing", "resolved", "Invoices were sent twice",
     "One run sent each invoice two times. No amount was charged twice.", 900, 890),
    ("INC-320", "acme", "dashboard", "resolved", "Usage charts of one organisation were empty",
     "A report job failed for this organisation only and was run again.", 200, 196),
    ("INC-340", "globex", "api", "investigating", "Bulk uploads of one organisation fail",
     "Uploads above 50 MB end with an error for this organisation only.", 3, None),
)  # fmt: skip

# ticket, account, opened by, status, objective, what was tried, hours since opened
TICKETS = (
    ("T-501", "A-123", "ana@acme", "open", "Find out why our API key stopped working.",
     "Restarted the service and pasted the same key again; every request is still refused with 401.", 1),
    ("T-502", "A-123", "ana@acme", "closed", "Get a copy of the invoice for last quarter.",
     "Looked in the dashboard.", 1500),
    ("T-510", "A-124", "bea@acme", "closed", "Raise the request limit for one night.",
     "Spread the export over two hours.", 700),
    ("T-601", "A-201", "ines@globex", "open", "Saber cuántas peticiones quedan este mes.",
     "Se consultó el panel de uso, que muestra solo el día de hoy.", 20),
    ("T-602", "A-202", "omar@globex", "open", "Receive webhook deliveries again.",
     "Sent a test delivery to the endpoint; it answered 200.", 4),
)  # fmt: skip


def fill(connection: sqlite3.Connection, now: datetime) -> None:
    """Insert every row, its times counted back from `now`."""

    def ago(hours: int | None) -> str | None:
        return None if hours is None else stamp(now - timedelta(hours=hours))

    tenant_of = {account[0]: account[1] for account in ACCOUNTS}
    connection.executemany(
        "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(*row[:5], REQUESTS_PER_MINUTE[row[3]], ago(24 * row[5])) for row in ACCOUNTS],
    )
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", [(n, *row) for n, row in enumerate(PEOPLE)])
    connection.executemany(
        # The value is drawn inside SQLite: it exists in no file of the repository and never passes through Python.
        "INSERT INTO api_keys VALUES (?, ?, ?, ?, 'sk-demo-' || lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, NULL)",
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
