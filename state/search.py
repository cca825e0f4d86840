"""The ports of searching: what makes vectors, what finds under an access, what reads again beside the question."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from state.knowledge import Chunk, Excluded, Hit
from state.run import Access
from state.value import Value


class CosineRange(Value):
    """What a model's cosines say: `unrelated` is as near as texts come that have nothing in common, `same` as near as
    paraphrases are. The default is that of MiniLM; some models put every pair of texts above 0.7."""

    unrelated: float = Field(default=0.15, ge=-1, lt=1)
    same: float = Field(default=0.70, gt=-1, le=1)


class Embedder(Protocol):
    """Texts to unit vectors; name and dimension are checked at start. A model may read queries by another prompt."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def cosine_range(self) -> CosineRange: ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]: ...

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]: ...


class Found(Value):
    """What one branch found for one query: hits best first, and versions excluded by validity."""

    hits: tuple[Hit, ...]
    excluded: tuple[Excluded, ...] = ()


class Index(Protocol):
    """The dense branch. The access filter stands before ranking; groups None is refused with AccessUnknown.
    `nearness` gives the cosine of each query with each of some chunks that were found, one row a query;
    `cosine_range` is the embedder's."""

    @property
    def cosine_range(self) -> CosineRange: ...

    def search(self, query: str, access: Access, k: int) -> Found: ...

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]: ...

    def generation(self, access: Access) -> str:
        """Names the state of everything this access may see: it changes when that changes."""
        ...


class Lexical(Protocol):
    """The keyword branch, under the same access filter."""

    def search(self, query: str, access: Access, k: int) -> Found: ...


class Reranker(Protocol):
    """Sees only what was found under the access, and stores nothing that outlives the process."""

    @property
    def name(self) -> str: ...

    def scores(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        """One row a query, one number a chunk: 0 for nothing in common, 1 for an answer."""
        ...


class AccessUnknown(RuntimeError):
    """Groups are None: the identity is unknown, and nothing was searched (H08)."""
