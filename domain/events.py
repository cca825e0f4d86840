"""The kinds of events that the support agent may be told (S3), each looked up again before anybody is told."""

from collections.abc import Mapping
from datetime import datetime

from domain.database import Database
from state.domain import StillSo
from state.events import Event
from state.run import PUBLIC_TENANT, Scope

STATUS = "SELECT status FROM incidents WHERE incident_id = :incident AND tenant IN (:tenant, :public)"


def events(database: Database) -> Mapping[str, StillSo]:
    """The kinds: an incident that began, or ended. What one is about is the incident's id."""

    def status(scope: Scope, event: Event) -> str | None:
        wanted = {"incident": event.about, "tenant": scope.tenant, "public": PUBLIC_TENANT}
        with database.read() as connection:
            row = connection.execute(STATUS, wanted).fetchone()
        return None if row is None else str(row["status"])

    def is_open(scope: Scope, event: Event, now: datetime) -> bool:
        return status(scope, event) in ("investigating", "monitoring")

    def is_over(scope: Scope, event: Event, now: datetime) -> bool:
        return status(scope, event) == "resolved"

    return {"incident_began": is_open, "incident_ended": is_over}
