"""What the two branches share: how ranked ids become checked hits, and what a store must be able to do."""

from collections.abc import Callable, Sequence
from typing import Protocol

from retrieval.catalogue import Catalogue
from retrieval.entries import Stand
from retrieval.faults import StoreUnavailable
from state.knowledge import Chunk, Hit
from state.run import Access
from state.search import Found
from state.value import Value

Ranked = list[tuple[str, float]]
"""Chunk ids with their score, best first."""

ROUNDS = 4


class Generation(Value):
    """The chunks of one state of a document version, and when they stop being in force, in microseconds since 1970."""

    name: str
    chunks: tuple[Chunk, ...]
    until_us: int


class ChunkStore(Protocol):
    """The writing side of a branch. Times are microseconds since 1970."""

    def require(self, tenant_names: Sequence[str]) -> None:
        """Raises StoreUnavailable where the place of a tenant that something was published for is not there."""
        ...

    def add(self, tenant: str, generations: Sequence[Generation]) -> None:
        """Write new generations together. Raises IngestIncomplete when not all chunks arrived."""
        ...

    def end(self, tenant: str, generation: str, until_us: int) -> None:
        """Change when a generation's chunks stop being in force."""
        ...

    def remove(self, tenant: str, generations: Sequence[str]) -> None:
        """Delete generations; one that is not there is no error."""
        ...


def refuse_missing(store: str, missing: int, of: int) -> None:
    """Raises StoreUnavailable for places that are gone: a store that lost them would find nothing, without a word."""
    if missing:
        raise StoreUnavailable(
            store,
            f"the documents of {missing} of {of} tenants are in the catalogue and not here",
            "put back what was moved or deleted, or delete the library folder and ingest again",
        )


def checked(catalogue: Catalogue, access: Access, k: int, rank: Callable[[int, Stand], Ranked]) -> Found:
    """Up to k hits of what `rank(wanted, stand)` finds, each checked against the catalogue.

    The store filters before it ranks; what the check still removes (a store is told of a new end a moment later than
    the catalogue) is replaced by asking for more. A commit in between makes the search start again.
    """
    hits: list[Hit] = []
    wanted = k
    for _ in range(ROUNDS if k > 0 else 0):
        stand = catalogue.stand(access)
        ranked = rank(wanted, stand)
        readable = catalogue.readable([chunk_id for chunk_id, _ in ranked], access)
        chunks = readable.chunks
        hits = [Hit(chunk=chunks[chunk_id], score=score) for chunk_id, score in ranked if chunk_id in chunks]
        if readable.revisions != stand.revisions:
            continue
        if len(hits) >= k or len(ranked) < wanted:
            break
        wanted *= 4
    hits = hits[:k]
    return Found(hits=tuple(hits), excluded=catalogue.excluded([hit.chunk for hit in hits], access) if hits else ())
