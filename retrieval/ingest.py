"""A folder of documents into the library: incremental, one broken file spoils nothing, one commit per batch."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

from retrieval.branch import ChunkStore, Generation
from retrieval.chunk import RECIPE, chunk_document, generation_of
from retrieval.document import Document
from retrieval.faults import IngestBusy, StoreUnavailable
from retrieval.folder import Broken, contents
from retrieval.intake import Intake
from retrieval.origins import apart, withdrawn
from retrieval.publish import Edition, Held, Publisher
from retrieval.tables import reachable
from state.value import Value

BATCH_CHUNKS = 64  # written and committed together; progress is told after each
LOCK_WAIT_S = 120.0


class Ingested(Value):
    """What became of one document version."""

    source: str
    tenant: str
    file: str
    action: Literal["added", "changed", "unchanged", "removed"]
    chunks: int = 0


class IngestReport(Value):
    """What an ingest did, by source; broken files by name. `other` counts files that were passed over by their kind."""

    documents: tuple[Ingested, ...]
    broken: tuple[Broken, ...]
    other: int = 0

    def count(self, action: str) -> int:
        """How many documents were added, changed, unchanged or removed."""
        return sum(document.action == action for document in self.documents)

    @property
    def chunks(self) -> int:
        """How many chunks were written."""
        return sum(document.chunks for document in self.documents)


def ingest(
    path: Path,
    *,
    publisher: Publisher,
    stores: Sequence[ChunkStore],
    now: datetime,
    limit_chars: int,
    recipe: str = "",
    intake: Intake | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> IngestReport:
    """Bring the stores to the state of a folder's Markdown and text; unchanged files are not touched.

    A document that is no longer in the folder is withdrawn, unless its file is there and broken. `recipe` names what
    else a chunk depends on (the embedder). Without an `intake` the folder is the domain's own corpus. With one the
    path may also be a single file. `progress` gets chunks written and chunks in all.
    Raises CorpusMissing, IngestIncomplete, StoreUnavailable; what was committed stays.
    """
    found = contents(path, intake)
    _sweep(publisher, stores)
    held = publisher.held()
    documents, broken = (found.documents, found.broken) if intake is None else apart(found, held)
    gone = withdrawn(found, documents, broken, held, intake)
    by_key = {(row.tenant, row.source): row for row in held}
    by_file = {(row.tenant, row.document_id, row.file): row for row in gone}
    done: list[Ingested] = []
    editions: list[Edition] = []
    for document in documents:
        generation = generation_of(document, f"{RECIPE}/{limit_chars}/{recipe}")
        before = by_key.get((document.front.tenant, document.source))
        if before is not None and before.generation == generation:
            if (before.file, before.origin) != (document.file, found.origin):
                publisher.moved(before, document.file, found.origin)
            done.append(_done(document, "unchanged"))
            continue
        chunks = chunk_document(document, generation, limit_chars)
        editions.append(Edition(document=document, generation=generation, chunks=chunks))
        replaced = by_file.pop((document.front.tenant, document.front.id, document.file), before)
        done.append(_done(document, "added" if replaced is None else "changed", len(chunks)))
    _write(editions, gone, found.origin, publisher, stores, now, progress)
    return IngestReport(
        documents=tuple(sorted([*done, *map(_removed, by_file.values())], key=lambda one: (one.source, one.tenant))),
        broken=tuple(sorted(broken, key=lambda one: one.file)),
        other=found.other,
    )


def withdraw(
    path: Path, intake: Intake, *, publisher: Publisher, stores: Sequence[ChunkStore], now: datetime
) -> tuple[Ingested, ...]:
    """Take out all that was read from a folder, or the one file that was. Raises StoreUnavailable."""
    _sweep(publisher, stores)
    held = publisher.held()
    origin = intake.origin(path)
    gone = [row for row in held if row.origin == origin]
    if not gone:
        # A single file stands under the folder that it lies in.
        origin = intake.origin(path.parent)
        gone = [row for row in held if (row.origin, row.file) == (origin, path.name)]
    _write((), gone, origin, publisher, stores, now, None)
    return tuple(map(_removed, gone))


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
    left = list(gone)
    if progress and total:
        progress(0, total)
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
        # What a new version takes the place of goes in the same commit: no reader sees both, or neither.
        ids = {(edition.document.front.tenant, edition.document.front.id) for edition in batch}
        publisher.publish(batch, [row for row in left if (row.tenant, row.document_id) in ids], origin, now)
        left = [row for row in left if (row.tenant, row.document_id) not in ids]
        if progress:
            progress(written, total)
    if left:
        publisher.publish((), left, origin, now)
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


def _done(document: Document, action: Literal["added", "changed", "unchanged"], chunks: int = 0) -> Ingested:
    front = document.front
    return Ingested(source=document.source, tenant=front.tenant, file=document.file, action=action, chunks=chunks)


def _removed(row: Held) -> Ingested:
    return Ingested(source=row.source, tenant=row.tenant, file=row.file, action="removed")
