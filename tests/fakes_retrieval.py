"""Fakes of the retrieval ports: an embedder that needs no model, and an index that needs no store."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from retrieval.words import index_words, query_words
from state.canonical import digest
from state.context import DropReason
from state.knowledge import Chunk, Excluded, Hit
from state.run import PUBLIC_TENANT, Access
from state.search import AccessUnknown, CosineRange, Found


class WordEmbedder:
    """A bag of hashed words as a unit vector: texts that share words are near. `embedded` counts the texts."""

    name = "words"
    dimension = 256
    cosine_range = CosineRange()

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded += len(texts)
        return [self._vector(text) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return self.embed(texts)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word, count in Counter(index_words(text)).items():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += count
        length = math.sqrt(sum(number * number for number in vector)) or 1.0
        return [number / length for number in vector]


class FakeIndex:
    """Both branches' port over a list of chunks: a hit's score is the share of the query's words it holds."""

    cosine_range = CosineRange()

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = list(chunks)

    def search(self, query: str, access: Access, k: int) -> Found:
        visible = self._visible(access)
        scored = []
        for chunk in visible:
            share = _share(query, chunk)
            if share and self._reason(chunk, access.now) is None:
                scored.append(Hit(chunk=chunk, score=share))
        hits = sorted(scored, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[: max(0, k)]
        found = {(hit.chunk.tenant, hit.chunk.document_id) for hit in hits}
        others = {
            (chunk.effective_from, f"{chunk.document_id}@{chunk.version}", chunk.version, reason)
            for chunk in visible
            if (chunk.tenant, chunk.document_id) in found and (reason := self._reason(chunk, access.now))
        }
        excluded = (Excluded(source=source, version=version, reason=why) for _, source, version, why in sorted(others))
        return Found(hits=tuple(hits), excluded=tuple(excluded))

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        return [[_share(query, chunk) for chunk in chunks] for query in queries]

    def generation(self, access: Access) -> str:
        return digest([[c.chunk_id, str(self._reason(c, access.now))] for c in self._visible(access)])[:16]

    def _visible(self, access: Access) -> list[Chunk]:
        if access.groups is None:
            raise AccessUnknown("the groups of the principal are unknown: nothing was searched")
        return [
            chunk
            for chunk in self._chunks
            if chunk.tenant in (access.tenant, PUBLIC_TENANT)
            and (not chunk.acl or set(chunk.acl) & set(access.groups))
            and (not access.products or not chunk.product or chunk.product in access.products)
        ]

    def _reason(self, chunk: Chunk, now: datetime) -> DropReason | None:
        successors = [
            other.effective_from
            for other in self._chunks
            if (other.tenant, other.document_id) == (chunk.tenant, chunk.document_id)
            and chunk.effective_from < other.effective_from <= now
        ]
        if successors and (chunk.effective_to is None or min(successors) < chunk.effective_to):
            return DropReason.SUPERSEDED
        if chunk.effective_to is not None and now >= chunk.effective_to:
            return DropReason.NO_LONGER_EFFECTIVE
        return DropReason.NOT_YET_EFFECTIVE if now < chunk.effective_from else None


def _share(query: str, chunk: Chunk) -> float:
    words = query_words(query)
    held = set(index_words(" ".join((chunk.title, *chunk.headings, chunk.text))))
    return sum(word in held for word in words) / max(1, len(words))
