"""Deleting an API key for good."""

import sqlite3
from typing import Any

from domain.database import Database
from domain.ownership import ADMIN, visible_key
from domain.times import stamp
from domain.tools.arguments import KeyId, effect_key, failing_typed, key_reused, not_found
from domain.tools.fields import MOMENT, change_fails, one_of
from state.contract import Effect, OutputField
from state.labels import Argument
from state.tools import Tool, ToolContext, ToolError, tool

# The row stays, without its value: rotations point at it, and a reused id would make old records lie.
DELETE = """
    UPDATE api_keys SET value = '', in_use = 0, deleted_at = :now WHERE key_id = :key_id AND tenant = :tenant
"""


def deletion_tools(database: Database) -> tuple[Tool, ...]:
    """The tool that deletes keys."""

    def read_back(context: ToolContext, *, key_id: KeyId) -> dict[str, Any] | None:
        with failing_typed(), database.read() as connection:
            return _already_done(connection, context, key_id)

    @tool(
        effect=Effect.WRITE,
        roles=(ADMIN,),
        resources={"key_id": "api_key"},
        arguments={"key_id": Argument(role="object")},
        confirm=True,
        idempotent=True,
        reversible=False,
        read_back=read_back,
        failures=change_fails("not_found", "under_review"),
        output=(
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="key_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(("deleted",)), required=True),
            OutputField(name="deleted_at", trust="system", json_schema=MOMENT, required=True),
        ),
    )
    def delete_api_key(context: ToolContext, *, key_id: KeyId) -> dict[str, Any]:
        """Delete an API key (borrar, eliminar) without making another; services that send it are refused from then on.

        A key under review stays, because its traffic is evidence. Errors: `not_found`, `under_review`,
        `idempotency_key_missing`, `idempotency_key_reused`, `unavailable`.
        """
        effect = effect_key(context)
        with failing_typed(), database.write() as connection:
            done = _already_done(connection, context, key_id)
            if done is not None:
                return done
            row = visible_key(connection, context.scope, key_id=key_id)
            if row is None:
                raise not_found("API key")
            if row["status"] == "disabled":
                raise ToolError("under_review", "an API key that is disabled stays until its review ends")
            values = {"key_id": key_id, "tenant": context.scope.tenant, "now": stamp(context.now)}
            connection.execute(DELETE, values)
            connection.execute(
                "INSERT INTO deletions VALUES (:effect, :tenant, :account_id, :key_id, :now)",
                values | {"effect": effect, "account_id": row["account_id"]},
            )
            return _result(row["account_id"], key_id, values["now"])

    return (delete_api_key,)


def _already_done(connection: sqlite3.Connection, context: ToolContext, key_id: str) -> dict[str, Any] | None:
    row = connection.execute(
        "SELECT tenant, account_id, key_id, deleted_at FROM deletions WHERE idempotency_key = ?",
        (context.idempotency_key,),
    ).fetchone()
    if row is None:
        return None
    if (row["tenant"], row["key_id"]) != (context.scope.tenant, key_id):
        raise key_reused()
    return _result(row["account_id"], key_id, row["deleted_at"])


def _result(account_id: str, key_id: str, deleted_at: str) -> dict[str, Any]:
    return {"account_id": account_id, "key_id": key_id, "status": "deleted", "deleted_at": deleted_at}
