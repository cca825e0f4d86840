"""The two branches with a clock on each: how much of a question's time either takes."""

import time
from collections.abc import Sequence

from state.knowledge import Chunk
from state.run import Access
from state.search import CosineRange, Found, Index, Lexical


class ClockedLexical:
    """Implements state.ports.Lexical; `ms` adds up what its searches took, until somebody sets it back."""

    def __init__(self, inner: Lexical) -> None:
        self._inner, self.ms = inner, 0.0

    def search(self, query: str, access: Access, k: int) -> Found:
        """As the branch does."""
        began = time.perf_counter()
        found = self._inner.search(query, access, k)
        self.ms += (time.perf_counter() - began) * 1000
        return found


class ClockedIndex(ClockedLexical):
    """Implements state.ports.Index, embedding of the question included."""

    def __init__(self, inner: Index) -> None:
        super().__init__(inner)
        self._index = inner

    @property
    def cosine_range(self) -> CosineRange:
        """The embedder's."""
        return self._index.cosine_range

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """As the branch does; not timed."""
        return self._index.nearness(queries, chunks)

    def generation(self, access: Access) -> str:
        """As the branch does."""
        return self._index.generation(access)
