"""Speed and size: the library beside two plain peers, on the same vectors, in the same run: Chroma's own query with a
tenant filter, and the plain ensemble of BM25 and Chroma.

Vectors are drawn at random, so that no embedder is measured here; documents have the words they are found by.
"""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from evals.retrieval_bench.corpora import NOW
from evals.retrieval_bench.ensemble import Bm25, Ensemble, Vectors
from retrieval.chroma_client import plain_collection
from retrieval.library import Library
from state.run import Access
from state.search import CosineRange
from state.value import Value

DIMENSION = 384
QUERIES = 60
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]


class Peers(Value):
    """Chunks a second of an ingest, cold and unchanged; milliseconds of a query in each branch and of the plain peers
    (medians; ratios are the median over the same queries); bytes a chunk on disk."""

    chunks: int
    tenants: int
    ingest_cold: float
    ingest_again: float
    dense_ms: float
    lexical_ms: float
    plain_ms: float
    dense_ratio: float
    ensemble_ms: float
    both_ratio: float
    bytes_a_chunk: float

    def told(self) -> str:
        """One paragraph."""
        return (
            f"{self.chunks:,} chunks of random unit vectors, {self.tenants:,} tenants: ingest {self.ingest_cold:,.0f} "
            f"chunks/s without embedder, unchanged {self.ingest_again:,.0f}/s; a query in the vectors "
            f"{self.dense_ms:.1f} ms ({self.dense_ratio:.2f} of Chroma's own with a tenant filter, {self.plain_ms:.1f} "
            f"ms), in the keywords {self.lexical_ms:.1f} ms; both are {self.both_ratio:.2f} of the plain ensemble, "
            f"{self.ensemble_ms:.1f} ms; {self.bytes_a_chunk:,.0f} bytes a chunk"
        )


class Drawn:
    """An embedder that draws a unit vector from a text's hash: as fast as nothing."""

    name = "drawn"
    dimension = DIMENSION
    cosine_range = CosineRange()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text."""
        return [drawn_vector(text) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """As `embed`."""
        return self.embed(texts)


def peers(folder: Path, chunks: int, tenants: int) -> Peers:
    """Measure on a corpus of so many one-chunk documents, spread evenly."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    chance = random.Random(3)
    texts = []
    for number in range(chunks):
        text = f"# Note {number}\n\n" + " ".join(chance.choices(WORDS, k=60)) + f" mark{number}\n"
        front = f"id: note/{number}\nversion: v1\ntenant: t{number % tenants}\n"
        (corpus / f"{number}.md").write_text(f"---\n{front}---\n{text}", "utf-8")
        texts.append((f"t{number % tenants}", text))
    with Library.open(folder / "library", Drawn()) as library:
        cold = _seconds(lambda: library.ingest(corpus, NOW))
        again = _seconds(lambda: library.ingest(corpus, NOW))
        with plain_collection(folder / "plain") as plain:
            for start in range(0, chunks, 5_000):
                batch = texts[start : start + 5_000]
                plain.add(
                    ids=[f"{start + place}" for place in range(len(batch))],
                    embeddings=np.asarray([drawn_vector(text) for _, text in batch], dtype=np.float32),
                    metadatas=[{"tenant": tenant} for tenant, _ in batch],
                )
            words = Bm25.of([str(number) for number in range(chunks)], [text for _, text in texts], 10)
            dense, lexical, other, ensemble = [], [], [], []
            for _ in range(QUERIES):
                tenant, query = f"t{chance.randrange(tenants)}", " ".join(chance.choices(WORDS, k=6))
                access = Access(tenant=tenant, groups=(), products=(), now=NOW)
                vector = np.asarray([drawn_vector(query)], dtype=np.float32)
                dense.append(_seconds(partial(library.index.search, query, access, 10)))
                lexical.append(_seconds(partial(library.lexical.search, query, access, 10)))
                ask = partial(plain.query, query_embeddings=vector, n_results=10, where={"tenant": tenant})
                both = Ensemble(retrievers=[words, Vectors(nearest=partial(_ids, ask))])
                other.append(_seconds(ask))
                ensemble.append(_seconds(partial(both.invoke, query)))
    size = sum(file.stat().st_size for file in (folder / "library").rglob("*") if file.is_file())
    return Peers(
        chunks=chunks,
        tenants=tenants,
        ingest_cold=chunks / cold,
        ingest_again=chunks / again,
        dense_ms=median(dense) * 1000,
        lexical_ms=median(lexical) * 1000,
        plain_ms=median(other) * 1000,
        dense_ratio=median(a / b for a, b in zip(dense, other, strict=True)),
        ensemble_ms=median(ensemble) * 1000,
        both_ratio=median((a + b) / c for a, b, c in zip(dense, lexical, ensemble, strict=True)),
        bytes_a_chunk=size / chunks,
    )


def _ids(ask: Callable[[], Any], _query: str) -> list[str]:
    return list(ask()["ids"][0])


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def drawn_vector(text: str) -> list[float]:
    """A unit vector drawn from the last 64 bytes of a text."""
    drawn = np.random.default_rng(list(text.encode()[-64:])).standard_normal(DIMENSION)
    unit: list[float] = (drawn / np.linalg.norm(drawn)).tolist()
    return unit
