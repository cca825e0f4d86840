"""Whose rows a scope may see: its tenant's; a customer, the own account's only. Foreign and missing look the same."""

import sqlite3
from collections.abc import Mapping

from domain.database import Database
from state.domain import Owns
from state.run import Scope

CUSTOMER, ADMIN, AGENT, SUPERVISOR = "customer", "admin", "agent", "supervisor"
CUSTOMERS = (CUSTOMER, ADMIN)
STAFF = (AGENT, SUPERVISOR)
EVERY_ROLE = (*CUSTOMERS, *STAFF)
# An account admin answers for all accounts of the organisation, its support desk works for all of them.
_WHOLE_TENANT = frozenset((ADMIN, *STAFF))

# Each statement asks the people table for the own account: what the caller says of itself is not enough.
ACCOUNT = """
    SELECT account_id, display_name, plan, standing, requests_this_month, created_at,
      requests_per_minute, requests_per_month
    FROM accounts JOIN plans USING (plan)
    WHERE account_id = :account_id
      AND tenant = :tenant
      AND (:whole_tenant
        OR account_id = (SELECT account_id FROM people WHERE name = :principal AND tenant = :tenant))
"""

KEY = """
    SELECT key_id, account_id, label, status, reason, created_at, changed_at, expires_at, replaced_by
    FROM api_keys
    WHERE (key_id = :key_id OR (:key_id IS NULL AND in_use = 1))
      AND (account_id = :account_id OR :account_id IS NULL)
      AND tenant = :tenant
      AND deleted_at IS NULL
      AND (:whole_tenant
        OR account_id = (SELECT account_id FROM people WHERE name = :principal AND tenant = :tenant))
"""

TICKETS = """
    SELECT ticket_id, account_id, opened_by, status, objective, tried, opened_at
    FROM tickets
    WHERE (ticket_id = :ticket_id OR :ticket_id IS NULL)
      AND (account_id = :account_id OR :account_id IS NULL)
      AND (status = :status OR :status IS NULL)
      AND tenant = :tenant
      AND (:whole_tenant
        OR account_id = (SELECT account_id FROM people WHERE name = :principal AND tenant = :tenant))
    ORDER BY opened_at DESC, ticket_id
"""


def visible_account(connection: sqlite3.Connection, scope: Scope, account_id: str) -> sqlite3.Row | None:
    """The account's row, or None where the scope has no such account."""
    row: sqlite3.Row | None = connection.execute(ACCOUNT, {"account_id": account_id, **_values(scope)}).fetchone()
    return row


def visible_key(
    connection: sqlite3.Connection, scope: Scope, *, account_id: str | None = None, key_id: str | None = None
) -> sqlite3.Row | None:
    """The row of a key without its value, or None where the scope has no such key.

    Without `key_id` it is the key in use of the account; one of the two must be given (ValueError).
    """
    if account_id is None and key_id is None:
        raise ValueError("got neither account_id nor key_id; give at least one")
    wanted = {"account_id": account_id, "key_id": key_id}
    row: sqlite3.Row | None = connection.execute(KEY, {**wanted, **_values(scope)}).fetchone()
    return row


def visible_tickets(
    connection: sqlite3.Connection, scope: Scope, *, account_id: str | None = None, status: str | None = None
) -> list[sqlite3.Row]:
    """The rows of the tickets that the scope may see, newest first."""
    wanted = {"ticket_id": None, "account_id": account_id, "status": status}
    return connection.execute(TICKETS, {**wanted, **_values(scope)}).fetchall()


def visible_ticket(connection: sqlite3.Connection, scope: Scope, ticket_id: str) -> sqlite3.Row | None:
    """The ticket's row, or None where the scope has no such ticket."""
    wanted = {"ticket_id": ticket_id, "account_id": None, "status": None}
    row: sqlite3.Row | None = connection.execute(TICKETS, {**wanted, **_values(scope)}).fetchone()
    return row


def _values(scope: Scope) -> dict[str, str | bool]:
    principal = scope.principal
    return {
        "tenant": scope.tenant,
        "principal": principal.name,
        "whole_tenant": not _WHOLE_TENANT.isdisjoint(principal.roles),
    }


def resources(database: Database) -> Mapping[str, Owns]:
    """Per kind of resource: is this id one of mine? Raises DomainUnavailable."""

    def owns_account(scope: Scope, account_id: str) -> bool:
        with database.read() as connection:
            return visible_account(connection, scope, account_id) is not None

    def owns_key(scope: Scope, key_id: str) -> bool:
        with database.read() as connection:
            return visible_key(connection, scope, key_id=key_id) is not None

    def owns_ticket(scope: Scope, ticket_id: str) -> bool:
        with database.read() as connection:
            return visible_ticket(connection, scope, ticket_id) is not None

    return {"account": owns_account, "api_key": owns_key, "ticket": owns_ticket}
