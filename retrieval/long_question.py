"""A question that was asked in parts: four readings of each document, which add up (S5)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from retrieval.fuse import Fused, order, strength_of
from retrieval.ranking import Ranking
from retrieval.sums import Columns, Table, above, summed, typical
from retrieval.words import query_words
from state.knowledge import Chunk, Hit
from state.search import CosineRange, Index, Reranker

HALF = 0.5  # of its document's relevance, for the chunk that says least


@dataclass(frozen=True)
class PartHits:
    """What both branches found for one part, best first."""

    text: str
    dense: tuple[Hit, ...]
    lexical: tuple[Hit, ...]


@dataclass(frozen=True)
class Readings:
    """What is known of every chunk that any part found, before anything is weighed.

    Tables have one row a part and one column a chunk: keyword scores and cosines; `near` has the whole question's
    cosines. `read_again` is the reranker's table, None without one. `said` is how many words each part asks for.
    """

    chunks: tuple[Chunk, ...]
    said: Table
    words: Table
    cosines: Table
    near: Table
    cosine_range: CosineRange
    read_again: Table | None = None

    @classmethod
    def of(cls, pieces: Sequence[PartHits], whole: PartHits, index: Index) -> "Readings":
        """The readings of what was found for the parts and for the whole."""
        found = {h.chunk.chunk_id: h.chunk for piece in (*pieces, whole) for h in (*piece.dense, *piece.lexical)}
        chunks = [found[chunk_id] for chunk_id in sorted(found)]
        place = {chunk.chunk_id: number for number, chunk in enumerate(chunks)}
        words: Table = np.zeros((len(pieces), len(chunks)))
        for row, piece in enumerate(pieces):
            for hit in piece.lexical:
                words[row, place[hit.chunk.chunk_id]] = hit.score
        asked = [whole.text, *(piece.text for piece in pieces)]
        near: Table = np.asarray(index.nearness(asked, chunks), dtype=np.float64).reshape(len(asked), len(chunks))
        said = np.asarray([float(len(query_words(piece.text))) for piece in pieces])[:, None]
        return cls(tuple(chunks), said, words, near[1:], near[0], index.cosine_range)

    def again(self, texts: Sequence[str], reranker: Reranker, ranking: Ranking) -> "Readings":
        """With the documents that lead so far read by a reranker; the others have 0 there, and keep what they have."""
        columns = Columns.of(self.chunks)
        sums = self._sums(columns, ranking)
        leading = set(np.argsort(-sums, kind="stable")[: ranking.reranked].tolist())
        read = [c for c in range(len(self.chunks)) if int(columns.document[c]) in leading]
        table: Table = np.zeros(self.words.shape)
        if read:
            table[:, read] = np.asarray(reranker.scores(texts, [self.chunks[c] for c in read]))
        return replace(self, read_again=table)

    def ranked(self, weight: float, ranking: Ranking) -> tuple[Fused, ...]:
        """The chunks, most relevant first.

        A document's sum as a share of the highest, times what the best chunk of all proves (`fuse.strength_of`), is the
        relevance of its best chunk. `scores` has `fused` (the share), the cosine of the whole as `dense` and the best
        keyword score of any part as `lexical`.
        """
        if not self.chunks:
            return ()
        columns = Columns.of(self.chunks)
        sums = self._sums(columns, ranking)
        share = sums / sums.max() if sums.max() > 0 else sums
        lexical = self.words.max(axis=0)
        nearest = np.maximum(self.near, self.cosines.max(axis=0))
        proved = max(strength_of(float(n), float(w), self.cosine_range) for n, w in zip(nearest, lexical, strict=True))
        # Within a document the chunk that most was found in stands first.
        own = self._dense(self.near) + (self.words * self.said).sum(axis=0) / self.said.sum()
        own = own + self._dense(self.cosines).mean(axis=0)
        top = columns.best(own[None, :])[0]
        fused = []
        for c, chunk in enumerate(self.chunks):
            document = columns.document[c]
            within = HALF + HALF * float(own[c] / top[document]) if top[document] > 0 else HALF
            scores = {"fused": float(share[document]), "dense": float(self.near[c]), "lexical": float(lexical[c])}
            if self.read_again is not None:
                scores["rerank"] = float(self.read_again[:, c].max())
            relevance = weight * proved * float(share[document]) * within
            fused.append(Fused(chunk=chunk, relevance=min(1.0, relevance), scores=scores))
        return tuple(sorted(fused, key=order))

    def _sums(self, columns: Columns, ranking: Ranking) -> Table:
        def by_parts(table: Table) -> Table:
            return summed(above(columns.best(table), ranking.background), ranking.summed)

        # A keyword score is the share of a part's words: a part of many words says more.
        sums = ranking.lexical * by_parts(self.words * self.said)
        sums = sums + ranking.dense * by_parts(self._dense(self.cosines))
        sums = sums + ranking.whole * typical(columns.best(self._dense(self.near)[None, :])[0])
        if self.read_again is not None:
            sums = sums + ranking.rerank * by_parts(self.read_again * self.said)
        return sums

    def _dense(self, cosines: Table) -> Table:
        return np.maximum(cosines - self.cosine_range.unrelated, 0.0)
