"""A question asked as it stands: the hits of both branches, fused, and read again by a reranker (S5)."""

from dataclasses import dataclass

from retrieval.fuse import Fused, QueryHits, fuse, order
from retrieval.ranking import Ranking
from state.search import Found, Index, Reranker

READ_AGAIN = 20  # candidates that a reranker reads


@dataclass(frozen=True)
class ShortReadings:
    """What both branches found, and the reranker's scores by chunk id; None without one."""

    hits: QueryHits
    read_again: dict[str, float] | None = None

    @classmethod
    def of(cls, query: str, found: tuple[Found, Found], index: Index) -> "ShortReadings":
        """The hits of one query, with the cosine of what only the keyword branch found."""
        dense, words = found
        nearest = {hit.chunk.chunk_id for hit in dense.hits}
        others = [hit.chunk for hit in words.hits if hit.chunk.chunk_id not in nearest]
        near = index.nearness([query], others)[0] if others else []
        measured = {chunk.chunk_id: cosine for chunk, cosine in zip(others, near, strict=True)}
        return cls(QueryHits(dense=dense.hits, lexical=words.hits, near=measured, cosine_range=index.cosine_range))

    def only(self, *, dense: bool) -> "ShortReadings":
        """What one branch alone would have said: the measure of what two add."""
        left = {"lexical": ()} if dense else {"dense": ()}
        return ShortReadings(self.hits.model_copy(update={**left, "near": {}}))

    def again(self, query: str, reranker: Reranker, ranking: Ranking) -> "ShortReadings":
        """With the best candidates read by a reranker."""
        chunks = [one.chunk for one in fuse([self.hits], ranking)[:READ_AGAIN]]
        rows = reranker.scores([query], chunks) if chunks else [[]]
        scores = {chunk.chunk_id: score for chunk, score in zip(chunks, rows[0], strict=True)}
        return ShortReadings(self.hits, scores)

    def ranked(self, weight: float, ranking: Ranking) -> tuple[Fused, ...]:
        """The chunks, most relevant first. The reranker's share of a relevance is its weight against 1.

        It moves what was found and lifts nothing from 0: what neither is near nor shares a word stays worthless.
        """
        fused = fuse([self.hits.model_copy(update={"weight": weight})], ranking)
        if self.read_again is None or not ranking.rerank:
            return fused
        share = ranking.rerank / (1 + ranking.rerank)
        again = []
        for one in fused:
            score = self.read_again.get(one.chunk.chunk_id)
            relevance = one.relevance * (1 - share)
            if score is not None and one.relevance > 0:
                relevance += share * weight * score
            scores = one.scores if score is None else {**one.scores, "rerank": score}
            again.append(one.model_copy(update={"relevance": min(1.0, relevance), "scores": scores}))
        return tuple(sorted(again, key=order))
