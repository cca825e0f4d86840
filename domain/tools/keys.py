"""Reading the state of an API key."""

from typing import Annotated, Any

from pydantic import Field

from domain.database import Database
from domain.ownership import visible_account, visible_key
from domain.times import stamp
from domain.tools.arguments import EVERY_ROLE, AccountId, KeyId, failing_typed, not_found
from state.tools import Effect, OutputField, Tool, ToolContext, ToolError, tool

KeyIdOrInUse = Annotated[KeyId | None, Field(description="The id of one API key; without it, the key in use.")]


def key_tools(database: Database) -> tuple[Tool, ...]:
    """The tools that read keys. None of them can reach a value: see Database."""

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        resources={"account_id": "account", "key_id": "api_key"},
        idempotent=True,
        output=(
            OutputField(name="account_id", trust="system"),
            OutputField(name="key_id", trust="system"),
            OutputField(name="status", trust="system"),
            OutputField(name="reason", trust="system"),
            OutputField(name="revoked_at", trust="system"),
            OutputField(name="expires_at", trust="system"),
            OutputField(name="checked_at", trust="system"),
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
        # A key can pass its last day between two runs of the job that writes the status. Stamps sort as text.
        lapsed = row["status"] == "active" and row["expires_at"] is not None and row["expires_at"] <= checked_at
        status = "expired" if lapsed else row["status"]
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

    return (check_api_key_status,)
