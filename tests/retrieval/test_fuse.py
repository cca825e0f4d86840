"""Fusion: ranks, weights, an absolute relevance, and a fixed order."""

import pytest

from retrieval.access import ALWAYS
from retrieval.fuse import Fused, QueryHits, fuse
from retrieval.ranking import Ranking
from state.context import Span
from state.knowledge import Chunk, Hit


def hits(**scores: float) -> tuple[Hit, ...]:
    """Hits of chunks by name, best first."""
    return tuple(
        Hit(
            chunk=Chunk(
                chunk_id=f"id-{name}",
                document_id=name,
                version="v1",
                source=f"{name}@v1#top",
                title=name,
                headings=(),
                text=name,
                span=Span(start=0, end=1),
                tenant="t1",
                effective_from=ALWAYS,
            ),
            score=score,
        )
        for name, score in scores.items()
    )


def names(fused: tuple[Fused, ...]) -> list[str]:
    return [one.chunk.document_id for one in fused]


def test_a_chunk_that_both_branches_put_first_is_fully_relevant() -> None:
    [best] = fuse([QueryHits(dense=hits(a=0.8), lexical=hits(a=1.3))])
    assert best.relevance == 1
    assert best.scores == {"dense": 0.8, "dense_rank": 1, "lexical": 1.3, "lexical_rank": 1, "fused": 1}


def test_garbage_has_no_relevance_even_at_the_first_rank() -> None:
    [garbage] = fuse([QueryHits(dense=hits(a=0.12))])
    assert garbage.relevance == 0
    assert garbage.scores["fused"] == 1


def test_a_cosine_below_zero_does_no_harm() -> None:
    assert fuse([QueryHits(dense=hits(a=-0.4), lexical=hits(a=0.5))])[0].relevance > 0


def test_shared_words_alone_prove_less_than_nearness() -> None:
    [near] = fuse([QueryHits(dense=hits(a=0.7))])
    [worded] = fuse([QueryHits(lexical=hits(a=2.0))])
    assert near.relevance == 1
    assert worded.relevance == pytest.approx(0.6)


def test_agreement_of_the_branches_counts() -> None:
    fused = fuse([QueryHits(dense=hits(a=0.5, b=0.5), lexical=hits(b=0.3))])
    assert names(fused) == ["b", "a"]
    assert set(fused[1].scores) == {"dense", "dense_rank", "fused"}


def test_weights_shift_what_a_branch_says() -> None:
    query = QueryHits(dense=hits(a=0.5, b=0.4), lexical=hits(b=0.2, a=0.1))
    [by_words] = [one for one in fuse([query], Ranking(dense=0.1, lexical=0.9)) if one.chunk.document_id == "b"]
    [by_vectors] = [one for one in fuse([query], Ranking(dense=0.9, lexical=0.1)) if one.chunk.document_id == "b"]
    assert by_words.scores["fused"] > by_vectors.scores["fused"]
    assert [one.relevance for one in fuse([query], Ranking(dense=0, lexical=0))] == pytest.approx(
        [0.33, 0.25], abs=0.02
    )


def test_a_branch_that_found_nothing_has_no_say() -> None:
    [alone] = fuse([QueryHits(dense=hits(a=0.7))])
    assert alone.scores["fused"] == 1


def test_of_several_queries_a_chunk_keeps_its_best() -> None:
    first, second = QueryHits(dense=hits(a=0.6, b=0.2)), QueryHits(dense=hits(b=0.7))
    fused = fuse([first, second])
    assert names(fused) == ["b", "a"]
    assert fused[0] == fuse([second])[0]
    assert fuse([second, first]) == fused


def test_ties_fall_by_source() -> None:
    assert names(fuse([QueryHits(dense=hits(b=0.5), lexical=()), QueryHits(dense=hits(a=0.5))])) == ["a", "b"]
    assert fuse([]) == fuse([QueryHits()]) == ()
