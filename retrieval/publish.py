"""Writing to the catalogue: announce a generation, make it live, end versions, forget leftovers.

The order of an ingest is: announce → write both stores → publish → sweep. Only `publish` is visible to readers.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select, update

from retrieval.access import FOREVER_US, microseconds
from retrieval.document import Document
from retrieval.supersession import compute_ends
from retrieval.tables import changes, chunks, documents, leftovers, reachable, revisions, runs_of
from state.knowledge import Chunk
from state.value import Value


class Edition(Value):
    """A document version in one state, cut and ready to be written."""

    document: Document
    generation: str
    chunks: tuple[Chunk, ...]

    @property
    def own_until_us(self) -> int:
        """Its own end, successors aside, in microseconds since 1970."""
        end = self.document.front.effective_to
        return FOREVER_US if end is None else microseconds(end)


class Held(Value):
    """A row of the catalogue as the ingest compares it."""

    tenant: str
    document_id: str
    version: str
    generation: str
    file: str
    origin: str
    acl: tuple[str, ...]

    @property
    def source(self) -> str:
        return f"{self.document_id}@{self.version}"


class Ended(Value):
    """A live version whose end in force differs from the one the stores hold."""

    tenant: str
    generation: str
    until_us: int


class Publisher:
    """The catalogue's writing side, for one ingest at a time. Raises StoreUnavailable.

    `writer` names the opened library: a change by another one tells an index that its client is out of date.
    """

    def __init__(self, engine: Engine, writer: str) -> None:
        self._engine = engine
        self._writer = writer

    def held(self) -> tuple[Held, ...]:
        """Every document version there is."""
        query = select(*(documents.c[name] for name in Held.model_fields))
        with reachable("catalogue"), self._engine.connect() as connection:
            rows = connection.execute(query)
            return tuple(Held(**{**row._mapping, "acl": tuple(json.loads(row.acl))}) for row in rows)

    def leftovers(self) -> tuple[tuple[str, str], ...]:
        """Tenant and name of each generation that lies in the stores and is not live."""
        with reachable("catalogue"), self._engine.connect() as connection:
            return tuple((row.tenant, row.generation) for row in connection.execute(select(leftovers)))

    def announce(self, editions: Sequence[Edition]) -> None:
        """Note generations before a store sees them, so that a crash leaves nothing unnamed."""
        rows = [{"generation": edition.generation, "tenant": edition.document.front.tenant} for edition in editions]
        bodies = [
            {"chunk_id": chunk.chunk_id, "generation": edition.generation, "body": chunk.model_dump_json()}
            for edition in editions
            for chunk in edition.chunks
        ]
        with reachable("catalogue"), self._engine.begin() as connection:
            connection.execute(insert(leftovers), rows)
            connection.execute(insert(chunks), bodies)

    def publish(self, editions: Sequence[Edition], withdrawn: Sequence[Held], origin: str, at: datetime) -> None:
        """The commit: editions become live, withdrawn rows go, ends are computed anew, in one transaction."""
        touched: dict[str, set[str]] = {}
        for held in withdrawn:
            touched.setdefault(held.tenant, set()).add(held.document_id)
        for edition in editions:
            touched.setdefault(edition.document.front.tenant, set()).add(edition.document.front.id)
        with reachable("catalogue"), self._engine.begin() as connection:
            for tenant, ids in sorted(touched.items()):
                before = _taken_out(connection, tenant, ids, editions, withdrawn)
                own = [edition for edition in editions if edition.document.front.tenant == tenant]
                _put_in(connection, own, origin)
                gone = [held for held in withdrawn if held.tenant == tenant]
                log = [*(_removal(held, at) for held in gone), *(_arrival(edition, before, at) for edition in own)]
                connection.execute(insert(changes), log)
                compute_ends(connection, tenant, ids)
                _count_revision(connection, tenant, self._writer)

    def moved(self, held: Held, file: str, origin: str) -> None:
        """An unchanged document lies under another name now."""
        row = (documents.c.generation == held.generation,)
        with reachable("catalogue"), self._engine.begin() as connection:
            connection.execute(update(documents).where(*row).values(file=file, origin=origin))

    def ended(self) -> tuple[Ended, ...]:
        """Live versions whose end has to be told to the stores."""
        query = select(documents.c.tenant, documents.c.generation, documents.c.until_us)
        query = query.where(documents.c.until_us != documents.c.indexed_until_us)
        with reachable("catalogue"), self._engine.connect() as connection:
            return tuple(
                Ended(tenant=row.tenant, generation=row.generation, until_us=row.until_us)
                for row in connection.execute(query)
            )

    def told(self, ended: Ended) -> None:
        """The stores hold this end now."""
        row = update(documents).where(documents.c.generation == ended.generation)
        with reachable("catalogue"), self._engine.begin() as connection:
            connection.execute(row.values(indexed_until_us=ended.until_us))

    def forgotten(self, generations: Iterable[str]) -> None:
        """These generations lie in no store any more."""
        with reachable("catalogue"), self._engine.begin() as connection:
            for names in runs_of(list(generations)):
                connection.execute(delete(chunks).where(chunks.c.generation.in_(names)))
                connection.execute(delete(leftovers).where(leftovers.c.generation.in_(names)))


def _taken_out(
    connection: Connection, tenant: str, ids: set[str], editions: Sequence[Edition], withdrawn: Sequence[Held]
) -> dict[tuple[str, str], str]:
    """Delete the rows that go or are replaced: acl by id and version. Their generations are left over."""
    keys = {(edition.document.front.id, edition.document.front.version) for edition in editions}
    keys |= {(held.document_id, held.version) for held in withdrawn}
    query = select(documents.c.document_id, documents.c.version, documents.c.generation, documents.c.acl)
    found = [
        row
        for some in runs_of(sorted(ids))
        for row in connection.execute(query.where(documents.c.tenant == tenant, documents.c.document_id.in_(some)))
    ]
    rows = [row for row in found if (row.document_id, row.version) in keys]
    for generations in runs_of([row.generation for row in rows]):
        connection.execute(delete(documents).where(documents.c.generation.in_(generations)))
        connection.execute(insert(leftovers), [{"generation": name, "tenant": tenant} for name in generations])
    return {(row.document_id, row.version): row.acl for row in rows}


def _put_in(connection: Connection, editions: Sequence[Edition], origin: str) -> None:
    if not editions:
        return
    names = [edition.generation for edition in editions]
    connection.execute(delete(leftovers).where(leftovers.c.generation.in_(names)))
    connection.execute(insert(documents), [_row(edition, origin) for edition in editions])


def _row(edition: Edition, origin: str) -> dict[str, Any]:
    front = edition.document.front
    return {
        "tenant": front.tenant,
        "document_id": front.id,
        "version": front.version,
        "generation": edition.generation,
        "origin": origin,
        "file": edition.document.file,
        "text": edition.document.text,
        "acl": json.dumps(front.acl),
        "product": front.product,
        "supersedes": json.dumps(front.supersedes),
        "from_us": microseconds(front.effective_from),
        "own_until_us": edition.own_until_us,
        "until_us": edition.own_until_us,
        "replaced": 0,
        "indexed_until_us": edition.own_until_us,
        "chunks": len(edition.chunks),
    }


def _arrival(edition: Edition, before: Mapping[tuple[str, str], str], at: datetime) -> dict[str, Any]:
    front = edition.document.front
    acl_before = before.get((front.id, front.version))
    return {
        "at_us": microseconds(at),
        "tenant": front.tenant,
        "source": edition.document.source,
        "file": edition.document.file,
        "action": "added" if acl_before is None else "changed",
        "acl_before": acl_before,
        "acl_after": json.dumps(front.acl),
    }


def _removal(held: Held, at: datetime) -> dict[str, Any]:
    return {
        "at_us": microseconds(at),
        "tenant": held.tenant,
        "source": held.source,
        "file": held.file,
        "action": "removed",
        "acl_before": json.dumps(held.acl),
        "acl_after": None,
    }


def _count_revision(connection: Connection, tenant: str, writer: str) -> None:
    this = revisions.c.tenant == tenant
    number = connection.execute(select(revisions.c.number).where(this)).scalar_one_or_none()
    if number is None:
        connection.execute(insert(revisions).values(tenant=tenant, number=1, writer=writer))
    else:
        connection.execute(update(revisions).where(this).values(number=number + 1, writer=writer))
