"""Replacing an API key by a new one."""

import hashlib
import sqlite3
from typing import Any

from domain.database import Database
from domain.ownership import ADMIN, visible_key
from domain.times import stamp
from domain.tools.arguments import KeyId, effect_key, failing_typed, key_reused, not_found
from domain.tools.fields import MOMENT, change_fails, one_of
from state.contract import Effect, OutputField, Rate
from state.labels import Argument
from state.tools import Tool, ToolContext, ToolError, tool

# A disabled key waits for a review and a pending one for its owner: neither ends by making another key.
ROTATABLE = ("active", "revoked", "expired", "rate_limited")

# The new value is drawn inside SQLite and never passes through Python. Idempotency does not rest on it: a repeated
# call finds the row in `rotations`.
INSERT = """
    INSERT INTO api_keys (key_id, tenant, account_id, label, value, status, reason, in_use, created_at, changed_at)
    VALUES (:new_key_id, :tenant, :account_id, :label, 'sk-demo-' || lower(hex(randomblob(16))),
            'active', NULL, 0, :now, :now)
"""
RETIRE = """
    UPDATE api_keys SET status = 'revoked', in_use = 0, replaced_by = :new_key_id,
      reason = CASE status WHEN 'revoked' THEN reason ELSE 'rotated' END,
      changed_at = CASE status WHEN 'revoked' THEN changed_at ELSE :now END
    WHERE key_id = :key_id AND tenant = :tenant
"""


def rotation_tools(database: Database) -> tuple[Tool, ...]:
    """The tool that rotates keys."""

    def read_back(context: ToolContext, *, key_id: KeyId) -> dict[str, Any] | None:
        with failing_typed(), database.read() as connection:
            return _already_done(connection, context, key_id)

    @tool(
        effect=Effect.WRITE,
        roles=(ADMIN,),
        resources={"key_id": "api_key"},
        arguments={"key_id": Argument(role="object")},
        confirm=True,
        rates=(Rate(policy_key="rotations_per_hour", per="actor", window_s=3_600),),
        idempotent=True,
        reversible=False,
        read_back=read_back,
        failures=change_fails("not_found", "already_rotated", "not_rotatable", "no_id_left"),
        output=(
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="key_id", trust="system", required=True),
            OutputField(name="new_key_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(("rotated",)), required=True),
            OutputField(name="rotated_at", trust="system", json_schema=MOMENT, required=True),
        ),
    )
    def rotate_api_key(context: ToolContext, *, key_id: KeyId) -> dict[str, Any]:
        """Rotate an API key: replace it by a new one; the old one stops working for good.

        The new value is not returned; its owner reads it once in the dashboard. The same idempotency key gives the
        same result without a second rotation. Errors: `not_found`, `already_rotated`, `not_rotatable`,
        `no_id_left`, `idempotency_key_missing`, `idempotency_key_reused`, `unavailable`.
        """
        effect_key(context)
        with failing_typed(), database.write() as connection:
            done = _already_done(connection, context, key_id)
            return done if done is not None else _rotate(connection, context, key_id)

    return (rotate_api_key,)


def _already_done(connection: sqlite3.Connection, context: ToolContext, key_id: str) -> dict[str, Any] | None:
    row = connection.execute(
        "SELECT account_id, key_id, new_key_id, rotated_at, tenant FROM rotations WHERE idempotency_key = ?",
        (context.idempotency_key,),
    ).fetchone()
    if row is None:
        return None
    if (row["tenant"], row["key_id"]) != (context.scope.tenant, key_id):
        raise key_reused()
    return _result(row["account_id"], row["key_id"], row["new_key_id"], row["rotated_at"])


def _rotate(connection: sqlite3.Connection, context: ToolContext, key_id: str) -> dict[str, Any]:
    row = visible_key(connection, context.scope, key_id=key_id)
    if row is None:
        raise not_found("API key")
    if row["replaced_by"] is not None:
        raise ToolError("already_rotated", "this API key was replaced before")
    if row["status"] not in ROTATABLE:
        raise ToolError("not_rotatable", f"an API key that is {row['status']} cannot be rotated")
    in_use = connection.execute("SELECT in_use FROM api_keys WHERE key_id = ?", (key_id,)).fetchone()["in_use"]
    values = {
        "key_id": key_id,
        "new_key_id": _free_id(connection, context.idempotency_key),
        "tenant": context.scope.tenant,
        "account_id": row["account_id"],
        "label": row["label"],
        "in_use": in_use,
        "now": stamp(context.now),
    }
    # The old row first names its successor, which therefore has to exist; only one of the two may be in use.
    connection.execute(INSERT, values)
    connection.execute(RETIRE, values)
    connection.execute("UPDATE api_keys SET in_use = :in_use WHERE key_id = :new_key_id", values)
    connection.execute(
        "INSERT INTO rotations VALUES (:idempotency_key, :tenant, :account_id, :key_id, :new_key_id, :now)",
        values | {"idempotency_key": context.idempotency_key},
    )
    return _result(row["account_id"], key_id, str(values["new_key_id"]), str(values["now"]))


def _free_id(connection: sqlite3.Connection, origin: str) -> str:
    """An unused key id, found from the effect's key: a counter would tell one tenant how many keys others made."""
    start = int(hashlib.sha256(origin.encode()).hexdigest(), 16)
    for step in range(10_000):
        candidate = f"K-{(start + step) % 10_000:04d}"
        if connection.execute("SELECT 1 FROM api_keys WHERE key_id = ?", (candidate,)).fetchone() is None:
            return candidate
    raise ToolError("no_id_left", "every key id is taken")


def _result(account_id: str, key_id: str, new_key_id: str, rotated_at: str) -> dict[str, Any]:
    return {
        "account_id": account_id,
        "key_id": key_id,
        "new_key_id": new_key_id,
        "status": "rotated",
        "rotated_at": rotated_at,
    }
