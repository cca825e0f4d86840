"""Rerankers: MaxSim on the real embedder, and what is said where an extra is missing."""

import importlib.util

import pytest

from retrieval.access import ALWAYS
from retrieval.faults import RerankerUnavailable
from retrieval.ranking import RerankerName
from retrieval.rerank import open_reranker
from retrieval.rerank.maxsim import MaxSim
from state.context import Span
from state.knowledge import Chunk


def chunk(name: str, text: str) -> Chunk:
    return Chunk(
        chunk_id=name,
        document_id=name,
        version="v1",
        source=f"{name}@v1#top",
        title=name,
        headings=(),
        text=text,
        span=Span(start=0, end=1),
        tenant="t1",
        effective_from=ALWAYS,
    )


CHUNKS = [
    chunk("keys", "A revoked key cannot be used again."),
    chunk("bill", "The invoice is sent on the first of the month."),
    chunk("empty", "?"),
]


@pytest.fixture(scope="module")
def maxsim() -> MaxSim:
    return MaxSim()


def test_the_chunk_that_answers_scores_highest(maxsim: MaxSim) -> None:
    keys, bill = maxsim.scores(["Can a withdrawn key come back?", "When do I get the bill?"], CHUNKS)
    assert keys[0] == max(keys)
    assert bill[1] == max(bill)
    assert all(0 <= score <= 1 for score in (*keys, *bill))


def test_a_second_reading_gives_the_same_numbers(maxsim: MaxSim) -> None:
    assert maxsim.scores(["key"], CHUNKS) == maxsim.scores(["key"], CHUNKS)


def test_a_question_is_scored_alike_alone_and_among_others(maxsim: MaxSim) -> None:
    assert maxsim.scores(["key", "bill"], CHUNKS)[1] == pytest.approx(maxsim.scores(["bill"], CHUNKS)[0], abs=1e-6)


def test_nothing_to_read_gives_no_numbers(maxsim: MaxSim) -> None:
    assert maxsim.scores(["key"], []) == [[]]
    assert maxsim.scores([], CHUNKS) == []


def test_no_reranker_is_a_choice() -> None:
    assert open_reranker(RerankerName.NONE) is None
    assert open_reranker(RerankerName.MAXSIM) is not None


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="the extra is installed")
@pytest.mark.may_skip_in_ci(reason="where the extra sbert is installed there is nothing to miss")
def test_without_its_extra_the_cross_encoder_says_how_to_get_it() -> None:
    with pytest.raises(RerankerUnavailable, match="run `make sbert`"):
        open_reranker(RerankerName.CROSS_ENCODER)
