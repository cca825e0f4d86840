"""Several folders in one library: each takes back what it brought, and no id is taken from another."""

from pathlib import Path

import pytest

from retrieval import ingest as ingesting
from retrieval.intake import Intake
from retrieval.library import Library
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, both, document

ACME = Intake(tenant="acme")
GLOBEX = Intake(tenant="globex")


def sources(library: Library, tenant: str = "acme") -> set[str]:
    return {source.partition("@")[0] for source in both(library, "keys", access(tenant=tenant), 50)[0]}


def folder(parent: Path, name: str, *files: str, text: str = "keys") -> Path:
    made = parent / name
    made.mkdir(parents=True, exist_ok=True)
    for file in files:
        (made / file).write_text(f"# {file}\n\n{text} {file}\n")
    return made


def test_a_file_that_vanished_is_withdrawn_and_other_folders_keep_theirs(library: Library, tmp_path: Path) -> None:
    one, two = folder(tmp_path, "one", "a.md", "b.md"), folder(tmp_path, "two", "a.md")
    for path in (one, two):
        library.ingest(path, NOW, intake=ACME)
    (one / "a.md").unlink()
    assert library.ingest(one, NOW, intake=ACME).count("removed") == 1
    assert sources(library) == {"one/b", "two/a"}


def test_a_changed_file_is_one_change_and_only_its_new_text_is_found(library: Library, tmp_path: Path) -> None:
    one = folder(tmp_path, "one", "a.md")
    library.ingest(one, NOW, intake=ACME)
    folder(tmp_path, "one", "a.md", text="keys anew")
    report = library.ingest(one, NOW, intake=ACME)
    assert [document.action for document in report.documents] == ["changed"]
    [hit] = library.lexical.search("keys", access(tenant="acme"), 5).hits
    assert "anew" in hit.chunk.text


def test_one_folder_may_be_read_for_two_tenants(library: Library, tmp_path: Path) -> None:
    one = folder(tmp_path, "one", "a.md")
    for intake in (ACME, GLOBEX):
        assert library.ingest(one, NOW, intake=intake).count("added") == 1
    assert sources(library) == sources(library, "globex") == {"one/a"}
    library.withdraw(one, ACME, NOW)
    assert (sources(library), sources(library, "globex")) == (set(), {"one/a"})


def test_an_id_stays_with_the_folder_that_brought_it(library: Library, tmp_path: Path) -> None:
    first, second = folder(tmp_path, "x/docs", "a.md"), folder(tmp_path, "y/docs", "a.md", "b.md", text="keys too")
    library.ingest(first, NOW, intake=ACME)
    report = library.ingest(second, NOW, intake=ACME)
    assert [(one.file, str(first / "a.md") in one.reason) for one in report.broken] == [("a.md", True)]
    [hit] = library.lexical.search("keys a.md", access(tenant="acme"), 1).hits
    assert "too" not in hit.chunk.text
    assert sources(library) == {"docs/a", "docs/b"}


def test_a_folder_cannot_take_a_document_of_the_domains_corpus(library: Library, corpus: Path, tmp_path: Path) -> None:
    document(corpus, "policy.md", "# Policy\n\nkeys\n", id="policy", tenant="public")
    library.ingest(corpus, NOW)
    mine = tmp_path / "mine"
    document(mine, "policy.md", "# Policy\n\nkeys forged\n", id="policy", version="v9", tenant="public")
    report = library.ingest(mine, NOW, intake=Intake(tenant="public", public=True))
    assert "policy@v1 is already in" in report.broken[0].reason
    assert library.ingest(corpus, NOW).count("unchanged") == 1


def test_a_public_copy_beside_a_tenants_own_is_refused(library: Library, tmp_path: Path) -> None:
    one = folder(tmp_path, "one", "a.md")
    library.ingest(one, NOW, intake=ACME)
    report = library.ingest(one, NOW, intake=Intake(tenant="public", public=True))
    assert "read for acme" in report.broken[0].reason


def test_a_folder_that_moved_keeps_its_documents(library: Library, tmp_path: Path, embedder: WordEmbedder) -> None:
    one = folder(tmp_path, "x/docs", "a.md")
    library.ingest(one, NOW, intake=ACME)
    embedded = embedder.embedded
    (tmp_path / "y").mkdir()
    moved = one.rename(tmp_path / "y" / "docs")
    assert library.ingest(moved, NOW, intake=ACME).count("unchanged") == 1
    assert embedder.embedded == embedded
    (moved / "a.md").unlink()
    assert library.ingest(moved, NOW, intake=ACME).count("removed") == 1


def test_the_domains_corpus_is_one_wherever_it_lies(library: Library, tmp_path: Path) -> None:
    """An upgrade installs the corpus elsewhere, in a newer version, while the old folder is still there."""
    before, after = tmp_path / "before", tmp_path / "after"
    for place in (before, after):
        document(place, "kept.md", "keys", tenant="acme")
    document(before, "changed.md", "keys", tenant="acme")
    document(after, "changed.md", "keys", tenant="acme", version="v2")
    document(before, "dropped.md", "keys", tenant="acme")
    library.ingest(before, NOW)
    library.ingest(folder(tmp_path, "own", "mine.md"), NOW, intake=ACME)
    library.ingest(after, NOW)
    found = both(library, "keys", access(tenant="acme"), 50)[0]
    assert {source.partition("#")[0] for source in found if not source.startswith("own/")} == {"kept@v1", "changed@v2"}
    assert "own/mine" in sources(library)


def test_reading_one_file_touches_no_other_of_its_folder(library: Library, tmp_path: Path) -> None:
    one = folder(tmp_path, "one", "a.md", "b.md")
    library.ingest(one, NOW, intake=ACME)
    (one / "b.md").unlink()
    folder(tmp_path, "one", "a.md", text="keys anew")
    report = library.ingest(one / "a.md", NOW, intake=Intake(tenant="acme", acl=("ops",)))
    assert [(document.file, document.action) for document in report.documents] == [("a.md", "changed")]
    assert sources(library) == {"one/b"}


def test_a_folder_that_is_gone_can_still_be_withdrawn(library: Library, tmp_path: Path) -> None:
    one = folder(tmp_path, "one", "a.md")
    library.ingest(one, NOW, intake=ACME)
    (one / "a.md").unlink()
    one.rmdir()
    assert [document.action for document in library.withdraw(one, ACME, NOW)] == ["removed"]
    assert sources(library) == set()


def test_one_file_is_withdrawn_by_its_own_path(library: Library, tmp_path: Path) -> None:
    one = folder(tmp_path, "one", "a.md", "b.md")
    for file in ("a.md", "b.md"):
        library.ingest(one / file, NOW, intake=ACME)
    assert [document.file for document in library.withdraw(one / "a.md", ACME, NOW)] == ["a.md"]
    assert sources(library) == {"one/b"}
    assert library.withdraw(one / "absent.md", ACME, NOW) == ()


def test_an_interrupted_ingest_keeps_what_was_committed_and_goes_on(
    library: Library, tmp_path: Path, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "BATCH_CHUNKS", 2)
    one = folder(tmp_path, "one", *(f"{letter}.md" for letter in "abcdef"))

    def stop(done: int, total: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.ingest(one, NOW, intake=ACME, progress=stop)
    assert sources(library) == {"one/a", "one/b", "one/c", "one/d"}
    embedded = embedder.embedded
    report = library.ingest(one, NOW, intake=ACME)
    assert (report.count("unchanged"), report.count("added"), embedder.embedded - embedded) == (4, 2, 2)
    assert library._publisher.leftovers() == ()
