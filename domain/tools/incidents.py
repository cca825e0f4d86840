"""Reading incidents: those that everybody sees and those of the own tenant."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from domain.database import Database
from domain.ownership import EVERY_ROLE
from domain.times import stamp
from domain.tools.arguments import failing_typed
from domain.tools.fields import MOMENT, one_of, read_fails
from state.contract import Effect, OutputField
from state.run import PUBLIC_TENANT
from state.tools import Tool, ToolContext, tool

Query = Annotated[str | None, Field(max_length=200, description="Words that the incident is about.")]
Component = Annotated[
    Literal["api", "webhooks", "dashboard", "billing"] | None, Field(description="The part of the service.")
]
MOST = 10

INCIDENTS = """
    SELECT incident_id, component, status, title, summary, started_at, resolved_at
    FROM incidents
    WHERE tenant IN (:tenant, :public) AND (component = :component OR :component IS NULL)
    ORDER BY started_at DESC, incident_id
"""


def incident_tools(database: Database) -> tuple[Tool, ...]:
    """The tools that read incidents."""

    @tool(
        effect=Effect.READ,
        roles=EVERY_ROLE,
        idempotent=True,
        failures=read_fails(),
        max_rows=MOST,
        output=(
            OutputField(name="incident_id", trust="system", required=True),
            OutputField(
                name="component",
                trust="system",
                json_schema=one_of(("api", "webhooks", "dashboard", "billing")),
                required=True,
            ),
            OutputField(
                name="status",
                trust="system",
                json_schema=one_of(("investigating", "monitoring", "resolved")),
                required=True,
            ),
            OutputField(name="started_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="resolved_at", trust="system", json_schema=MOMENT),
            OutputField(name="checked_at", trust="system", json_schema=MOMENT, required=True),
            OutputField(name="title", trust="untrusted"),
            OutputField(name="summary", trust="untrusted"),
        ),
    )
    def search_incidents(
        context: ToolContext, *, query: Query = None, component: Component = None
    ) -> list[Mapping[str, Any]]:
        """Search open and past incidents (incidencias): outages, errors and delays of API, webhooks or billing.

        Newest first; with a query, those first whose title and summary share most of its words, and only those that
        share one. Errors: `unavailable`.
        """
        wanted = {"tenant": context.scope.tenant, "public": PUBLIC_TENANT, "component": component}
        with failing_typed(), database.read() as connection:
            rows = connection.execute(INCIDENTS, wanted).fetchall()
        words = _words(query or "")
        matches = [(len(words & _words(f"{row['title']} {row['summary']}")), row) for row in rows]
        if words:
            # The sort is stable: among equals the newest stays first.
            matches = sorted((match for match in matches if match[0]), key=lambda match: -match[0])
        checked_at = stamp(context.now)
        return [
            {name: value for name, value in dict(row).items() if value is not None} | {"checked_at": checked_at}
            for _, row in matches[:MOST]
        ]

    return (search_incidents,)


def _words(text: str) -> frozenset[str]:
    """The words that carry meaning: short ones match everything."""
    return frozenset(word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3)
