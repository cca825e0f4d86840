"""Isolation by property on a changing world: the stores themselves give nothing foreign, and nothing is hidden."""

from pathlib import Path

import pytest

from evals.isolation.counting import Seen, counted
from evals.isolation.recall import recall
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
    found = recall(tmp_path, documents=200, sections=6, queries=20)
    assert (found.chunks, found.admitted, found.beyond) == (1_200, 12, 12)
    assert (found.near, found.far, found.wide) == (1.0, 1.0, 1.0)
