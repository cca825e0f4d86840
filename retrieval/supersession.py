"""When a document version ends: at its own end, or where a successor begins, whichever is earlier (H13)."""

import json
from collections.abc import Set
from typing import Any

from sqlalchemy import Connection, Row, select, update

from retrieval.access import FOREVER_US
from retrieval.tables import documents, runs_of


def compute_ends(connection: Connection, tenant: str, changed: Set[str]) -> None:
    """A version ends where a successor begins: the same id from a later moment, or one that names it (H13).

    Looked at are the documents that changed, those that any version names, and those that had been replaced: what
    named them may be gone.
    """
    own = documents.c.tenant == tenant
    naming = connection.execute(
        select(documents.c.document_id, documents.c.supersedes, documents.c.from_us).where(
            own, documents.c.supersedes != "[]"
        )
    )
    named: dict[str, list[int]] = {}
    for row in naming:
        for name in json.loads(row.supersedes):
            named.setdefault(name if "@" in name else f"{row.document_id}@{name}", []).append(row.from_us)
    replaced_before = select(documents.c.document_id).where(own, documents.c.replaced == 1)
    ids = {*changed, *(name.partition("@")[0] for name in named), *connection.execute(replaced_before).scalars()}
    columns = [column for column in documents.c if column.name not in {"text", "acl"}]
    rows: list[Row[*tuple[Any, ...]]] = []
    for some in runs_of(sorted(ids)):
        rows += connection.execute(select(*columns).where(own, documents.c.document_id.in_(some))).all()
    by_id: dict[str, list[int]] = {}
    for row in rows:
        by_id.setdefault(row.document_id, []).append(row.from_us)
    for row in rows:
        later = [from_us for from_us in by_id[row.document_id] if from_us > row.from_us]
        later += named.get(f"{row.document_id}@{row.version}", [])
        successor_us = min(later, default=FOREVER_US)
        replaced = successor_us < row.own_until_us
        until_us = min(successor_us, row.own_until_us)
        if (until_us, replaced) != (row.until_us, bool(row.replaced)):
            this = update(documents).where(documents.c.generation == row.generation)
            connection.execute(this.values(until_us=until_us, replaced=int(replaced)))
