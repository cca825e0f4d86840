"""H08, H09, H10: who may find what, in both branches and before any store is touched."""

import json
from pathlib import Path

import pytest

from retrieval.dense_record import where
from retrieval.fuse import QueryHits, fuse
from retrieval.library import Library
from retrieval.tenant import place_name
from state.search import AccessUnknown
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, both, document


def test_h08_groups_decide_in_both_branches(library: Library, corpus: Path) -> None:
    document(corpus, "hr.md", "# Pay\n\npay of hr\n", acl="[hr]")
    document(corpus, "fin.md", "# Pay\n\npay of fin\n", acl="[fin]")
    document(corpus, "all.md", "# Pay\n\npay of all\n")
    library.ingest(corpus, NOW)
    assert both(library, "pay", access(())) == ({"all@v1"}, {"all@v1"})
    assert both(library, "pay", access(("fin",))) == ({"all@v1", "fin@v1"}, {"all@v1", "fin@v1"})


def test_h08_an_unknown_identity_is_refused_before_any_store_is_touched(
    library: Library, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without its stores, every touch would be another error.
    for branch, stores in ((library.index, ("_client", "_place")), (library.lexical, ("_folder",))):
        for store in ("_catalogue", *stores):
            monkeypatch.delattr(branch, store)
    for searched in (library.index, library.lexical):
        with pytest.raises(AccessUnknown, match=r"got None.*\[\] for no groups"):
            searched.search("pay", access(None), 5)
    assert embedder.embedded == 0


@pytest.mark.parametrize("groups", [(), ("fin",), ("fin", "hr")])
def test_h08_the_stores_filter_is_never_empty(groups: tuple[str, ...]) -> None:
    [(operator, parts)] = where(access(groups), ()).items()
    assert operator == "$and"
    assert len(parts) == 3
    assert all(parts)
    assert "everyone" in json.dumps(parts[0])


def test_a_group_called_everyone_opens_nothing(library: Library, corpus: Path) -> None:
    document(corpus, "named.md", "# Pay\n\npay\n", acl="[everyone]")
    library.ingest(corpus, NOW)
    assert both(library, "pay", access(())) == (set(), set())
    assert both(library, "pay", access(("everyone",))) == ({"named@v1"}, {"named@v1"})


def test_h09_access_taken_away_is_gone_after_the_next_ingest(library: Library, corpus: Path) -> None:
    document(corpus, "doc-5.md", "# Plan\n\nplan\n", acl="[hr, ops]")
    library.ingest(corpus, NOW)
    assert both(library, "plan", access(("hr",))) == ({"doc-5@v1"}, {"doc-5@v1"})
    document(corpus, "doc-5.md", "# Plan\n\nplan\n", acl="[owner]")
    report = library.ingest(corpus, NOW)
    assert report.count("changed") == 1
    assert both(library, "plan", access(("hr",))) == (set(), set())
    assert both(library, "plan", access(("owner",))) == ({"doc-5@v1"}, {"doc-5@v1"})


def test_h09_the_stored_metadata_is_the_new_metadata_and_nothing_else(library: Library, corpus: Path) -> None:
    document(corpus, "doc-5.md", "# Plan\n\nplan\n", acl="[hr, ops]", product="api")
    library.ingest(corpus, NOW)
    document(corpus, "doc-5.md", "# Plan\n\nplan\n")
    library.ingest(corpus, NOW)
    collection = library.index._connected().get_collection(place_name("t1"), embedding_function=None)
    [metadata] = collection.get()["metadatas"] or []
    assert metadata["readers"] == ["everyone"]
    assert metadata["product"] == ""
    assert set(metadata) == {"source", "text", "generation", "readers", "product", "from_us", "until_us"}


def test_h09_the_change_is_in_the_audit_log(library: Library, corpus: Path) -> None:
    document(corpus, "doc-5.md", "# Plan\n\nplan\n", acl="[hr, ops]")
    library.ingest(corpus, NOW)
    document(corpus, "doc-5.md", "# Plan\n\nplan\n", acl="[owner]")
    library.ingest(corpus, NOW)
    log = [(change.action, change.acl_before, change.acl_after) for change in library.catalogue.changes("t1")]
    assert log == [("added", None, ("hr", "ops")), ("changed", ("hr", "ops"), ("owner",))]
    assert library.catalogue.changes("t2") == ()


def test_h10_a_code_of_another_tenant_is_found_in_no_branch(library: Library, corpus: Path) -> None:
    document(corpus, "runbook-b.md", "# Gateway\n\nThe code ZX-881 means a broken gateway.\n", tenant="t2")
    library.ingest(corpus, NOW)
    dense = library.index.search("ZX-881", access(), 10)
    words = library.lexical.search("ZX-881", access(), 10)
    assert (dense.hits, dense.excluded, words.hits, words.excluded) == ((), (), (), ())
    assert fuse([QueryHits(dense=dense.hits, lexical=words.hits)]) == ()
    assert both(library, "ZX-881", access(tenant="t2")) == ({"runbook-b@v1"}, {"runbook-b@v1"})


def test_h10_scores_do_not_depend_on_another_tenants_texts(library: Library, corpus: Path) -> None:
    document(corpus, "mine.md", "# Gateway\n\nThe code ZX-881 is unknown here.\n")
    library.ingest(corpus, NOW)
    before = [library.index.search("ZX-881", access(), 5), library.lexical.search("ZX-881", access(), 5)]
    generation = library.generation(access())
    for number in range(20):
        document(corpus, f"theirs-{number}.md", f"# Gateway\n\nThe code ZX-881 again, {number}.\n", tenant="t2")
    library.ingest(corpus, NOW)
    assert [library.index.search("ZX-881", access(), 5), library.lexical.search("ZX-881", access(), 5)] == before
    assert library.generation(access()) == generation


def test_h10_another_tenants_version_of_a_document_is_not_listed(library: Library, corpus: Path) -> None:
    document(corpus, "mine.md", "# Gateway\n\ngateway\n", id="shared", version="v1", effective_from="2025-01-01")
    theirs = {"id": "shared", "version": "v2", "effective_from": "2026-01-01", "tenant": "t2"}
    document(corpus, "theirs.md", "# Gateway\n\ngateway\n", **theirs)
    library.ingest(corpus, NOW)
    found = library.index.search("gateway", access(), 5)
    assert [hit.chunk.source for hit in found.hits] == ["shared@v1#gateway"]
    assert found.excluded == ()


def test_tenants_never_share_a_place() -> None:
    names = ["acme", "Acme", "acme-eu", "a/cme", "a.cme", "ACME", " acme", "акме", "x" * 300, "x" * 301, "..", "-"]
    places = {place_name(name) for name in names}
    assert len(places) == len(names)
    assert all(3 <= len(place) <= 60 and set(place) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for place in places)
    with pytest.raises(ValueError, match="empty"):
        place_name("")
