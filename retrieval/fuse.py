"""Hits of several branches and queries as one list, with a relevance that means the same in every request (S5)."""

from collections.abc import Sequence

from pydantic import Field

from retrieval.ranking import Ranking
from state.knowledge import Chunk, Hit
from state.search import CosineRange
from state.value import Value

RANK_DAMPING = 60  # of reciprocal rank fusion: how little the first ranks stand out
LEXICAL_SHARE = 0.6  # the most that shared words alone can prove


class QueryHits(Value):
    """What the branches found for one query, best first. `weight` scales its relevance: 1 for the question itself.

    `near` holds the cosine of chunks that only the keyword branch found, by chunk id: not to be among the nearest is
    not to be far away.
    """

    dense: tuple[Hit, ...] = ()
    lexical: tuple[Hit, ...] = ()
    near: dict[str, float] = {}
    cosine_range: CosineRange = CosineRange()
    weight: float = Field(default=1.0, ge=0, le=1)


class Fused(Value):
    """A chunk with its relevance and where it comes from.

    `scores` has `fused` and, for each branch that found the chunk, `dense` or `lexical` (the branch's score) and
    `dense_rank` or `lexical_rank` (from 1). A chunk that words alone found has its cosine without a rank.
    """

    chunk: Chunk
    relevance: float = Field(ge=0, le=1)
    scores: dict[str, float]


def fuse(queries: Sequence[QueryHits], ranking: Ranking | None = None) -> tuple[Fused, ...]:
    """Weighted reciprocal rank fusion per query; of several queries a chunk keeps its best. Highest relevance first.

    `fused` is the share of the best possible rank sum: 1 for a chunk that every branch with hits puts first.
    `relevance` = strength × (1 + fused) / 2, where strength is what the texts themselves say:
    1 − (1 − d)(1 − 0.6·l), d the cosine within the embedder's range (0 to 1), l the keyword score up to 1.
    It is 0 for a chunk that is neither near nor shares a word, however well it ranks among others. Ties fall by fused,
    source, chunk id.
    """
    best: dict[str, Fused] = {}
    for query in queries:
        for fused in _fuse_one(query, ranking or Ranking()):
            held = best.get(fused.chunk.chunk_id)
            if held is None or order(fused) < order(held):
                best[fused.chunk.chunk_id] = fused
    return tuple(sorted(best.values(), key=order))


def _fuse_one(query: QueryHits, ranking: Ranking) -> list[Fused]:
    branches = [("dense", query.dense, ranking.dense), ("lexical", query.lexical, ranking.lexical)]
    # A branch that found nothing at all has no say: a question in another language shares no word with its answer.
    whole = sum(weight for _, hits, weight in branches if hits) / (RANK_DAMPING + 1)
    chunks: dict[str, Chunk] = {}
    scores: dict[str, dict[str, float]] = {}
    sums: dict[str, float] = {}
    for name, hits, weight in branches:
        for rank, hit in enumerate(hits, start=1):
            chunk_id = hit.chunk.chunk_id
            chunks.setdefault(chunk_id, hit.chunk)
            scores.setdefault(chunk_id, {}).update({name: hit.score, f"{name}_rank": float(rank)})
            sums[chunk_id] = sums.get(chunk_id, 0.0) + weight / (RANK_DAMPING + rank)
    for chunk_id, cosine in query.near.items():
        scores[chunk_id].setdefault("dense", cosine)
    fused = []
    for chunk_id, chunk in chunks.items():
        share = min(1.0, sums[chunk_id] / whole) if whole else 0.0
        dense, lexical = (scores[chunk_id].get(name, 0.0) for name in ("dense", "lexical"))
        strength = strength_of(dense, lexical, query.cosine_range)
        relevance = query.weight * min(1.0, strength * (1 + share) / 2)
        fused.append(Fused(chunk=chunk, relevance=relevance, scores={**scores[chunk_id], "fused": share}))
    return fused


def strength_of(dense: float, lexical: float, cosines: CosineRange) -> float:
    """What the texts themselves say, from a cosine and a keyword score: 0 for nothing in common, 1 for a paraphrase."""
    near = _between(dense, cosines.unrelated, cosines.same)
    shared = LEXICAL_SHARE * _between(lexical, 0.0, 1.0)
    return 1 - (1 - near) * (1 - shared)


def _between(value: float, floor: float, ceiling: float) -> float:
    return min(1.0, max(0.0, (value - floor) / (ceiling - floor)))


def order(fused: Fused) -> tuple[float, float, str, str]:
    """Highest relevance first; ties fall by fused, source, chunk id."""
    return (-fused.relevance, -fused.scores["fused"], fused.chunk.source, fused.chunk.chunk_id)
