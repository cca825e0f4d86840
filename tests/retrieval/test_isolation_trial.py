"""Isolation by property on a changing world: the stores themselves give nothing foreign, and nothing is hidden."""

from pathlib import Path

import pytest

from evals.isolation.counting import Seen, counted
from evals.isolation.trial import trial
from retrieval.library import Library
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, document


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_foreign_is_a_candidate_while_access_comes_and_goes(tmp_path: Path, seed: int) -> None:
    done = trial(tmp_path, WordEmbedder(), queries=150, documents=60, seed=seed)
    assert (done.foreign, done.hidden) == (0, 0)
    assert done.queries == 150
    assert done.store_reads > done.queries
    assert done.candidates > done.queries


def test_the_proxies_see_what_the_stores_give(library: Library, corpus: Path) -> None:
    document(corpus, "open.md", "# Keys\n\nkeys\n")
    document(corpus, "foreign.md", "# Keys\n\nkeys\n", tenant="t2")
    library.ingest(corpus, NOW)
    seen = Seen()
    counted(library, seen)
    for branch in (library.index, library.lexical):
        seen.forget()
        branch.search("keys", access(), 5)
        assert library.catalogue.documents_of(sorted(seen.ids)) == {"open"}
        seen.forget()
        branch.search("keys", access(tenant="t2"), 5)
        assert library.catalogue.documents_of(sorted(seen.ids)) == {"foreign"}


def test_under_an_acl_that_admits_one_in_a_hundred_the_nearest_are_still_found(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    corpus = tmp_path / "corpus"
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnprst"]
    for number in range(1_000):
        text = " ".join(words[(number * 7 + place * place) % len(words)] for place in range(8))
        document(
            corpus,
            f"{number}.md",
            f"# Note\n\n{text}\n",
            id=f"note/{number}",
            acl="[few]" if number % 100 == 0 else "[many]",
        )
    with Library.open(tmp_path / "library", embedder) as library:
        library.ingest(corpus, NOW)
        few = access(("few",))
        chunks = [hit.chunk for hit in library.index.search("note", few, 1_000).hits]
        assert len(chunks) == 10
        found = wanted = 0
        for number in range(40):
            query = " ".join(words[(number * 11 + place) % len(words)] for place in range(4))
            near = library.index.nearness([query], chunks)[0]
            exact = sorted(range(len(chunks)), key=lambda place: -near[place])[:5]
            # A tie at the edge has no right order: what is as near as the fifth counts.
            edge = near[exact[-1]] - 1e-6
            hits = {hit.chunk.chunk_id for hit in library.index.search(query, few, 5).hits}
            right = {chunk.chunk_id for chunk, score in zip(chunks, near, strict=True) if score >= edge}
            found += len(hits & right)
            wanted += 5
        assert found / wanted >= 0.99
