"""Everything a decision asks of the library, searched in both branches and ranked as one list (S5)."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from retrieval.duplicates import collapse
from retrieval.fuse import Fused, order
from retrieval.hops import follow
from retrieval.links import Links
from retrieval.long_question import PartHits, Readings
from retrieval.parts import parts
from retrieval.ranking import Ranking
from retrieval.short_question import ShortReadings
from state.checks.kept import lets_go
from state.context import DropReason
from state.knowledge import HINT, Excluded
from state.run import Access
from state.search import Found, Index, Lexical, Reranker

KEPT_READINGS = 32


class Reading(Protocol):
    """What is known of a text's candidates before it is weighed: it can be ranked again at no cost."""

    def ranked(self, weight: float, ranking: Ranking) -> tuple[Fused, ...]: ...


@dataclass(frozen=True)
class Read:
    """The reading of one text, the versions that were excluded by validity, and how many searches it took."""

    reading: Reading
    excluded: frozenset[Excluded]
    searches: int


@dataclass(frozen=True)
class Gathered:
    """What was found, most relevant first; what was excluded, by validity or as a copy; how many searches it took."""

    fused: tuple[Fused, ...]
    excluded: tuple[Excluded, ...]
    searches: int


class _Kept:
    """The last readings, so that a new search beside old ones does not repeat those (S5). Shared by threads."""

    def __init__(self) -> None:
        self._reads: OrderedDict[tuple[object, ...], Read] = OrderedDict()
        self._lock = threading.Lock()
        lets_go(self)

    def let_go(self) -> None:
        """Keep none of them: they are what users said."""
        with self._lock:
            self._reads.clear()

    def held(self, key: tuple[object, ...]) -> Read | None:
        """What was read under a key, without the searches that it took then."""
        with self._lock:
            read = self._reads.get(key)
            return None if read is None else replace(read, searches=0)

    def keep(self, key: tuple[object, ...], read: Read) -> None:
        """For later; the oldest goes."""
        with self._lock:
            self._reads[key] = read
            while len(self._reads) > KEPT_READINGS:
                self._reads.popitem(last=False)


@dataclass(frozen=True)
class Searcher:
    """The two branches, and what reads their candidates again where there is one. May be shared by threads."""

    index: Index
    lexical: Lexical
    reranker: Reranker | None = None
    ranking: Ranking = field(default_factory=Ranking)
    links: Links | None = None
    _kept: _Kept = field(default_factory=_Kept, init=False, repr=False, compare=False)

    def gather(self, asked: Mapping[str, float], access: Access, k: int, hops: int = 0) -> Gathered:
        """The k chunks that say most about some texts, each text with its weight from 0 to 1.

        A chunk that several texts find keeps its best relevance; where that is due to a text of less than full weight,
        `scores` has the weight as `hint`. Near-duplicates collapse, and where they leave room more is asked for. With
        `hops` the documents that the best chunks name are followed, so many times at most (`retrieval.hops`). The
        access stands before every ranking: what comes here was found under it. A text that was just read is not
        searched again, as long as what the access may see is unchanged. Raises AccessUnknown, StoreUnavailable.
        """
        found, gathered = self._once(asked, access, k, k, hops)
        for wanted in (2 * k, 4 * k):
            copied = any(one.reason is DropReason.NEAR_DUPLICATE for one in gathered.excluded)
            if len(gathered.fused) >= k or not copied:
                break
            before, searches = found, gathered.searches
            found, gathered = self._once(asked, access, k, wanted, hops)
            gathered = replace(gathered, searches=gathered.searches + searches)
            if found <= before:
                break
        return gathered

    def _once(self, asked: Mapping[str, float], access: Access, k: int, wanted: int, hops: int) -> tuple[int, Gathered]:
        """How many chunks were found with so many wanted of each branch, and the k best of them."""
        # The generation's name stands for everything an access may see, and changes by time alone as well.
        seen = (access.tenant, access.groups, access.products, self.index.generation(access), wanted)
        reads = [(self._read_once(text, access, wanted, (text, *seen)), weight) for text, weight in asked.items()]
        best: dict[str, Fused] = {}
        for read, weight in reads:
            for one in read.reading.ranked(weight, self.ranking):
                if weight < 1:
                    one = one.model_copy(update={"scores": {**one.scores, HINT: weight}})
                held = best.get(one.chunk.chunk_id)
                if held is None or order(one) < order(held):
                    best[one.chunk.chunk_id] = one
        if self.links is not None:
            follow(best, asked, self.links, self.index, access, k, hops)
        fused, copies = collapse(sorted(best.values(), key=order), k)
        excluded = {version for read, _ in reads for version in read.excluded}
        excluded |= {
            Excluded(source=copy.source, version=copy.version, reason=DropReason.NEAR_DUPLICATE) for copy in copies
        }
        by_source = tuple(sorted(excluded, key=lambda version: version.source))
        return len(best), Gathered(fused, by_source, sum(read.searches for read, _ in reads))

    def _read_once(self, text: str, access: Access, k: int, key: tuple[object, ...]) -> Read:
        held = self._kept.held(key)
        if held is None:
            held = self.read(text, access, k)
            self._kept.keep(key, held)
        return held

    def read(self, text: str, access: Access, k: int) -> Read:
        """Search for one text; a long one in parts (`retrieval.parts`). Raises as `gather` does."""
        pieces = parts(text)
        if len(pieces) == 1:
            found = self._both(text, access, k)
            short = ShortReadings.of(text, found, self.index)
            reading: Reading = short if self.reranker is None else short.again(text, self.reranker, self.ranking)
            return _read(reading, found)
        hits = [self._both(piece, access, self.ranking.pool) for piece in pieces]
        whole = self._both(text, access, self.ranking.pool)
        pairs = [PartHits(piece, dense.hits, words.hits) for piece, (dense, words) in zip(pieces, hits, strict=True)]
        readings = Readings.of(pairs, PartHits(text, whole[0].hits, whole[1].hits), self.index)
        if self.reranker is not None:
            readings = readings.again(pieces, self.reranker, self.ranking)
        return _read(readings, [branch for pair in (*hits, whole) for branch in pair])

    def _both(self, query: str, access: Access, k: int) -> tuple[Found, Found]:
        return self.index.search(query, access, k), self.lexical.search(query, access, k)


def _read(reading: Reading, found: Sequence[Found]) -> Read:
    return Read(reading, frozenset(version for branch in found for version in branch.excluded), len(found))
