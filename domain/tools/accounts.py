"""Reading an account."""

from typing import Any

from domain.database import Database
from domain.ownership import EVERY_ROLE, visible_account, visible_key
from domain.times import stamp
from domain.tools.arguments import AccountId, failing_typed, not_found
from domain.tools.fields import MOMENT, one_of, read_fails
from state.contract import Effect, OutputField
from state.tools import Tool, ToolContext, tool


def account_tools(database: Database) -> tuple[Tool, ...]:
    """The tools that read accounts."""

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        resources={"account_id": "account"},
        idempotent=True,
        failures=read_fails("not_found"),
        output=(
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="plan", trust="system", required=True),
            OutputField(
                name="standing", trust="system", json_schema=one_of(("good", "overdue", "suspended")), required=True
            ),
            OutputField(name="requests_per_minute", trust="system"),
            OutputField(name="requests_per_month", trust="system"),
            OutputField(
                name="requests_left_this_month",
                trust="system",
                json_schema={"type": "integer", "minimum": 0},
                required=True,
            ),
            OutputField(name="key_in_use", trust="system"),
            OutputField(name="customer_since", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="checked_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="display_name", trust="untrusted"),
        ),
    )
    def get_account(context: ToolContext, *, account_id: AccountId) -> dict[str, Any]:
        """Get an account (cuenta): plan, payment standing, limits, requests (peticiones) left this month, key in use.

        Errors: `not_found`, `unavailable`.
        """
        with failing_typed(), database.read() as connection:
            row = visible_account(connection, context.scope, account_id)
            if row is None:
                raise not_found("account")
            key = visible_key(connection, context.scope, account_id=account_id)
        return {
            "account_id": row["account_id"],
            "plan": row["plan"],
            "standing": row["standing"],
            "requests_per_minute": row["requests_per_minute"],
            "requests_per_month": row["requests_per_month"],
            "requests_left_this_month": max(0, row["requests_per_month"] - row["requests_this_month"]),
            "key_in_use": key["key_id"] if key else None,
            "customer_since": row["created_at"],
            "checked_at": stamp(context.now),
            "display_name": row["display_name"],
        }

    return (get_account,)
