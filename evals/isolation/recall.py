"""`python -m evals.isolation.recall`: what the dense branch finds under a narrow access, beside a comparison with all.

Vectors are drawn from a text's hash, so nothing of an embedder is measured: around a hundred centres, as passages lie,
with every document of the narrow group in some centres only. A question lies among those, or where nothing is admitted.
"""

import random
import re
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from evals.retrieval_bench.corpora import NOW
from evals.retrieval_bench.peers import DIMENSION, drawn_vector
from retrieval.dense_record import embedded_text
from retrieval.library import Library
from state.run import Access
from state.search import CosineRange
from state.value import Value

TENANT, FEW, MANY = "one", "few", "many"
CENTRES = 100
NOISE = 0.6  # beside a centre of length 1
TOP = 10
_CENTRE = re.compile(r"centre(\d+)")


class Recall(Value):
    """Of the ten exactly nearest admitted chunks, how many were found: for questions among what is admitted, and far
    from it, and for whoever may read all; how many came when more was asked for than is admitted; milliseconds of a
    question under the narrow access and under the wide one."""

    chunks: int
    admitted: int
    near: float
    far: float
    wide: float
    beyond: int
    narrow_ms_p50: float
    wide_ms_p50: float


class Centred:
    """An embedder that draws a unit vector from a text's hash, around the centre that the text names last."""

    name = "centred"
    dimension = DIMENSION
    cosine_range = CosineRange()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text."""
        return [self._vector(text).tolist() for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """As `embed`."""
        return self.embed(texts)

    def _vector(self, text: str) -> NDArray[np.float64]:
        named = _CENTRE.findall(text)
        found = np.asarray(drawn_vector(text)) * NOISE
        if named:
            found = found + np.asarray(drawn_vector(f"the centre {named[-1]}"))
        vector: NDArray[np.float64] = found / np.linalg.norm(found)
        return vector


def recall(folder: Path, *, documents: int, sections: int, queries: int, seed: int = 0) -> Recall:
    """Ingest so many documents, one in a hundred of them for the narrow group, and ask as that group."""
    chance, embedder = random.Random(seed), Centred()
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for number in range(documents):
        few = number % 100 == 0
        acl, centre = (FEW, chance.randrange(CENTRES // 2)) if few else (MANY, chance.randrange(CENTRES))
        parts = (
            f"# Part {part}\n\n" + "note " * 120 + f"{number}-{part} centre{centre}\n\n" for part in range(sections)
        )
        front = f"id: note/{number}\nversion: v1\ntenant: {TENANT}\nacl: [{acl}]\n"
        (corpus / f"{number}.md").write_text(f"---\n{front}---\n{''.join(parts)}", "utf-8")
    with Library.open(folder / "library", embedder) as library:
        written = library.ingest(corpus, NOW).chunks
        narrow, wide = _Asked(library, _access(FEW), written), _Asked(library, _access(FEW, MANY), written)
        for number in range(queries):
            far = chance.randrange(CENTRES // 2, CENTRES)
            narrow.ask(f"question {number} centre{far}", "far")
            narrow.ask(f"question {number} centre{far - CENTRES // 2}", "near")
            wide.ask(f"question {number} centre{far}", "wide")
        beyond = len(library.index.search("question centre1", narrow.access, len(narrow.admitted) + 50).hits)
    return Recall(
        chunks=written,
        admitted=len(narrow.admitted),
        near=fmean(narrow.found["near"]),
        far=fmean(narrow.found["far"]),
        wide=fmean(wide.found["wide"]),
        beyond=beyond,
        narrow_ms_p50=median(narrow.ms),
        wide_ms_p50=median(wide.ms),
    )


def _access(*groups: str) -> Access:
    return Access(tenant=TENANT, groups=groups, products=(), now=NOW)


class _Asked:
    """The questions of one access: how much of what is exactly nearest was found, and in what time."""

    def __init__(self, library: Library, access: Access, most: int) -> None:
        self.access = access
        # From the keyword branch, which shares nothing with what is measured.
        self.admitted = [hit.chunk for hit in library.lexical.search("note", access, most).hits]
        self._index = library.index
        self._vectors = np.asarray(Centred().embed([embedded_text(chunk) for chunk in self.admitted]), np.float32)
        self.found: dict[str, list[float]] = {}
        self.ms: list[float] = []

    def ask(self, query: str, kind: str) -> None:
        """Compare with all that is admitted."""
        cosines = self._vectors @ np.asarray(Centred().embed([query])[0], np.float32)
        exact = {self.admitted[place].chunk_id for place in np.argsort(-cosines, kind="stable")[:TOP]}
        began = time.perf_counter()
        hits = self._index.search(query, self.access, TOP).hits
        self.ms.append((time.perf_counter() - began) * 1000)
        self.found.setdefault(kind, []).append(len({hit.chunk.chunk_id for hit in hits} & exact) / len(exact))


def main(
    documents: Annotated[int, typer.Option(min=100, help="How many, of twenty chunks each.")] = 1_000,
    queries: Annotated[int, typer.Option(min=2, help="How many.")] = 200,
    seed: Annotated[int, typer.Option(help="Of the documents and the questions.")] = 0,
) -> None:
    """Exit 1 below a recall of .99, or where something admitted was not found although more was asked for."""
    with TemporaryDirectory() as folder:
        found = recall(Path(folder), documents=documents, sections=20, queries=queries, seed=seed)
    Console().out(found.model_dump_json(), highlight=False)
    raise typer.Exit(1 if min(found.near, found.far, found.wide) < 0.99 or found.beyond < found.admitted else 0)


if __name__ == "__main__":
    typer.run(main)
