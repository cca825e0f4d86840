"""The dense branch on Chroma: one collection per tenant, one public."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.access import known_groups, tenants
from retrieval.branch import Generation, Ranked, checked, refuse_missing
from retrieval.catalogue import Catalogue
from retrieval.chroma_client import (
    ChromaError,
    Client,
    Collection,
    NotFoundError,
    close_client,
    open_client,
    reached,
)
from retrieval.dense_record import TEXT_NAME, Condition, embedded_text, made_by, metadata, spelt, text_name, where
from retrieval.entries import Stand
from retrieval.faults import EmbedderMismatch, IngestIncomplete
from retrieval.tenant import place_name
from retrieval.words import query_words
from state.checks.kept import lets_go
from state.knowledge import Chunk
from state.run import Access
from state.search import CosineRange, Embedder, Found

# How long a search waits, time after time, for another process to finish what it is writing; under load that is long.
PAUSES_S = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
KEPT_QUERIES = 128
MAX_BATCH = 5_000  # Chroma takes 5,461 records at once
# Neighbours that a search keeps in view; with Chroma's 100 a question unlike any text found .74 of ten.
CONSIDERED = 400


class ChromaIndex:
    """Implements state.ports.Index, on files in a folder or on a Chroma server by its URL. A hit's score is the cosine
    of query and chunk, −1 to 1.

    Threads may share it, and each process has its own; one at a time writes. A client does not see what another
    process wrote, so it is opened anew when the catalogue names another `writer`.
    Raises EmbedderMismatch at opening, AccessUnknown before any store is touched, StoreUnavailable.
    """

    def __init__(self, place: Path | str, catalogue: Catalogue, embedder: Embedder, writer: str) -> None:
        self._place = place
        self._catalogue = catalogue
        self._embedder = embedder
        self._writer = writer
        self._known: dict[str, int] = {}
        self._collections: dict[str, Collection] = {}
        self._asked: dict[str, list[float]] = {}
        self._asking = threading.Lock()
        # A client must not be closed under a query of another thread.
        self._using = threading.Lock()
        self._client: Client | None = self._open()
        lets_go(self)

    @property
    def cosine_range(self) -> CosineRange:
        """The embedder's."""
        return self._embedder.cosine_range

    def search(self, query: str, access: Access, k: int) -> Found:
        """The k chunks nearest to the query that the access may read now, best first; ties by chunk id."""
        known_groups(access)
        if k <= 0 or not query_words(query):
            return Found(hits=())
        vector = self._embedded(query)
        self._catch_up(tenants(access))

        def rank(wanted: int, stand: Stand) -> Ranked:
            found = self._nearest(vector, stand.tenants, where(access, stand.not_live), wanted)
            self.require(stand.tenants)  # afterwards: a client that was opened anew meanwhile may have found nothing
            return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:wanted]

        with reached():
            return checked(self._catalogue, access, k, rank)

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """The cosine of each query with each of some chunks that were found; 0 for one that is no longer there."""
        if not queries or not chunks:
            return [[0.0] * len(chunks) for _ in queries]
        held: dict[str, NDArray[np.float32]] = {}
        by_tenant: dict[str, list[str]] = {}
        for chunk in chunks:
            by_tenant.setdefault(chunk.tenant, []).append(chunk.chunk_id)
        with reached(), self._using:
            for tenant, ids in by_tenant.items():
                collection = self._collection(tenant)
                for start in range(0, len(ids) if collection else 0, MAX_BATCH):
                    assert collection is not None  # the range is empty then
                    got = collection.get(ids=ids[start : start + MAX_BATCH], include=["embeddings"])
                    vectors = np.asarray(got["embeddings"], dtype=np.float32)
                    held.update(zip(got["ids"], vectors, strict=True))
        nothing = np.zeros(self._embedder.dimension, dtype=np.float32)
        matrix = np.stack([held.get(chunk.chunk_id, nothing) for chunk in chunks])
        asked = np.asarray([self._embedded(query) for query in queries], dtype=np.float32)
        cosines: list[list[float]] = (asked @ matrix.T).tolist()
        return cosines

    def generation(self, access: Access) -> str:
        """The name of everything this access may see now."""
        return self._catalogue.generation(access)

    def require(self, tenant_names: Sequence[str]) -> None:
        """Raises StoreUnavailable where the collection of a tenant is not there."""
        with reached(), self._using:
            missing = sum(self._collection(tenant) is None for tenant in tenant_names)
        refuse_missing("dense index", missing, len(tenant_names))

    def add(self, tenant: str, generations: Sequence[Generation]) -> None:
        """Embed and write new generations, title and headings included in what is embedded.

        A text that this tenant's collection holds already, in whatever document, is not embedded again.
        """
        rows = [(chunk, generation) for generation in generations for chunk in generation.chunks]
        for start in range(0, len(rows), MAX_BATCH):
            batch = rows[start : start + MAX_BATCH]
            vectors = self._vectors(tenant, [embedded_text(chunk) for chunk, _ in batch])
            with reached(), self._using:
                collection = self._connected().get_or_create_collection(
                    place_name(tenant),
                    metadata={"tenant": tenant, **made_by(self._embedder)},
                    configuration={"hnsw": {"space": "cosine", "ef_search": CONSIDERED}},
                    embedding_function=None,
                )
                collection.add(
                    ids=[chunk.chunk_id for chunk, _ in batch],
                    embeddings=vectors,
                    metadatas=[metadata(chunk, generation) for chunk, generation in batch],
                )
        # `add` passes over an id that exists, without a word.
        written = len(self._ids(tenant, [generation.name for generation in generations]))
        if written != len(rows):
            raise IngestIncomplete(
                f"dense index: {written} of {len(rows)} chunks from {rows[0][0].source} on were written"
            )

    def _vectors(self, tenant: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of some texts. The collection is the cache: of one tenant and one embedder, erased with the text.

        A vector that went through Chroma may differ from the embedder's by one unit of its last place.
        """
        names = [text_name(text) for text in texts]
        held: dict[str, NDArray[np.float32]] = {}
        with reached(), self._using:
            if (collection := self._collection(tenant)) is not None:
                condition: Condition = {TEXT_NAME: {"$in": list(set(names))}}
                got = collection.get(where=condition, include=["metadatas", "embeddings"])
                vectors = np.asarray(got["embeddings"], dtype=np.float32)
                held = {
                    str(one[TEXT_NAME]): vector for one, vector in zip(got["metadatas"] or [], vectors, strict=True)
                }
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in held}
        embedded = np.asarray(self._embedder.embed(list(missing.values())), dtype=np.float32)
        held |= dict(zip(missing, embedded, strict=True))
        return np.stack([held[name] for name in names])

    def end(self, tenant: str, generation: str, until_us: int) -> None:
        """Change when a generation's chunks stop being in force."""
        ids = self._ids(tenant, [generation])
        with reached(), self._using:
            collection = self._collection(tenant)
            for start in range(0, len(ids), MAX_BATCH):
                batch = ids[start : start + MAX_BATCH]
                if collection is not None:
                    collection.update(ids=batch, metadatas=[{"until_us": until_us} for _ in batch])

    def remove(self, tenant: str, generations: Sequence[str]) -> None:
        """Delete generations; one that is not there is no error."""
        with reached(), self._using:
            collection = self._collection(tenant)
            if collection is not None and generations:
                condition: Condition = {"generation": {"$in": list(generations)}}
                collection.delete(where=condition)

    def let_go(self) -> None:
        """Keep no query: they are what users said."""
        with self._asking:
            self._asked.clear()

    def catch_up(self) -> None:
        """See what other processes have written; an ingest does so before it writes."""
        self._catch_up(None)

    def close(self) -> None:
        """Let go of the store's files."""
        with self._using:
            self._disconnect()

    def _embedded(self, query: str) -> list[float]:
        """A query's vector. The last ones are kept: what was searched for is measured against more chunks after."""
        with self._asking:
            held = self._asked.get(query)
        if held is None:
            [held] = self._embedder.embed_queries([query])
            with self._asking:
                self._asked[query] = held
                while len(self._asked) > KEPT_QUERIES:
                    self._asked.pop(next(iter(self._asked)))
        return held

    def _open(self) -> Client:
        with reached():
            for revision in self._catalogue.revisions():
                self._known[revision.tenant] = revision.number
            client = open_client(self._place)
            asked_by = made_by(self._embedder)
            for collection in client.list_collections():
                built_by = {key: (collection.metadata or {}).get(key) for key in asked_by}
                if built_by != asked_by:
                    close_client(client)
                    raise EmbedderMismatch(spelt(built_by), spelt(asked_by))
            return client

    def _connected(self) -> Client:
        # A client that could not be opened again is tried anew by the next search.
        if self._client is None:
            self._client = self._open()
        return self._client

    def _disconnect(self) -> None:
        if self._client is not None:
            close_client(self._client)
        self._client = None
        self._collections.clear()

    def _catch_up(self, tenant_names: Sequence[str] | None) -> None:
        with self._using:
            for revision in self._catalogue.revisions(tenant_names):
                if revision.writer != self._writer and self._known.get(revision.tenant) != revision.number:
                    self._disconnect()
                    self._connected()
                    return
                self._known[revision.tenant] = revision.number

    def _nearest(self, vector: list[float], tenant_names: Sequence[str], condition: Condition, wanted: int) -> Ranked:
        pauses = iter(PAUSES_S)
        while True:
            try:
                with self._using:
                    return self._nearest_now(vector, tenant_names, condition, wanted)
            except ChromaError:
                pause_s = next(pauses, None)
                if pause_s is None:
                    raise
                time.sleep(pause_s)

    def _nearest_now(
        self, vector: list[float], tenant_names: Sequence[str], condition: Condition, wanted: int
    ) -> Ranked:
        try:
            collections = [self._collection(tenant) for tenant in tenant_names]
            return [hit for one in collections if one for hit in _query(one, vector, condition, wanted)]
        except ChromaError:
            # Another process may be writing at this moment: what it half wrote confuses an older client.
            self._disconnect()
            raise

    def _ids(self, tenant: str, generations: list[str]) -> list[str]:
        condition: Condition = {"generation": {"$in": generations}}
        with reached(), self._using:
            collection = self._collection(tenant)
            return collection.get(where=condition, include=[])["ids"] if collection else []

    def _collection(self, tenant: str) -> Collection | None:
        if tenant not in self._collections:
            try:
                found = self._connected().get_collection(place_name(tenant), embedding_function=None)
            except NotFoundError:
                return None
            self._collections[tenant] = found
        return self._collections[tenant]


def _query(collection: Collection, vector: list[float], condition: Condition, wanted: int) -> Ranked:
    found = collection.query(
        query_embeddings=np.asarray([vector], dtype=np.float32),
        n_results=wanted,
        where=condition,
        include=["distances"],
    )
    distances = (found["distances"] or [[]])[0]
    return [(chunk_id, 1.0 - float(d)) for chunk_id, d in zip(found["ids"][0], distances, strict=True)]
