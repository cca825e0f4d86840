"""Counting proxies around the stores: what each read gave, before anything is ranked or checked."""

from collections.abc import Sequence
from typing import Any

from retrieval.chroma import ChromaIndex
from retrieval.lexical_file import Filter, LexicalFile, Match
from retrieval.library import Library


class Seen:
    """The ids that the stores gave since the last `forget`, and how many reads there were."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.reads = 0

    def forget(self) -> None:
        """Begin anew: for one query."""
        self.ids.clear()
        self.reads = 0


def counted(library: Library, seen: Seen) -> None:
    """Put proxies before both stores of a library, for good: every collection and every keyword file it opens."""
    _count_dense(library.index, seen)
    opened = library.lexical._file

    def file(tenant: str) -> LexicalFile:
        return _CountedFile(opened(tenant), seen)

    library.lexical._file = file  # type: ignore[method-assign]  # a proxy at the seam, for measuring only


class _CountedFile(LexicalFile):
    def __init__(self, inner: LexicalFile, seen: Seen) -> None:
        super().__init__(inner._file)
        self._seen = seen

    def matches(self, words: Sequence[str], admitted: Filter, limit: int) -> list[Match]:
        """What the file gave, noted."""
        found = super().matches(words, admitted, limit)
        self._seen.reads += 1
        self._seen.ids.update(match.chunk_id for match in found)
        return found


class _CountedCollection:
    """A Chroma collection whose reads are noted; everything else goes through."""

    def __init__(self, inner: Any, seen: Seen) -> None:
        self._inner, self._seen = inner, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def query(self, **asked: Any) -> Any:
        """What the collection gave, noted."""
        found = self._inner.query(**asked)
        self._seen.reads += 1
        self._seen.ids.update(found["ids"][0])
        return found


def _count_dense(index: ChromaIndex, seen: Seen) -> None:
    opened = index._collection

    def collection(tenant: str) -> Any:
        found = opened(tenant)
        return None if found is None else _CountedCollection(found, seen)

    index._collection = collection  # type: ignore[method-assign]  # as above
