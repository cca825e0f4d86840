"""Labelled questions searched once, so that stages and rankings can be compared on the same candidates."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.retrieval_bench.corpora import LabelledSet
from evals.retrieval_bench.tune import Prepared
from retrieval.gather import Reading, Searcher
from retrieval.ranking import Ranking
from state.knowledge import Chunk
from state.search import Reranker

DEPTH = 50  # candidates of a short question, so that recall at 50 can be told


@dataclass(frozen=True)
class Timed:
    """The prepared questions, the searches and milliseconds each took, and the milliseconds of the reranker."""

    questions: tuple[Prepared, ...]
    searches: tuple[int, ...]
    search_ms: tuple[float, ...]
    rerank_ms: tuple[float, ...]


def prepare(
    labelled: LabelledSet, reranker: Reranker | None, progress: Callable[[int, int], None] | None = None
) -> Timed:
    """Search for each question; with a reranker, twice. Chunks are read by it once before, so that it is warm."""
    library = labelled.library
    plain, again = Searcher(library.index, library.lexical), Searcher(library.index, library.lexical, reranker)
    questions, searches, search_ms, rerank_ms = [], [], [], []
    for place, (one, access) in enumerate(labelled.questions):
        began = time.perf_counter()
        read = plain.read(one.question, access, DEPTH)
        search_ms.append((time.perf_counter() - began) * 1000)
        searches.append(read.searches)
        second: Reading | None = None
        if reranker is not None:
            second = again.read(one.question, access, DEPTH).reading
            began = time.perf_counter()
            again.read(one.question, access, DEPTH)
            rerank_ms.append(max(0.0, (time.perf_counter() - began) * 1000 - search_ms[-1]))
        questions.append(Prepared(one.relevant, read.reading, second, _naming(one.relevant)))
        if progress:
            progress(place + 1, len(labelled.questions))
    return Timed(tuple(questions), tuple(searches), tuple(search_ms), tuple(rerank_ms))


def _naming(relevant: Sequence[str]) -> Callable[[Reading, Ranking], list[str]]:
    """Names as the labels have them: sections where one names a section, else documents."""
    name = _section if any("#" in label for label in relevant) else _document
    return lambda reading, ranking: [name(one.chunk) for one in reading.ranked(1.0, ranking)]


def _section(chunk: Chunk) -> str:
    return chunk.source.partition("~")[0]


def _document(chunk: Chunk) -> str:
    return chunk.document_id
