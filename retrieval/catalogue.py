"""The catalogue: which document versions there are, which generation of each is live, who may see it, and when."""

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Connection, Engine, Row, bindparam, select

from retrieval.access import FOREVER_US, Window, known_groups, microseconds, moment, tenants
from retrieval.entries import Change, Entry, Readable, Revision, Stand
from retrieval.tables import changes, chunks, documents, leftovers, reachable, revisions
from state.canonical import digest
from state.context import DropReason
from state.knowledge import Chunk, Excluded
from state.run import Access

KEPT_GENERATIONS = 256  # answers of `generation` remembered per process


@dataclass(frozen=True)
class _Named:
    """A remembered generation: good while the revisions are the same and no version begins or ends."""

    revisions: tuple[Revision, ...]
    from_us: int
    until_us: int
    name: str


_ENTRY = [column for column in documents.c if column.name not in {"text", "supersedes"}]
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_TENANTS: BindParameter[Any] = bindparam("tenants", expanding=True)

# Built once: putting a statement together costs more than running it.
_ALL_REVISIONS = select(revisions).order_by(revisions.c.tenant)
_REVISIONS = _ALL_REVISIONS.where(revisions.c.tenant.in_(_TENANTS))
_NOT_LIVE = select(leftovers.c.generation).where(leftovers.c.tenant.in_(_TENANTS)).order_by(leftovers.c.generation)
_ENTRIES = (
    select(*_ENTRY)
    .where(documents.c.tenant.in_(_TENANTS))
    .order_by(documents.c.tenant, documents.c.document_id, documents.c.version)
)
_VERSIONS = select(*_ENTRY).where(documents.c.document_id.in_(_IDS), documents.c.tenant.in_(_TENANTS))
_CHUNKS = (
    select(chunks.c.chunk_id, chunks.c.body, *_ENTRY)
    .join(documents, documents.c.generation == chunks.c.generation)
    .where(chunks.c.chunk_id.in_(_IDS), documents.c.tenant.in_(_TENANTS))
)


class Catalogue:
    """What may be read of the library. Every method raises StoreUnavailable when the database cannot be reached."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._named: dict[tuple[Any, ...], _Named] = {}
        self._lock = threading.Lock()

    def entries(self, tenant_names: Sequence[str]) -> tuple[Entry, ...]:
        """All document versions of some tenants, by id and version."""
        with reachable("catalogue"), self.engine.connect() as connection:
            return tuple(map(_entry, connection.execute(_ENTRIES, {"tenants": tenant_names})))

    def admitted(self, access: Access) -> tuple[Entry, ...]:
        """All document versions that an access may see, in force or not. Raises AccessUnknown."""
        known_groups(access)
        return tuple(entry for entry in self.entries(tenants(access)) if entry.admitted(access))

    def readable(self, chunk_ids: Sequence[str], access: Access) -> Readable:
        """The chunks among some ids that the access may read now: live, admitted and in force.

        This is the check on every hit, made against the catalogue and not against what a store says of itself.
        `effective_to` counts the successor in.
        """
        known_groups(access)
        now_us = microseconds(access.now)
        found: dict[str, Chunk] = {}
        with reachable("catalogue"), self.engine.connect() as connection:
            for row in connection.execute(_CHUNKS, {"ids": list(chunk_ids), "tenants": tenants(access)}):
                entry = _entry(row)
                if entry.admitted(access) and entry.window.out_of_force(now_us) is None:
                    until_us = entry.window.until_us
                    end = None if until_us == FOREVER_US else moment(until_us)
                    body = Chunk.model_validate_json(row.body)
                    found[row.chunk_id] = body.model_copy(update={"effective_to": end})
            return Readable(chunks=found, revisions=_revisions(connection, tenants(access)))

    def documents_of(self, chunk_ids: Sequence[str]) -> set[str]:
        """Whose chunks some ids are: the ids of their documents, whoever may read them. For measuring."""
        query = select(documents.c.document_id).join(chunks, documents.c.generation == chunks.c.generation)
        with reachable("catalogue"), self.engine.connect() as connection:
            return set(connection.execute(query.where(chunks.c.chunk_id.in_(_IDS)), {"ids": list(chunk_ids)}).scalars())

    def excluded(self, found: Iterable[Chunk], access: Access) -> tuple[Excluded, ...]:
        """The other versions of found documents that the access may see, and why each is not in force (H13)."""
        documents_found = {(chunk.tenant, chunk.document_id) for chunk in found}
        asked = {"ids": sorted({document_id for _, document_id in documents_found}), "tenants": tenants(access)}
        now_us = microseconds(access.now)
        out: list[tuple[int, str, Excluded]] = []
        with reachable("catalogue"), self.engine.connect() as connection:
            for entry in map(_entry, connection.execute(_VERSIONS, asked)):
                reason = entry.window.out_of_force(now_us)
                if reason and entry.admitted(access) and (entry.tenant, entry.document_id) in documents_found:
                    excluded = Excluded(source=entry.source, version=entry.version, reason=reason)
                    out.append((entry.window.from_us, entry.source, excluded))
        return tuple(excluded for _, _, excluded in sorted(out, key=lambda row: row[:2]))

    def generation(self, access: Access) -> str:
        """The name of everything the access may see now: it changes exactly when that changes, also by time alone.

        It is made of visible rows only, so that it says nothing of others. Raises AccessUnknown.
        """
        groups, now_us = known_groups(access), microseconds(access.now)
        key = (access.tenant, tuple(sorted(set(groups))), tuple(sorted(set(access.products))))
        stands = self.revisions(tenants(access))
        with self._lock:
            held = self._named.get(key)
        if held and held.revisions == stands and held.from_us <= now_us < held.until_us:
            return held.name
        visible = self.admitted(access)
        turns = sorted({turn for entry in visible for turn in (entry.window.from_us, entry.window.until_us)})
        name = digest([[e.generation, _status(e.window.out_of_force(now_us))] for e in visible])[:16]
        named = _Named(
            stands,
            max((turn for turn in turns if turn <= now_us), default=now_us),
            min((turn for turn in turns if turn > now_us), default=FOREVER_US),
            name,
        )
        with self._lock:
            if len(self._named) >= KEPT_GENERATIONS:
                self._named.pop(next(iter(self._named)))
            self._named[key] = named
        return name

    def revisions(self, tenant_names: Sequence[str] | None = None) -> tuple[Revision, ...]:
        """The revisions of some tenants, or of all: a cheap sign that something may have changed."""
        with reachable("catalogue"), self.engine.connect() as connection:
            return _revisions(connection, tenant_names)

    def stand(self, access: Access) -> Stand:
        """The revisions of an access's tenants and the generations to leave out, of which there are hardly ever any."""
        with reachable("catalogue"), self.engine.connect() as connection:
            not_live = connection.execute(_NOT_LIVE, {"tenants": tenants(access)}).scalars()
            return Stand(not_live=tuple(not_live), revisions=_revisions(connection, tenants(access)))

    def changes(self, tenant: str) -> tuple[Change, ...]:
        """The audit log of one tenant, oldest first."""
        query = select(changes).where(changes.c.tenant == tenant).order_by(changes.c.change)
        with reachable("catalogue"), self.engine.connect() as connection:
            return tuple(
                Change(
                    at_us=row.at_us,
                    tenant=row.tenant,
                    source=row.source,
                    file=row.file,
                    action=row.action,
                    acl_before=None if row.acl_before is None else tuple(json.loads(row.acl_before)),
                    acl_after=None if row.acl_after is None else tuple(json.loads(row.acl_after)),
                )
                for row in connection.execute(query)
            )

    def original(self, access: Access, source: str) -> str | None:
        """The whole text of `id@version` as it was ingested, which spans count in; None where it may not be seen."""
        document_id, _, version = source.partition("@")
        query = select(documents.c.text, *_ENTRY).where(
            documents.c.document_id == document_id,
            documents.c.version == version,
            documents.c.tenant.in_(tenants(access)),
        )
        with reachable("catalogue"), self.engine.connect() as connection:
            rows = [row for row in connection.execute(query) if _entry(row).admitted(access)]
        return rows[0].text if rows else None

    def close(self) -> None:
        """Close the database's connections."""
        self.engine.dispose()


def _revisions(connection: Connection, tenant_names: Sequence[str] | None) -> tuple[Revision, ...]:
    rows = (
        connection.execute(_ALL_REVISIONS)
        if tenant_names is None
        else connection.execute(_REVISIONS, {"tenants": tenant_names})
    )
    return tuple(Revision(**row._mapping) for row in rows)


def _status(reason: DropReason | None) -> str:
    return reason.value if reason else "in_force"


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        tenant=row.tenant,
        document_id=row.document_id,
        version=row.version,
        generation=row.generation,
        origin=row.origin,
        file=row.file,
        acl=tuple(json.loads(row.acl)),
        product=row.product,
        window=Window(from_us=row.from_us, until_us=row.until_us, replaced=bool(row.replaced)),
        chunks=row.chunks,
    )
