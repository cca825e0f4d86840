"""Opening, closing and sharing a library: other embedders, broken folders, other processes."""

import itertools
import shutil
import sqlite3
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from chromadb.errors import InternalError

from retrieval import chroma, tables
from retrieval import ingest as ingesting
from retrieval.branch import Ranked
from retrieval.faults import EmbedderMismatch, IngestBusy, StoreUnavailable
from retrieval.library import Library
from retrieval.tenant import place_name
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, both, document

ROOT = Path(__file__).resolve().parents[2]


class OtherEmbedder(WordEmbedder):
    name = "other words"


class ShortEmbedder(WordEmbedder):
    dimension = 64


def in_another_process(library: Path, corpus: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from retrieval.library import Library;"
        "from tests.fakes_retrieval import WordEmbedder; from tests.retrieval.conftest import NOW;"
        "l = Library.open(Path(sys.argv[1]), WordEmbedder()); l.ingest(Path(sys.argv[2]), NOW); l.close()"
    )
    subprocess.run([sys.executable, "-c", code, library, corpus], cwd=ROOT, check=True)


def test_a_library_opens_again_with_all_it_held(tmp_path: Path, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
        generation = library.generation(access())
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        assert both(library, "keys", access()) == ({"a@v1"}, {"a@v1"})
        assert library.generation(access()) == generation


@pytest.mark.parametrize("other", [OtherEmbedder, ShortEmbedder])
def test_another_embedder_is_refused_at_opening_with_both_names(
    tmp_path: Path, corpus: Path, other: type[WordEmbedder]
) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
    asked = rf"{other.name} \(dimension {other.dimension}\)"
    with pytest.raises(EmbedderMismatch, match=rf"words \(dimension 256\), and the settings name {asked}"):
        Library.open(tmp_path / "library", other())
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        assert both(library, "keys", access()) == ({"a@v1"}, {"a@v1"})


def test_a_generation_is_the_same_in_every_library_of_the_same_corpus(tmp_path: Path, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    names = []
    for place in ("one", "two"):
        with Library.open(tmp_path / place, WordEmbedder()) as library:
            library.ingest(corpus, NOW)
            names.append((library.generation(access()), library.index.search("keys", access(), 5)))
    assert names[0] == names[1]


def test_what_another_process_wrote_is_seen(tmp_path: Path, corpus: Path) -> None:
    path = tmp_path / "library"
    with Library.open(path, WordEmbedder()) as library:
        document(corpus, "a.md", "# A\n\nkeys old\n")
        library.ingest(corpus, NOW)
        assert both(library, "keys", access()) == ({"a@v1"}, {"a@v1"})
        document(corpus, "a.md", "# A\n\nkeys new\n")
        document(corpus, "b.md", "# B\n\nkeys too\n")
        in_another_process(path, corpus)
        assert both(library, "keys", access()) == ({"a@v1", "b@v1"}, {"a@v1", "b@v1"})
        assert all("old" not in hit.chunk.text for hit in library.index.search("keys", access(), 5).hits)
        document(corpus, "a.md", "# A\n\nkeys newest\n")
        assert library.ingest(corpus, NOW).count("changed") == 1
        assert both(library, "keys newest", access()) == ({"a@v1", "b@v1"}, {"a@v1", "b@v1"})


def test_two_processes_that_start_together_both_work(tmp_path: Path, corpus: Path) -> None:
    for number in range(10):
        document(corpus, f"d{number}.md", f"# A\n\nkeys {number}\n")
    code = (
        "import sys; from pathlib import Path; from retrieval.library import Library;"
        "from tests.fakes_retrieval import WordEmbedder; from tests.retrieval.conftest import NOW, access;"
        "l = Library.open(Path(sys.argv[1]), WordEmbedder()); l.ingest(Path(sys.argv[2]), NOW);"
        "print(len(l.index.search('keys', access(), 20).hits), len(l.lexical.search('keys', access(), 20).hits))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path / "library", corpus], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[0].decode().split() for process in started]
    assert said == [["10", "10"]] * 2


def test_a_reader_is_not_disturbed_by_an_ingest_in_another_process(tmp_path: Path, corpus: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from retrieval.library import Library;"
        "from tests.fakes_retrieval import WordEmbedder; from tests.retrieval.conftest import NOW, document\n"
        "with Library.open(Path(sys.argv[1]), WordEmbedder()) as library:\n"
        "    for n in range(12):\n"
        "        document(Path(sys.argv[2]), 'a.md', f'# A\\n\\nkeys {n}\\n\\n## B\\n\\nkeys too {n}\\n')\n"
        "        library.ingest(Path(sys.argv[2]), NOW)\n"
    )
    document(corpus, "a.md", "# A\n\nkeys\n\n## B\n\nkeys too\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
        seen: list[int] = []
        with subprocess.Popen([sys.executable, "-c", code, tmp_path / "library", corpus], cwd=ROOT) as writer:
            while writer.poll() is None:
                seen += [len(branch.search("keys", access(), 5).hits) for branch in (library.index, library.lexical)]
        assert writer.returncode == 0
        assert set(seen) == {2}


def test_a_second_ingest_at_the_same_time_is_refused(
    library: Library, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "LOCK_WAIT_S", 0.1)
    with ingesting.exclusive(library.folder), pytest.raises(IngestBusy, match="another process has been ingesting"):
        library.ingest(corpus, NOW)


def test_a_lock_that_cannot_be_opened_is_not_called_busy(tmp_path: Path) -> None:
    (tmp_path / "ingest.lock").mkdir()
    with pytest.raises(StoreUnavailable, match="ingest lock: unable to open database file; check"):
        Library.open(tmp_path, WordEmbedder())


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(StoreUnavailable, match="give a folder that may be written"):
        Library.open(tmp_path / "file", WordEmbedder())


@pytest.mark.parametrize("broken", ["catalogue.db", "keywords", "dense/chroma.sqlite3"])
def test_a_damaged_store_is_one_clear_error(tmp_path: Path, corpus: Path, broken: str) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
    path = tmp_path / "library" / broken
    for file in path.glob("*") if path.is_dir() else [path]:
        file.write_bytes(b"not a database " * 1000)
    with pytest.raises(StoreUnavailable) as caught, Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.lexical.search("keys", access(), 5)
    assert "check that its folder is writable" in str(caught.value)


LOST = "the documents of 1 of 1 tenants are in the catalogue and not here; put back what was moved or deleted"
NO_CATALOGUE = "catalogue: catalogue.db is not there, and the keyword index holds documents; put it back, or delete"


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("dense", f"dense index: {LOST}"),
        ("keywords", f"keyword index: {LOST}"),
        (f"keywords/{place_name('t1')}.db", f"keyword index: {LOST}"),
        ("catalogue.db", NO_CATALOGUE),
    ],
)
def test_a_store_that_was_moved_away_is_missed_at_opening(tmp_path: Path, corpus: Path, gone: str, said: str) -> None:
    """It used to find nothing, without a word: a part that is made anew is empty."""
    document(corpus, "a.md", "# A\n\nkeys\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
    moved = (tmp_path / "library" / gone).rename(tmp_path / "moved")
    with pytest.raises(StoreUnavailable, match=f"^{said}"):
        Library.open(tmp_path / "library", WordEmbedder())
    if not (put_back := tmp_path / "library" / gone).is_dir():
        moved.rename(put_back)
    else:  # an empty folder was made in its place
        shutil.rmtree(put_back)
        moved.rename(put_back)
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        assert both(library, "keys", access()) == ({"a@v1"}, {"a@v1"})


def test_a_library_that_is_moved_while_it_is_open_says_so_and_opens_where_it_lies(tmp_path: Path, corpus: Path) -> None:
    document(corpus, "a.md", "# A\n\nkeys\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
        moved = (tmp_path / "library").rename(tmp_path / "moved")
        with pytest.raises(StoreUnavailable, match=f"^keyword index: {LOST}"):
            library.lexical.search("keys", access(), 5)
        with pytest.raises(StoreUnavailable):
            library.ingest(corpus, NOW)
    with Library.open(moved, WordEmbedder()) as library:
        assert both(library, "keys", access()) == ({"a@v1"}, {"a@v1"})


def test_a_locked_catalogue_is_one_clear_error(library: Library, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "WAIT_S", 0.1)
    document(corpus, "a.md", "# A\n\nkeys\n")
    with Library.open(library.folder, WordEmbedder()) as second:
        holder = sqlite3.connect(library.folder / "catalogue.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(StoreUnavailable, match="catalogue: database is locked; check"):
                second.ingest(corpus, NOW)
            assert both(library, "keys", access()) == (set(), set())
        finally:
            holder.close()


def test_a_catalogue_of_another_release_is_refused(tmp_path: Path) -> None:
    Library.open(tmp_path, WordEmbedder()).close()
    connection = sqlite3.connect(tmp_path / "catalogue.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreUnavailable, match="layout 99, this release reads layout 1; delete"):
        Library.open(tmp_path, WordEmbedder())


def test_the_original_text_is_kept_for_whoever_may_read_it(library: Library, corpus: Path) -> None:
    path = document(corpus, "a.md", "# A\n\nkeys\n", acl="[hr]")
    library.ingest(corpus, NOW)
    [hit] = library.index.search("keys", access(("hr",)), 5).hits
    original = library.catalogue.original(access(("hr",)), "a@v1")
    assert original == path.read_text("utf-8")
    assert original[hit.chunk.span.start : hit.chunk.span.end] == hit.chunk.text
    assert library.catalogue.original(access(), "a@v1") is None
    assert library.catalogue.original(access(("hr",), tenant="t2"), "a@v1") is None


@pytest.mark.parametrize(("faults", "found"), [(3, True), (4, False)], ids=["within the pauses", "longer than them"])
def test_a_search_waits_for_what_another_process_is_writing(
    library: Library, corpus: Path, monkeypatch: pytest.MonkeyPatch, faults: int, found: bool
) -> None:
    asked, truly = itertools.count(1), chroma._query

    def half_written(*args: Any) -> Ranked:
        if next(asked) <= faults:
            raise InternalError("Error finding id")
        return truly(*args)

    document(corpus, "a.md", "# A\n\nkeys\n")
    library.ingest(corpus, NOW)
    monkeypatch.setattr(chroma, "PAUSES_S", (0.0, 0.01, 0.01))
    monkeypatch.setattr(chroma, "_query", half_written)
    with nullcontext() if found else pytest.raises(StoreUnavailable, match="Error finding id; check that its folder"):
        assert len(library.index.search("keys", access(), 5).hits) == 1
