"""Reading the state of an API key."""

import sqlite3
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from domain.database import Database
from domain.ownership import EVERY_ROLE, visible_account, visible_key
from domain.times import stamp
from domain.tools.arguments import AccountId, KeyId, failing_typed, not_found
from domain.tools.fields import KEY_STATUS, MOMENT, one_of, read_fails
from state.contract import Effect, OutputField
from state.tools import Tool, ToolContext, ToolError, tool

KEYS = """
    SELECT account_id, key_id, status, reason, in_use, created_at, changed_at, expires_at, label
    FROM api_keys
    WHERE account_id = :account_id AND tenant = :tenant AND deleted_at IS NULL
    ORDER BY in_use DESC, created_at DESC, key_id
"""
KeyIdOrInUse = Annotated[KeyId | None, Field(description="The id of one API key; without it, the key in use.")]


def key_tools(database: Database) -> tuple[Tool, ...]:
    """The tools that read keys. None of them can reach a value: see Database."""

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        resources={"account_id": "account", "key_id": "api_key"},
        idempotent=True,
        failures=read_fails("not_found", "no_key_in_use"),
        output=(
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="key_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(KEY_STATUS), required=True),
            OutputField(name="reason", trust="system"),
            OutputField(name="revoked_at", trust="system", json_schema=MOMENT),
            OutputField(name="expires_at", trust="system", json_schema=MOMENT),
            OutputField(name="checked_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="label", trust="untrusted"),
        ),
    )
    def check_api_key_status(
        context: ToolContext, *, account_id: AccountId, key_id: KeyIdOrInUse = None
    ) -> dict[str, Any]:
        """Check the status of an account's API key to find out why it is working or not working.

        Answers active, revoked, expired, rate_limited, disabled or pending. Errors: `not_found`, `no_key_in_use`,
        `unavailable`.
        """
        with failing_typed(), database.read() as connection:
            if visible_account(connection, context.scope, account_id) is None:
                raise not_found("account")
            row = visible_key(connection, context.scope, account_id=account_id, key_id=key_id)
            if row is None and key_id is None:
                raise ToolError("no_key_in_use", "the account has no API key in use")
            if row is None:
                raise not_found("API key")
        checked_at = stamp(context.now)
        status = _status(row, checked_at)
        found = {
            "account_id": row["account_id"],
            "key_id": row["key_id"],
            "status": status,
            "reason": row["reason"],
            "revoked_at": row["changed_at"] if status == "revoked" else None,
            "expires_at": row["expires_at"],
            "checked_at": checked_at,
            "label": row["label"],
        }
        return {name: value for name, value in found.items() if value is not None}

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        resources={"account_id": "account"},
        idempotent=True,
        failures=read_fails("not_found"),
        max_rows=50,
        output=(
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="key_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(KEY_STATUS), required=True),
            OutputField(name="reason", trust="system"),
            OutputField(name="in_use", trust="system", json_schema={"type": "boolean"}, required=True),
            OutputField(name="created_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="expires_at", trust="system", json_schema=MOMENT),
            OutputField(name="checked_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="label", trust="untrusted"),
        ),
    )
    def list_api_keys(context: ToolContext, *, account_id: AccountId) -> list[Mapping[str, Any]]:
        """List all API keys of an account (claves de la cuenta), the one in use first, each with status and last day.

        Errors: `not_found`, `unavailable`.
        """
        with failing_typed(), database.read() as connection:
            if visible_account(connection, context.scope, account_id) is None:
                raise not_found("account")
            rows = connection.execute(KEYS, {"account_id": account_id, "tenant": context.scope.tenant}).fetchall()
        checked_at = stamp(context.now)
        listed = [
            {
                "account_id": row["account_id"],
                "key_id": row["key_id"],
                "status": _status(row, checked_at),
                "reason": row["reason"],
                "in_use": bool(row["in_use"]),
                "created_at": row["created_at"],
                "expires_at": row["expires_at"],
                "checked_at": checked_at,
                "label": row["label"],
            }
            for row in rows
        ]
        return [{name: value for name, value in key.items() if value is not None} for key in listed]

    return (check_api_key_status, list_api_keys)


def _status(row: sqlite3.Row, now: str) -> str:
    """The stored status, or `expired`: a key can pass its last day between two runs of the job that writes it."""
    # Stamps sort as text.
    lapsed = row["status"] == "active" and row["expires_at"] is not None and row["expires_at"] <= now
    return "expired" if lapsed else str(row["status"])
