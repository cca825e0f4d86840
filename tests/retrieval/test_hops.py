"""The iterative route: what the best chunks name is followed, under the access, to what is in force, and it ends."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from retrieval.gather import Searcher
from retrieval.library import Library
from retrieval.links import CatalogueLinks
from state.knowledge import Chunk
from state.run import Access
from state.search import Found
from tests.retrieval.conftest import NOW, access, document


class CountedLinks(CatalogueLinks):
    """Counts how often it is asked."""

    asked = 0

    def linked(self, found: Sequence[Chunk], access: Access) -> tuple[Chunk, ...]:
        self.asked += 1
        return super().linked(found, access)


@pytest.fixture
def chain(library: Library, corpus: Path) -> Library:
    document(corpus, "start.md", "# Error 402\n\nError 402 is explained in book/quota.\n", id="book/start")
    document(corpus, "quota.md", "# Allowance\n\nUsed up each month. More in book/raise@v1.\n", id="book/quota")
    document(corpus, "raise1.md", "# Growth\n\nOld way.\n", id="book/raise", effective_from="2024-01-01")
    new = {"id": "book/raise", "version": "v2", "effective_from": "2026-01-01"}
    document(corpus, "raise2.md", "# Growth\n\nNew way, see book/start.\n", **new)
    document(corpus, "secret.md", "# Growth\n\nsecret\n", id="book/secret", tenant="t2")
    library.ingest(corpus, NOW)
    return library


def found(library: Library, hops: int, k: int = 1, who: Access | None = None) -> list[str]:
    """The sources of a question whose own hits end with the first document."""
    searcher = Searcher(library.index, library.lexical, links=CatalogueLinks(library.catalogue))
    first = searcher.gather({"error 402": 1.0}, who or access(), k).fused
    assert [one.chunk.source for one in first] == ["book/start@v1#error-402"]
    gathered = Searcher(_Only(library), library.lexical, links=searcher.links).gather(
        {"error 402": 1.0}, who or access(), 10, hops
    )
    return [one.chunk.source for one in gathered.fused]


class _Only:
    """The dense branch, cut to its nearest: the other documents are reached by links or not at all."""

    def __init__(self, library: Library) -> None:
        self._index = library.index
        self.cosine_range = library.index.cosine_range

    def search(self, query: str, access: Access, k: int) -> Found:
        return self._index.search(query, access, min(k, 1))

    def nearness(self, queries: Sequence[str], chunks: Sequence[Chunk]) -> list[list[float]]:
        return self._index.nearness(queries, chunks)

    def generation(self, access: Access) -> str:
        return self._index.generation(access)


def test_no_hop_finds_what_the_question_finds(chain: Library) -> None:
    assert found(chain, 0) == ["book/start@v1#error-402"]


def test_one_hop_adds_what_the_best_chunk_names(chain: Library) -> None:
    assert found(chain, 1) == ["book/start@v1#error-402", "book/quota@v1#allowance"]


def test_a_superseded_version_leads_to_the_one_in_force(chain: Library) -> None:
    assert found(chain, 2)[2:] == ["book/raise@v2#growth"]


def test_it_ends_where_nothing_new_is_named(chain: Library) -> None:
    links = CountedLinks(chain.catalogue)
    Searcher(_Only(chain), chain.lexical, links=links).gather({"error 402": 1.0}, access(), 10, 50)
    assert links.asked == 3


def test_it_ends_where_enough_is_worth_more(chain: Library) -> None:
    links = CountedLinks(chain.catalogue)
    Searcher(_Only(chain), chain.lexical, links=links).gather({"error 402": 1.0}, access(), 1, 5)
    assert links.asked == 0


def test_another_document_that_takes_the_place_is_followed(library: Library, corpus: Path) -> None:
    document(corpus, "start.md", "# Error 402\n\nError 402: see book/old@v1.\n", id="book/start")
    document(corpus, "old.md", "# Ancient\n\nold\n", id="book/old", effective_from="2024-01-01")
    successor = {"id": "book/new", "effective_from": "2026-01-01", "supersedes": "book/old@v1"}
    document(corpus, "new.md", "# Modern\n\nnew\n", **successor)
    library.ingest(corpus, NOW)
    assert found(library, 1)[1:] == ["book/new@v1#modern"]


def test_a_markdown_link_to_a_file_is_followed(library: Library, corpus: Path) -> None:
    document(corpus, "start.md", "# Error 402\n\nError 402: see [there](more/other.md#x).\n", id="start")
    document(corpus, "more/other.md", "# Elsewhere\n\nelse\n", id="elsewhere")
    library.ingest(corpus, NOW)
    searcher = Searcher(library.index, library.lexical, links=CatalogueLinks(library.catalogue))
    [start] = searcher.gather({"error 402": 1.0}, access(), 1).fused
    assert searcher.links is not None
    assert [chunk.document_id for chunk in searcher.links.linked([start.chunk], access())] == ["elsewhere"]


def test_a_link_opens_nothing_that_may_not_be_read(library: Library, corpus: Path) -> None:
    text = "# Error 402\n\nError 402: see book/staff, book/foreign and book/later.\n"
    document(corpus, "start.md", text, id="book/start")
    document(corpus, "staff.md", "# Inside\n\nstaff\n", id="book/staff", acl="[staff]")
    document(corpus, "foreign.md", "# Theirs\n\nforeign\n", id="book/foreign", tenant="t2")
    document(corpus, "later.md", "# Later\n\nlater\n", id="book/later", effective_from="2027-01-01")
    library.ingest(corpus, NOW)
    assert found(library, 5) == ["book/start@v1#error-402"]
    assert found(library, 5, who=access(("staff",)))[1:] == ["book/staff@v1#inside"]
