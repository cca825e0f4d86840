"""The keyword branch on SQLite FTS5: one file per tenant and one public, ranked together by BM25."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from retrieval.access import known_groups, microseconds, readers_matching
from retrieval.branch import Generation, Ranked, checked, refuse_missing
from retrieval.catalogue import Catalogue
from retrieval.entries import Stand
from retrieval.lexical_file import STORE, Filter, LexicalFile, Match, Statistics
from retrieval.tenant import place_name
from retrieval.words import query_words
from state.run import Access
from state.search import Found

K1, B = 1.2, 0.75  # BM25's usual saturation and length correction
OF_DOCUMENT = 0.5  # how much of a chunk's score is its document's
HEADING_WEIGHT = 2  # a word in a heading counts as two in the text
POOL, LEAST = 4, 10  # matches scored: four times as many as asked for, and never fewer than forty


class FtsIndex:
    """Implements state.ports.Lexical.

    A hit's score is BM25 divided by what a chunk of average length scores that holds every word of the query once:
    above 0 for any match, about 1 for all words, comparable between queries. Word statistics come from the two files
    that the access may open and no others, so that no other tenant's text shows in a score (H10).
    Raises AccessUnknown before any store is touched, StoreUnavailable.
    """

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self._folder = folder
        self._catalogue = catalogue

    def search(self, query: str, access: Access, k: int) -> Found:
        """The k best chunks with any word of the query that the access may read now; ties by chunk id."""
        known_groups(access)
        words = query_words(query)
        if k <= 0 or not words:
            return Found(hits=())

        def rank(wanted: int, stand: Stand) -> Ranked:
            self.require(stand.tenants)
            files = [self._file(tenant) for tenant in stand.tenants]
            statistics = [found for found in (file.statistics(words) for file in files) if found]
            admitted = Filter(readers_matching(access), microseconds(access.now), access.products, stand.not_live)
            matches: list[Match] = []
            lengths: dict[str, int] = {}
            for file in files:
                own = file.matches(words, admitted, POOL * max(wanted, LEAST))
                lengths |= file.lengths(list({match.generation for match in own}))
                matches += own
            return _scored(words, matches, lengths, statistics)[:wanted]

        return checked(self._catalogue, access, k, rank)

    def generation(self, access: Access) -> str:
        """The name of everything this access may see now."""
        return self._catalogue.generation(access)

    def require(self, tenant_names: Sequence[str]) -> None:
        """Raises StoreUnavailable where the file of a tenant is not there."""
        refuse_missing(STORE, sum(not self._file(tenant).there for tenant in tenant_names), len(tenant_names))

    def add(self, tenant: str, generations: Sequence[Generation]) -> None:
        """Write new generations in one transaction."""
        self._file(tenant).add(generations)

    def end(self, tenant: str, generation: str, until_us: int) -> None:
        """Change when a generation's chunks stop being in force."""
        self._file(tenant).end(generation, until_us)

    def remove(self, tenant: str, generations: Sequence[str]) -> None:
        """Delete generations; one that is not there is no error."""
        self._file(tenant).remove(generations)

    def _file(self, tenant: str) -> LexicalFile:
        return LexicalFile(self._folder / f"{place_name(tenant)}.db")


def _scored(
    words: Sequence[str], matches: Sequence[Match], lengths: Mapping[str, int], statistics: Sequence[Statistics]
) -> Ranked:
    """BM25 over several files as if they were one, half for the chunk and half for its document.

    FTS5's own is 0 for a word in half of the chunks (H11). A document that has the words in several chunks is about
    them; each chunk alone looks like any that has one of them.
    """
    entries = sum(found.entries for found in statistics)
    average = max(1.0, sum(found.words for found in statistics) / max(1, entries))
    weight = {
        word: math.log(1 + (entries - holding + 0.5) / (holding + 0.5))
        for word, holding in ((word, sum(found.holding[word] for found in statistics)) for word in words)
    }
    whole = sum(weight.values())
    counted = [(match, _counts(match, weight)) for match in matches]
    documents: dict[str, Counter[str]] = {}
    for match, counts in counted:
        documents.setdefault(match.generation, Counter()).update(counts)
    usual = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    # One that was replaced since it was found has no length any more; whether it still holds is asked afterwards.
    of_document = {
        generation: _bm25(counts, weight, lengths.get(generation, usual) / usual)
        for generation, counts in documents.items()
    }
    ranked = [
        (
            match.chunk_id,
            (
                (1 - OF_DOCUMENT) * _bm25(counts, weight, match.words / average)
                + OF_DOCUMENT * of_document[match.generation]
            )
            / whole,
        )
        for match, counts in counted
    ]
    return sorted(ranked, key=lambda hit: (-hit[1], hit[0]))


def _counts(match: Match, asked: Mapping[str, float]) -> Counter[str]:
    counts = Counter(word for word in match.body.split() if word in asked)
    for word in match.heading.split():
        if word in asked:
            counts[word] += HEADING_WEIGHT
    return counts


def _bm25(counts: Mapping[str, int], weight: Mapping[str, float], length: float) -> float:
    """The score of some word counts; `length` is the text's, as a multiple of the usual one."""
    damping = K1 * (1 - B + B * length)
    return sum(weight[word] * count * (K1 + 1) / (count + damping) for word, count in counts.items())
