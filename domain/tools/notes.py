"""Writing on a support ticket."""

import sqlite3
from typing import Annotated, Any

from pydantic import Field

from domain.database import Database
from domain.ownership import EVERY_ROLE, visible_ticket
from domain.times import stamp
from domain.tools.arguments import TicketId, effect_key, failing_typed, key_reused, not_found
from domain.tools.fields import MOMENT, change_fails, one_of
from state.contract import Effect, OutputField
from state.tools import Tool, ToolContext, ToolError, tool

Note = Annotated[str, Field(min_length=1, max_length=1000, description="What the note says.")]


def note_tools(database: Database) -> tuple[Tool, ...]:
    """The tool that adds notes. A note harms nobody and a person can strike it: it needs no confirmation."""

    def read_back(context: ToolContext, *, ticket_id: TicketId, note: Note) -> dict[str, Any] | None:
        with failing_typed(), database.read() as connection:
            return _already_done(connection, context, ticket_id, note)

    @tool(
        effect=Effect.WRITE,
        roles=EVERY_ROLE,
        resources={"ticket_id": "ticket"},
        idempotent=True,
        read_back=read_back,
        failures=change_fails("not_found", "ticket_closed"),
        output=(
            OutputField(name="ticket_id", trust="system", required=True),
            OutputField(name="status", trust="system", json_schema=one_of(("noted",)), required=True),
            OutputField(name="written_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="note", trust="untrusted"),
        ),
    )
    def add_ticket_note(context: ToolContext, *, ticket_id: TicketId, note: Note) -> dict[str, Any]:
        """Add a note to an open support ticket (añadir una nota), in the name of the person who asks for it.

        Errors: `not_found`, `ticket_closed`, `idempotency_key_missing`, `idempotency_key_reused`, `unavailable`.
        """
        effect = effect_key(context)
        with failing_typed(), database.write() as connection:
            done = _already_done(connection, context, ticket_id, note)
            if done is not None:
                return done
            row = visible_ticket(connection, context.scope, ticket_id)
            if row is None:
                raise not_found("ticket")
            if row["status"] != "open":
                raise ToolError("ticket_closed", "a closed ticket takes no notes; open another one")
            now = stamp(context.now)
            connection.execute(
                "INSERT INTO ticket_notes VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                (ticket_id, context.scope.tenant, context.scope.principal.name, note, now, effect),
            )
            return _result(ticket_id, note, now)

    return (add_ticket_note,)


def _already_done(
    connection: sqlite3.Connection, context: ToolContext, ticket_id: str, note: str
) -> dict[str, Any] | None:
    row = connection.execute(
        "SELECT tenant, ticket_id, note, written_at FROM ticket_notes WHERE idempotency_key = ?",
        (context.idempotency_key,),
    ).fetchone()
    if row is None:
        return None
    if (row["tenant"], row["ticket_id"], row["note"]) != (context.scope.tenant, ticket_id, note):
        raise key_reused()
    return _result(ticket_id, note, row["written_at"])


def _result(ticket_id: str, note: str, written_at: str) -> dict[str, Any]:
    return {"ticket_id": ticket_id, "status": "noted", "written_at": written_at, "note": note}
