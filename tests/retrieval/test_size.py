"""H24: more chunks than the dense store takes at once, and tenants with any name."""

from pathlib import Path

import pytest

from retrieval.intake import Intake
from retrieval.library import Library
from tests.retrieval.conftest import NOW, access

MANY = 6_000  # the store takes 5,461 at once


@pytest.mark.slow
def test_h24_six_thousand_chunks_of_one_document_are_all_stored(library: Library, corpus: Path) -> None:
    text = "".join(f"## Section {number}\n\nkeys of section {number}\n\n" for number in range(MANY))
    (corpus / "large.md").write_text(text)
    report = library.ingest(corpus, NOW, intake=Intake(tenant="políticas"))
    assert (report.broken, report.chunks) == ((), MANY)
    [collection] = library.index._connected().list_collections()
    assert collection.count() == MANY
    assert len(set(collection.get(include=[])["ids"])) == MANY
    assert len(library.lexical.search("keys", access(tenant="políticas"), MANY + 1).hits) == MANY
    assert library.ingest(corpus, NOW, intake=Intake(tenant="políticas")).count("unchanged") == 1


@pytest.mark.parametrize("name", ["kb", "políticas", "a", "退款", "x" * 200, "a/b", "..", "KB"])
def test_h24_every_tenants_name_becomes_one_the_stores_allow(library: Library, corpus: Path, name: str) -> None:
    (corpus / "a.md").write_text("# A\n\nkeys\n")
    library.ingest(corpus, NOW, intake=Intake(tenant=name))
    for branch in (library.index, library.lexical):
        assert len(branch.search("keys", access(tenant=name), 5).hits) == 1
        assert branch.search("keys", access(tenant="other"), 5).hits == ()
