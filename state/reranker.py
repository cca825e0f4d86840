"""The port of a reranker: what reads candidates again beside the question."""

from collections.abc import Sequence
from typing import Protocol

from state.knowledge import Chunk


class Reranker(Protocol):
    """Sees only what was found under the access, and stores nothing that outlives the process."""

    @property
    def name(self) -> str: ...

    def scores(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """One row a query, one number a chunk: 0 for nothing in common, 1 for an answer."""
        ...
