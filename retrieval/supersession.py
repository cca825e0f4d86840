"""When a document version ends: at its own end, or where a successor begins, whichever is earlier (H13)."""

import json

from sqlalchemy import Connection, select, update

from retrieval.access import FOREVER_US
from retrieval.tables import documents


def compute_ends(connection: Connection, tenant: str) -> None:
    """A version ends where a successor begins: the same id from a later moment, or one that names it (H13)."""
    columns = [column for column in documents.c if column.name != "text"]
    rows = connection.execute(select(*columns).where(documents.c.tenant == tenant)).all()
    by_id: dict[str, list[int]] = {}
    named: dict[str, list[int]] = {}
    for row in rows:
        by_id.setdefault(row.document_id, []).append(row.from_us)
        for name in json.loads(row.supersedes):
            named.setdefault(name if "@" in name else f"{row.document_id}@{name}", []).append(row.from_us)
    for row in rows:
        later = [from_us for from_us in by_id[row.document_id] if from_us > row.from_us]
        later += named.get(f"{row.document_id}@{row.version}", [])
        successor_us = min(later, default=FOREVER_US)
        replaced = successor_us < row.own_until_us
        until_us = min(successor_us, row.own_until_us)
        if (until_us, replaced) != (row.until_us, bool(row.replaced)):
            this = update(documents).where(documents.c.generation == row.generation)
            connection.execute(this.values(until_us=until_us, replaced=int(replaced)))
