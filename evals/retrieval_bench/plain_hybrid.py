"""The plain hybrid asked the labelled questions: what it finds of what an access may read, and in what time."""

import time

from sqlalchemy import select

from evals.retrieval_bench.corpora import LabelledSet
from evals.retrieval_bench.ensemble import Bm25, Ensemble, Vectors
from evals.retrieval_bench.prepare import DEPTH, name_of
from evals.retrieval_bench.quality import Scored, judged
from retrieval.dense_record import embedded_text
from retrieval.library import Library
from retrieval.tables import chunks
from state.knowledge import Chunk
from state.run import Access


def plain_hybrid(labelled: LabelledSet) -> tuple[list[Scored], list[float]]:
    """Each question's measures and milliseconds. Its vectors are the library's: what differs is everything around."""
    made: dict[str, tuple[Ensemble, dict[str, Chunk]]] = {}
    scored, ms = [], []
    for one, access in labelled.questions:
        key = access.model_dump_json()
        if key not in made:
            made[key] = _ensemble(labelled.library, access)
        ensemble, readable = made[key]
        began = time.perf_counter()
        found = ensemble.invoke(one.question)
        ms.append((time.perf_counter() - began) * 1000)
        name = name_of(one.relevant)
        scored.append(judged([name(readable[document.page_content]) for document in found], one.relevant))
    return scored, ms


def _ensemble(library: Library, access: Access) -> tuple[Ensemble, dict[str, Chunk]]:
    with library.catalogue.engine.connect() as connection:
        ids = list(connection.execute(select(chunks.c.chunk_id)).scalars())
    readable: dict[str, Chunk] = {}
    for start in range(0, len(ids), 10_000):
        readable.update(library.catalogue.readable(ids[start : start + 10_000], access).chunks)
    words = Bm25.of(list(readable), [embedded_text(chunk) for chunk in readable.values()], DEPTH)
    vectors = Vectors(nearest=lambda query: [h.chunk.chunk_id for h in library.index.search(query, access, DEPTH).hits])
    return Ensemble(retrievers=[words, vectors]), readable
