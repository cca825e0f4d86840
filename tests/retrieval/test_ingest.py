"""Ingesting: H13, increments, broken files, crashes, and what a reader sees meanwhile."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from retrieval.access import FOREVER_US
from retrieval.branch import Generation
from retrieval.chunk import chunk_document
from retrieval.document import Document, FrontMatter
from retrieval.faults import IngestIncomplete
from retrieval.intake import Intake
from retrieval.library import Library
from state.context import DropReason
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, both, document

REFUND = {"id": "policy/refund", "tenant": "public"}


def refund(corpus: Path, version: str, effective_from: str, body: str, **front: object) -> None:
    front = {**REFUND, "version": version, "effective_from": effective_from, **front}
    document(corpus, f"refund-{version}.md", body, **front)


def three_versions(corpus: Path) -> None:
    refund(corpus, "v1", "2024-03-01", "# Refund\n\nRefund within 14 days.\n")
    refund(
        corpus,
        "v2",
        "2026-02-01",
        "# Refund\n\nRefund in 30 days.\n" + "\n## Zebra\n\nzebra crossing\n" * 4,
        supersedes="v1",
    )
    refund(corpus, "v3", "2027-01-01", "# Refund\n\nRefund within 45 days.\n")


def stored(library: Library) -> dict[str, int]:
    """How many chunks of each version lie in the dense store."""
    counts: dict[str, int] = {}
    for collection in library.index._connected().list_collections():
        for metadata in collection.get(include=["metadatas"])["metadatas"] or []:
            version = str(metadata["source"]).partition("#")[0]
            counts[version] = counts.get(version, 0) + 1
    return counts


def test_h13_only_the_version_in_force_is_found_and_the_others_are_listed(library: Library, corpus: Path) -> None:
    three_versions(corpus)
    library.ingest(corpus, NOW)
    for branch in (library.index, library.lexical):
        found = branch.search("refund days", access(), 10)
        assert {hit.chunk.version for hit in found.hits} == {"v2"}
        assert found.hits[0].chunk.effective_to == datetime(2027, 1, 1, tzinfo=UTC)
        assert [(e.source, e.version, e.reason) for e in found.excluded] == [
            ("policy/refund@v1", "v1", DropReason.SUPERSEDED),
            ("policy/refund@v3", "v3", DropReason.NOT_YET_EFFECTIVE),
        ]


def test_h13_after_a_shorter_text_only_its_chunks_exist(library: Library, corpus: Path) -> None:
    three_versions(corpus)
    library.ingest(corpus, NOW)
    assert stored(library)["policy/refund@v2"] == 5
    refund(corpus, "v2", "2026-02-01", "# Refund\n\nRefund in 30 days.\n\n## Short\n\nshort\n", supersedes="v1")
    report = library.ingest(corpus, NOW)
    assert (report.count("changed"), report.count("unchanged")) == (1, 2)
    assert stored(library)["policy/refund@v2"] == 2
    assert library.lexical.search("zebra crossing", access(), 10).hits == ()
    assert all("zebra" not in hit.chunk.text for hit in library.index.search("zebra crossing", access(), 10).hits)


def test_a_successor_that_arrives_later_ends_the_version_before_it(library: Library, corpus: Path) -> None:
    refund(corpus, "v1", "2024-03-01", "# Refund\n\nrefund one\n")
    library.ingest(corpus, NOW)
    assert both(library, "refund", access()) == ({"policy/refund@v1"}, {"policy/refund@v1"})
    refund(corpus, "v2", "2026-02-01", "# Refund\n\nrefund two\n")
    assert library.ingest(corpus, NOW).count("unchanged") == 1
    assert both(library, "refund", access()) == ({"policy/refund@v2"}, {"policy/refund@v2"})
    before = access(now=datetime(2026, 1, 31, tzinfo=UTC))
    assert both(library, "refund", before) == ({"policy/refund@v1"}, {"policy/refund@v1"})


def test_a_withdrawn_successor_gives_the_version_before_it_back(library: Library, corpus: Path) -> None:
    refund(corpus, "v1", "2024-03-01", "# Refund\n\nrefund one\n")
    refund(corpus, "v2", "2026-02-01", "# Refund\n\nrefund two\n")
    library.ingest(corpus, NOW)
    (corpus / "refund-v2.md").unlink()
    assert library.ingest(corpus, NOW).count("removed") == 1
    assert both(library, "refund", access()) == ({"policy/refund@v1"}, {"policy/refund@v1"})
    assert stored(library) == {"policy/refund@v1": 1}


def test_another_document_may_supersede_one_by_name(library: Library, corpus: Path) -> None:
    document(corpus, "old.md", "# Old\n\nkeys old\n", effective_from="2025-01-01")
    document(corpus, "new.md", "# New\n\nkeys new\n", effective_from="2026-01-01", supersedes="old@v1")
    library.ingest(corpus, NOW)
    assert both(library, "keys", access()) == ({"new@v1"}, {"new@v1"})
    (corpus / "new.md").unlink()
    library.ingest(corpus, NOW)
    assert both(library, "keys", access()) == ({"old@v1"}, {"old@v1"})


def test_a_version_past_its_own_end_is_no_longer_effective(library: Library, corpus: Path) -> None:
    refund(corpus, "v1", "2024-03-01", "# Refund\n\nrefund one\n", effective_to="2025-01-01")
    refund(corpus, "v2", "2026-02-01", "# Refund\n\nrefund two\n")
    library.ingest(corpus, NOW)
    [excluded] = library.lexical.search("refund", access(), 5).excluded
    assert (excluded.version, excluded.reason) == ("v1", DropReason.NO_LONGER_EFFECTIVE)


def test_an_excluded_version_that_may_not_be_seen_is_not_listed(library: Library, corpus: Path) -> None:
    refund(corpus, "v1", "2024-03-01", "# Refund\n\nrefund one\n", acl="[hr]")
    refund(corpus, "v2", "2026-02-01", "# Refund\n\nrefund two\n")
    library.ingest(corpus, NOW)
    assert library.index.search("refund", access(), 5).excluded == ()
    assert [e.version for e in library.index.search("refund", access(("hr",)), 5).excluded] == ["v1"]


def test_a_broken_file_is_reported_and_the_rest_goes_in(library: Library, corpus: Path) -> None:
    document(corpus, "good.md", "# Good\n\nkeys\n")
    (corpus / "bad.md").write_text("---\nid: bad\n---\ntext\n", "utf-8")
    (corpus / "ignored.json").write_text("{}", "utf-8")
    document(corpus, ".copies/good.md", "# Good\n\nkeys\n", id="good")
    report = library.ingest(corpus, NOW)
    assert [(one.source, one.action, one.chunks) for one in report.documents] == [("good@v1", "added", 1)]
    assert [(one.file, one.reason.partition(";")[0]) for one in report.broken] == [("bad.md", "version: missing")]


def test_a_file_that_breaks_keeps_what_was_live_of_it(library: Library, corpus: Path) -> None:
    path = document(corpus, "good.md", "# Good\n\nkeys\n")
    library.ingest(corpus, NOW)
    path.write_text("---\nid: [\n---\n", "utf-8")
    assert len(library.ingest(corpus, NOW).broken) == 1
    assert both(library, "keys", access()) == ({"good@v1"}, {"good@v1"})


def test_two_files_may_not_be_the_same_source_for_one_reader(library: Library, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys a\n", id="same")
    document(corpus, "b.md", "# B\n\nkeys b\n", id="same")
    document(corpus, "c.md", "# C\n\nkeys c\n", id="same", tenant="public")
    document(corpus, "d.md", "# D\n\nkeys d\n", id="same", tenant="t2")
    broken = library.ingest(corpus, NOW).broken
    assert [(one.file, one.reason.partition(";")[0]) for one in broken] == [
        ("a.md", "same@v1 is also in b.md"),
        ("b.md", "same@v1 is also in a.md"),
        ("c.md", "same@v1 is also in a.md"),
        ("d.md", "same@v1 is also in c.md"),
    ]


def test_a_copy_does_not_take_the_place_of_what_is_live(library: Library, corpus: Path) -> None:
    """Whatever its name sorts before: neither file counts, and what was live stays."""
    document(corpus, "page.md", "# A\n\nkeys first\n", id="same")
    library.ingest(corpus, NOW)
    document(corpus, "copy.md", "# B\n\nkeys second\n", id="same")
    report = library.ingest(corpus, NOW)
    assert [one.file for one in report.broken] == ["copy.md", "page.md"]
    hits = library.lexical.search("keys", access(), 5).hits
    assert ["first" in hit.chunk.text for hit in hits] == [True]


def test_an_unchanged_corpus_costs_no_embedding(library: Library, corpus: Path, embedder: WordEmbedder) -> None:
    three_versions(corpus)
    library.ingest(corpus, NOW)
    generation, embedded = library.generation(access()), embedder.embedded
    report = library.ingest(corpus, NOW + timedelta(days=1))
    assert report.count("unchanged") == len(report.documents) == 3
    assert (library.generation(access()), embedder.embedded) == (generation, embedded)


def test_other_chunk_sizes_make_other_chunks(library: Library, corpus: Path) -> None:
    document(corpus, "long.md", "# Long\n\n" + "One sentence here. " * 40)
    library.ingest(corpus, NOW, limit_chars=400)
    told: list[tuple[int, int]] = []
    report = library.ingest(corpus, NOW, limit_chars=200, progress=lambda done, total: told.append((done, total)))
    assert report.count("changed") == 1
    assert told == [(0, 4), (4, 4)]
    assert stored(library) == {"long@v1": 4}


def test_a_folder_that_moved_keeps_its_documents(library: Library, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    library.ingest(corpus, NOW)
    moved = corpus.rename(corpus.with_name("moved"))
    assert library.ingest(moved, NOW).count("unchanged") == 1
    (moved / "a.md").unlink()
    assert library.ingest(moved, NOW).count("removed") == 1


def test_a_missing_folder_is_named(library: Library, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no corpus folder at .*nowhere"):
        library.ingest(tmp_path / "nowhere", NOW)


@pytest.mark.parametrize("step", ["dense", "keywords", "publish", "sweep"])
def test_a_crash_at_any_step_shows_old_or_new_and_is_mended_by_the_next_ingest(
    library: Library, corpus: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    document(corpus, "a.md", "# A\n\nkeys old\n")
    library.ingest(corpus, NOW)
    document(corpus, "a.md", "# A\n\nkeys new\n")

    class Crash(BaseException):
        pass

    target, name = {
        "dense": (library.lexical, "add"),  # the dense store has it, the keyword index does not
        "keywords": (library._publisher, "publish"),  # both have it, the catalogue does not say so
        "publish": (library.index, "remove"),  # it is live, and the old one still lies there
        "sweep": (library._publisher, "forgotten"),
    }[step]

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(target, name, crash)
        with pytest.raises(Crash):
            library.ingest(corpus, NOW)
    expected = "keys old" if step in {"dense", "keywords"} else "keys new"
    for branch in (library.index, library.lexical):
        [hit] = branch.search("keys", access(), 5).hits
        assert expected in hit.chunk.text
    library.ingest(corpus, NOW)
    for branch in (library.index, library.lexical):
        [hit] = branch.search("keys", access(), 5).hits
        assert "keys new" in hit.chunk.text
    assert stored(library) == {"a@v1": 1}
    assert library._publisher.leftovers() == ()


def test_a_reader_sees_the_old_or_the_new_text_at_every_moment(library: Library, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys 0\n")
    library.ingest(corpus, NOW)
    seen: list[tuple[str, ...]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            found = [branch.search("keys", access(), 5).hits for branch in (library.index, library.lexical)]
            seen.extend(tuple(hit.chunk.text for hit in hits) for hits in found)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 8):
        document(corpus, "a.md", f"# A\n\nkeys {number}\n")
        library.ingest(corpus, NOW)
    done.set()
    for reader in readers:
        reader.join()
    assert len(seen) > 10
    assert {len(texts) for texts in seen} == {1}


def test_a_store_that_passes_over_chunks_is_noticed(library: Library) -> None:
    front = FrontMatter(id="a", version="v1", tenant="t1")
    chunks = chunk_document(Document(front=front, file="a.md", text="# A\n\nkeys\n", body_start=0), "g")
    for store in (library.index, library.lexical):
        store.add("t1", [Generation(name="g", chunks=chunks, until_us=FOREVER_US)])
        with pytest.raises(IngestIncomplete, match="a@v1#a"):
            store.add("t1", [Generation(name="another, with the same ids", chunks=chunks, until_us=FOREVER_US)])


def test_a_text_that_the_tenant_holds_already_is_not_embedded_again(
    library: Library, corpus: Path, embedder: WordEmbedder, tmp_path: Path
) -> None:
    def embedded(tenant: str = "t1", **other: object) -> int:
        before = embedder.embedded
        library.ingest(corpus, NOW, intake=Intake(tenant=tenant, **other))  # type: ignore[arg-type]  # by name
        return embedder.embedded - before

    page = corpus / "a.md"
    page.write_text("# A\n\nkeys one\n\n## B\n\nkeys two\n")
    (corpus / "copy.md").write_text("# A\n\nkeys one\n\n## B\n\nkeys two\n")
    assert embedded() == 2, "a copy in the same ingest has the same two texts"
    assert embedded(acl=("hr",)) == 0, "other readers"
    page = page.rename(corpus / "moved.md")
    assert embedded(acl=("hr",)) == 0, "another name"
    page.write_text("# A\n\nkeys one\n\n## B\n\nkeys three\n")
    assert embedded() == 1, "one section of two"
    assert embedded(tenant="t2") == 3, "what another tenant holds is neither read nor reused"
    who = access(tenant="t1")
    [hit] = library.index.search("keys three", who, 1).hits
    assert hit.chunk.text == "## B\n\nkeys three\n"
    assert hit.score == pytest.approx(library.index.nearness(["keys three"], [hit.chunk])[0][0], abs=1e-6)


def test_what_is_withdrawn_leaves_no_vector_to_reuse(library: Library, corpus: Path, embedder: WordEmbedder) -> None:
    (corpus / "a.md").write_text("# A\n\nkeys\n")
    library.ingest(corpus, NOW, intake=Intake(tenant="t1"))
    library.withdraw(corpus, Intake(tenant="t1"), NOW)
    assert stored(library) == {}
    library.ingest(corpus, NOW, intake=Intake(tenant="t1"))
    assert embedder.embedded == 2
