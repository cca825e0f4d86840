"""Labelled questions searched once, so that stages and rankings can be compared on the same candidates."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.retrieval_bench.clocked import ClockedIndex, ClockedLexical
from evals.retrieval_bench.corpora import LabelledSet
from evals.retrieval_bench.known_labels import check_labels
from evals.retrieval_bench.tune import Prepared
from retrieval.gather import Reading, Searcher
from retrieval.ranking import Ranking
from state.knowledge import Chunk
from state.search import Reranker

DEPTH = 50  # candidates of a short question, so that recall at 50 can be told


@dataclass(frozen=True)
class Timed:
    """The prepared questions with their languages, and what each took: searches, and milliseconds in the keywords, in
    the vectors, in all, and in the reranker."""

    questions: tuple[Prepared, ...]
    languages: tuple[str, ...]
    searches: tuple[int, ...]
    keywords_ms: tuple[float, ...]
    vectors_ms: tuple[float, ...]
    search_ms: tuple[float, ...]
    rerank_ms: tuple[float, ...]


def prepare(
    labelled: LabelledSet, reranker: Reranker | None, progress: Callable[[int, int], None] | None = None
) -> Timed:
    """Search for each question; with a reranker, twice. Chunks are read by it once before, so that it is warm.

    Raises LabelledWrong for a label that names nothing.
    """
    check_labels(labelled)
    library = labelled.library
    index, lexical = ClockedIndex(library.index), ClockedLexical(library.lexical)
    plain, again = Searcher(index, lexical), Searcher(library.index, library.lexical, reranker)
    questions, searches, search_ms, rerank_ms = [], [], [], []
    keywords_ms, vectors_ms = [], []
    for place, (one, access) in enumerate(labelled.questions):
        began, index.ms, lexical.ms = time.perf_counter(), 0.0, 0.0
        read = plain.read(one.question, access, DEPTH)
        search_ms.append((time.perf_counter() - began) * 1000)
        keywords_ms.append(lexical.ms)
        vectors_ms.append(index.ms)
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
    return Timed(
        questions=tuple(questions),
        languages=tuple(one.language for one, _ in labelled.questions),
        searches=tuple(searches),
        keywords_ms=tuple(keywords_ms),
        vectors_ms=tuple(vectors_ms),
        search_ms=tuple(search_ms),
        rerank_ms=tuple(rerank_ms),
    )


def _naming(relevant: Sequence[str]) -> Callable[[Reading, Ranking], list[str]]:
    """Names as the labels have them: sections where one names a section, else documents."""
    name = name_of(relevant)
    return lambda reading, ranking: [name(one.chunk) for one in reading.ranked(1.0, ranking)]


def name_of(relevant: Sequence[str]) -> Callable[[Chunk], str]:
    """What a chunk is called where labels name sections, or documents."""
    return _section if any("#" in label for label in relevant) else _document


def _section(chunk: Chunk) -> str:
    return chunk.source.partition("~")[0]


def _document(chunk: Chunk) -> str:
    return chunk.document_id
