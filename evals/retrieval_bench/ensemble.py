"""The plain hybrid that a first attempt has: BM25 over words split at spaces, and vectors, merged by rank.

It does what LangChain's EnsembleRetriever does with a BM25Retriever and a Chroma store (weights of one half, ranks
damped by 60, Okapi's k1 1.5 and b 0.75), written on langchain_core: the originals lie in three packages more, and
nothing else here needs those.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

K1, B = 1.5, 0.75
DAMPING = 60
WEIGHT = 0.5


class Bm25(BaseRetriever):
    """Scores every text for every question, as the plain way does. `named` are the names of the texts."""

    named: list[str]
    counts: list[dict[str, int]]
    rarity: dict[str, float]
    normed: list[float]
    k: int

    @classmethod
    def of(cls, named: Sequence[str], texts: Sequence[str], k: int) -> "Bm25":
        """The index of some texts."""
        counts = [dict(Counter(text.split())) for text in texts]
        lengths = np.asarray([sum(count.values()) for count in counts], dtype=np.float64)
        holding = Counter(word for count in counts for word in count)
        total = len(texts)
        rarity = {word: float(np.log(1 + (total - held + 0.5) / (held + 0.5))) for word, held in holding.items()}
        normed = (K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))).tolist()
        return cls(named=list(named), counts=counts, rarity=rarity, normed=normed, k=k)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        scores, normed = np.zeros(len(self.counts)), np.asarray(self.normed)
        for word in query.split():
            held = np.asarray([count.get(word, 0) for count in self.counts], dtype=np.float64)
            scores += self.rarity.get(word, 0.0) * held * (K1 + 1) / (held + normed)
        best = np.argsort(-scores, kind="stable")[: self.k]
        return [Document(page_content=self.named[place]) for place in best]


class Vectors(BaseRetriever):
    """The names of the nearest texts, however they are found."""

    nearest: Callable[[str], list[str]]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(page_content=name) for name in self.nearest(query)]


class Ensemble(BaseRetriever):
    """Several retrievers of one weight, merged by reciprocal rank."""

    retrievers: list[BaseRetriever]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        scores: dict[str, float] = {}
        for retriever in self.retrievers:
            found = retriever.invoke(query, {"callbacks": run_manager.get_child()})
            for rank, one in enumerate(found, start=1):
                scores[one.page_content] = scores.get(one.page_content, 0.0) + WEIGHT / (DAMPING + rank)
        return [Document(page_content=name) for name in sorted(scores, key=lambda name: (-scores[name], name))]
