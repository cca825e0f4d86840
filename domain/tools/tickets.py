"""Reading support tickets. What people wrote into them is theirs: quoted, never trusted."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from domain.database import Database
from domain.ownership import EVERY_ROLE, visible_ticket, visible_tickets
from domain.times import stamp
from domain.tools.arguments import AccountId, TicketId, failing_typed, not_found
from domain.tools.fields import MOMENT, one_of, read_fails
from state.contract import Effect, OutputField
from state.tools import Tool, ToolContext, tool

Standing = Annotated[Literal["open", "closed"] | None, Field(description="Whether the ticket is open or closed.")]
OfAccount = Annotated[AccountId | None, Field(description="The id of one account; without it, every visible one.")]
MOST = 20

NOTES = """
    SELECT written_at, role AS written_by, note
    FROM ticket_notes AS n JOIN people AS p ON p.name = n.written_by
    WHERE n.ticket_id = :ticket_id AND n.tenant = :tenant
    ORDER BY n.note_id
"""


def ticket_tools(database: Database) -> tuple[Tool, ...]:
    """The tools that read tickets: one lists them in short, one shows a single ticket whole."""

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        resources={"account_id": "account"},
        idempotent=True,
        failures=read_fails(),
        max_rows=MOST,
        output=(
            OutputField(name="ticket_id", trust="system", required=True),
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(("open", "closed")), required=True),
            OutputField(name="opened_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="checked_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="concern", trust="untrusted"),
        ),
    )
    def list_tickets(
        context: ToolContext, *, account_id: OfAccount = None, status: Standing = None
    ) -> list[Mapping[str, Any]]:
        """List support tickets, open and closed, newest first, each with what it is about.

        Errors: `unavailable`.
        """
        with failing_typed(), database.read() as connection:
            rows = visible_tickets(connection, context.scope, account_id=account_id, status=status)
        return [
            {
                "ticket_id": row["ticket_id"],
                "account_id": row["account_id"],
                "status": row["status"],
                "opened_at": row["opened_at"],
                "checked_at": stamp(context.now),
                "concern": row["objective"],
            }
            for row in rows[:MOST]
        ]

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        resources={"ticket_id": "ticket"},
        idempotent=True,
        failures=read_fails("not_found"),
        output=(
            OutputField(name="ticket_id", trust="system", required=True),
            OutputField(name="account_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(("open", "closed")), required=True),
            OutputField(name="opened_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="checked_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="concern", trust="untrusted"),
            OutputField(name="tried", trust="untrusted"),
            OutputField(name="notes", trust="untrusted"),
        ),
    )
    def get_ticket(context: ToolContext, *, ticket_id: TicketId) -> dict[str, Any]:
        """Get one support ticket in detail: its state, what was tried, and the history of its notes.

        Errors: `not_found`, `unavailable`.
        """
        with failing_typed(), database.read() as connection:
            row = visible_ticket(connection, context.scope, ticket_id)
            if row is None:
                raise not_found("ticket")
            notes = connection.execute(NOTES, {"ticket_id": ticket_id, "tenant": context.scope.tenant}).fetchall()
        return {
            "ticket_id": row["ticket_id"],
            "account_id": row["account_id"],
            "status": row["status"],
            "opened_at": row["opened_at"],
            "checked_at": stamp(context.now),
            "concern": row["objective"],
            "tried": row["tried"],
            "notes": [dict(note) for note in notes],
        }

    return (list_tickets, get_ticket)
