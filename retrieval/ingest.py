"""A folder of documents into the library: incremental, one broken file spoils nothing, one commit per batch."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

from retrieval.branch import ChunkStore, Generation
from retrieval.chunk import RECIPE, chunk_document, generation_of
from retrieval.document import Document, parse_document
from retrieval.faults import BrokenDocument, IngestBusy, StoreUnavailable
from retrieval.publish import Edition, Held, Publisher
from retrieval.tables import reachable
from state.run import PUBLIC_TENANT
from state.value import Value

BATCH_CHUNKS = 256  # written and committed together; progress is told after each
LOCK_WAIT_S = 120.0
SUFFIXES = {".md", ".txt"}


class Ingested(Value):
    """What became of one document version."""

    source: str
    tenant: str
    file: str
    action: Literal["added", "changed", "unchanged", "removed"]
    chunks: int = 0


class Broken(Value):
    """A file that was skipped, and why. What was live of it before stays live."""

    file: str
    reason: str


class IngestReport(Value):
    """What an ingest did, by source; broken files by name."""

    documents: tuple[Ingested, ...]
    broken: tuple[Broken, ...]

    def count(self, action: str) -> int:
        """How many documents were added, changed, unchanged or removed."""
        return sum(document.action == action for document in self.documents)


def ingest(
    folder: Path,
    *,
    publisher: Publisher,
    stores: Sequence[ChunkStore],
    now: datetime,
    limit_chars: int,
    recipe: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> IngestReport:
    """Bring the stores to the state of a folder's *.md and *.txt files; unchanged ones are not touched.

    A document that is no longer in the folder is withdrawn, unless its file is there and broken. `recipe` names what
    else a chunk depends on (the embedder). `progress` gets chunks written and chunks in all.
    Raises FileNotFoundError for a missing folder, IngestIncomplete, StoreUnavailable; what was committed stays.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no corpus folder at {folder}; give a folder with *.md or *.txt files")
    _sweep(publisher, stores)
    origin = str(folder.resolve())
    held = {(row.tenant, f"{row.document_id}@{row.version}"): row for row in publisher.held()}
    found, broken = _read(folder)
    done: list[Ingested] = []
    editions: list[Edition] = []
    for document in found:
        generation = generation_of(document, f"{RECIPE}/{limit_chars}/{recipe}")
        before = held.get((document.front.tenant, document.source))
        if before is not None and before.generation == generation:
            if (before.file, before.origin) != (document.file, origin):
                publisher.moved(before, document.file, origin)
            done.append(_done(document, "unchanged"))
            continue
        editions.append(_cut(document, generation, limit_chars))
        done.append(_done(document, "added" if before is None else "changed", len(editions[-1].chunks)))
    seen = {(document.front.tenant, document.source) for document in found}
    spoiled = {fault.file for fault in broken}
    gone = [row for key, row in held.items() if row.origin == origin and key not in seen and row.file not in spoiled]
    _write(editions, gone, origin, publisher, stores, now, progress)
    for row in gone:
        source = f"{row.document_id}@{row.version}"
        done.append(Ingested(source=source, tenant=row.tenant, file=row.file, action="removed"))
    return IngestReport(
        documents=tuple(sorted(done, key=lambda one: (one.source, one.tenant))),
        broken=tuple(sorted(broken, key=lambda one: one.file)),
    )


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the library's ingest lock, also against other processes; a killed one lets go.

    Raises IngestBusy, StoreUnavailable.
    """
    with reachable("ingest lock"):
        lock = sqlite3.connect(folder / "ingest.lock", timeout=LOCK_WAIT_S, isolation_level=None)
    try:
        try:
            with reachable("ingest lock"):
                lock.execute("BEGIN EXCLUSIVE")
        except StoreUnavailable as fault:
            if getattr(fault.__cause__, "sqlite_errorname", "") != "SQLITE_BUSY":
                raise
            raise IngestBusy(
                f"another process has been ingesting into this library for {LOCK_WAIT_S:.0f} s; wait for it to end"
            ) from fault
        yield
    finally:
        lock.close()


def _read(folder: Path) -> tuple[list[Document], list[Broken]]:
    """The folder's documents by source, so that the versions of one document are committed together."""
    documents: dict[str, Document] = {}
    broken: list[Broken] = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file()):
        file = path.relative_to(folder).as_posix()
        if file.startswith(".") or "/." in file:  # an editor's copy, not a document
            continue
        try:
            document = parse_document(file, path.read_bytes())
            _refuse_twin(document, documents)
            documents[f"{document.source} {document.front.tenant}"] = document
        except BrokenDocument as fault:
            broken.append(Broken(file=file, reason=fault.reason))
        except OSError as fault:
            broken.append(Broken(file=file, reason=f"cannot be read: {fault.strerror}; check its permissions"))
    return [documents[key] for key in sorted(documents)], broken


def _refuse_twin(document: Document, others: dict[str, Document]) -> None:
    """A source must name one document for whoever cites it; a public one is seen by every tenant."""
    for other in others.values():
        if other.source != document.source:
            continue
        tenants = {other.front.tenant, document.front.tenant}
        if len(tenants) == 1 or PUBLIC_TENANT in tenants:
            raise BrokenDocument(
                document.file, f"{document.source} is already in {other.file}; give one of them another id or version"
            )


def _write(
    editions: Sequence[Edition],
    gone: Sequence[Held],
    origin: str,
    publisher: Publisher,
    stores: Sequence[ChunkStore],
    now: datetime,
    progress: Callable[[int, int], None] | None,
) -> None:
    total, written = sum(len(edition.chunks) for edition in editions), 0
    for batch in _batches(editions):
        publisher.announce(batch)
        by_tenant: dict[str, list[Generation]] = {}
        for edition in batch:
            own = by_tenant.setdefault(edition.document.front.tenant, [])
            own.append(Generation(name=edition.generation, chunks=edition.chunks, until_us=edition.own_until_us))
            written += len(edition.chunks)
        for tenant, generations in by_tenant.items():
            for store in stores:
                store.add(tenant, generations)
        publisher.publish(batch, (), origin, now)
        if progress:
            progress(written, total)
    if gone:
        publisher.publish((), gone, origin, now)
    _sweep(publisher, stores)


def _sweep(publisher: Publisher, stores: Sequence[ChunkStore]) -> None:
    """Tell the stores of changed ends and delete what is not live: after a commit, and after a crash."""
    for ended in publisher.ended():
        for store in stores:
            store.end(ended.tenant, ended.generation, ended.until_us)
        publisher.told(ended)
    by_tenant: dict[str, list[str]] = {}
    for tenant, generation in publisher.leftovers():
        by_tenant.setdefault(tenant, []).append(generation)
    for tenant, generations in by_tenant.items():
        for store in stores:
            store.remove(tenant, generations)
        publisher.forgotten(generations)


def _batches(editions: Sequence[Edition]) -> Iterator[list[Edition]]:
    batch: list[Edition] = []
    for edition in editions:
        batch.append(edition)
        if sum(len(held.chunks) for held in batch) >= BATCH_CHUNKS:
            yield batch
            batch = []
    if batch:
        yield batch


def _cut(document: Document, generation: str, limit_chars: int) -> Edition:
    return Edition(document=document, generation=generation, chunks=chunk_document(document, generation, limit_chars))


def _done(document: Document, action: Literal["added", "changed", "unchanged"], chunks: int = 0) -> Ingested:
    front = document.front
    return Ingested(source=document.source, tenant=front.tenant, file=document.file, action=action, chunks=chunks)
