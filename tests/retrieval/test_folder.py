"""A folder's files one by one: every way in which one can be broken, and the others go in."""

import os
from pathlib import Path

import pytest

from retrieval import document as documents
from retrieval.chunk import chunk_document
from retrieval.faults import CorpusMissing
from retrieval.folder import contents
from retrieval.intake import Intake
from retrieval.library import Library
from tests.retrieval.conftest import NOW, access, both

ACME = Intake(tenant="acme")


def reasons(corpus: Path) -> dict[str, str]:
    return {fault.file: fault.reason for fault in contents(corpus, ACME).broken}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"---\nid: [\n---\ntext\n", "not valid YAML"),
        (b"\xe1rbol\n", "not UTF-8 at byte 0; save the file as UTF-8"),
        (b"\x7fELF\x02\x01\x00\x00", "binary: it holds a zero byte"),
        ("text".encode("utf-16"), "binary"),
        (b"", "no text; write some"),
        (b" \n\n", "no text"),
        (b"---\nid: a\n---\n\n", "no text behind the front matter"),
    ],
)
def test_a_broken_file_is_named_with_its_reason_and_the_rest_goes_in(corpus: Path, raw: bytes, reason: str) -> None:
    (corpus / "good.md").write_text("# Good\n")
    (corpus / "bad.md").write_bytes(raw)
    found = contents(corpus, ACME)
    assert [one.front.id for one in found.documents] == ["corpus/good"]
    assert [one.file for one in found.broken] == ["bad.md"]
    assert reason in found.broken[0].reason


def test_facts_are_declared_of_a_section_that_is_there(corpus: Path) -> None:
    front = "---\nid: {}\nversion: v1\ntenant: acme\nstates:\n  {}:\n    delivery_repeats: 8\n---\n"
    text = f"{front}# Hooks\n\n## Deliveries\n\nEight times.\n\n## Ends\n\nx\n"
    (corpus / "good.md").write_text(text.format("good", "deliveries"))
    (corpus / "bad.md").write_text(text.format("bad", "delivery"))
    assert reasons(corpus) == {"bad.md": "states: got the section 'delivery'; it has deliveries, ends"}
    [good] = contents(corpus, ACME).documents
    assert [(chunk.source.partition("#")[2], chunk.states) for chunk in chunk_document(good, "g")] == [
        ("deliveries", {"delivery_repeats": 8}),
        ("ends", {}),
    ]


def test_a_file_over_the_bound_is_not_even_read(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, size in (("large.md", documents.MAX_BYTES + 1), ("huge.txt", 50_000_000)):
        with (corpus / file).open("wb") as made:
            made.truncate(size)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read"))
    assert reasons(corpus) == {
        "large.md": "too large: 4,000,001 bytes, at most 4,000,000; split it into several files",
        "huge.txt": "too large: 50,000,000 bytes, at most 4,000,000; split it into several files",
    }


def test_links_that_lead_out_or_nowhere_pipes_and_odd_names_are_named(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    (corpus / "out.md").symlink_to(tmp_path / "secret.md")
    (corpus / "nowhere.md").symlink_to(corpus / "none.md")
    os.mkfifo(corpus / "pipe.md")
    Path(os.fsdecode(os.fsencode(corpus) + b"/\xff.md")).write_text("# Odd\n")
    found = reasons(corpus)
    assert "leads out of the folder" in found["out.md"]
    assert "cannot be read: No such file" in found["nowhere.md"]
    assert "not a regular file" in found["pipe.md"]
    assert "rename the file" in found["?.md"]


def test_an_unreadable_file_is_named(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (corpus / "a.md").write_text("# A\n")

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert reasons(corpus) == {"a.md": "cannot be read: Permission denied; check its permissions"}


def test_a_folder_that_cannot_be_listed_keeps_what_it_brought(
    library: Library, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "sub").mkdir()
    (corpus / "sub" / "a.md").write_text("# A\n\nkeys\n")
    (corpus / "b.md").write_text("# B\n\nkeys\n")
    library.ingest(corpus, NOW, intake=ACME)
    listed = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", refuse)
        report = library.ingest(corpus, NOW, intake=ACME)
    assert [(one.file, report.count("removed")) for one in report.broken] == [("sub", 0)]
    assert len(both(library, "keys", access(tenant="acme"))[0]) == 2


def test_hidden_files_and_other_kinds_are_passed_over(corpus: Path) -> None:
    for name in (".draft.md", "a.MD", "b.markdown", "c.txt", "logo.png", "LICENSE"):
        (corpus / name).write_text("# Text\n")
    (corpus / ".git").mkdir()
    (corpus / ".git" / "d.md").write_text("# Text\n")
    found = contents(corpus, ACME)
    assert [one.file for one in found.documents] == ["a.MD", "b.markdown", "c.txt"]
    assert (found.broken, found.other) == ((), 2)


def test_two_files_whose_places_give_one_id_are_not_two_versions(corpus: Path) -> None:
    (corpus / "a b.md").write_text("# One\n")
    (corpus / "a-b.md").write_text("# Two\n")
    assert "is also in a b.md" in reasons(corpus)["a-b.md"]


def test_one_file_gets_the_id_it_has_in_its_folder(corpus: Path) -> None:
    (corpus / "a.md").write_text("# A\n")
    (corpus / "b.md").write_text("# B\n")
    assert [one.front.id for one in contents(corpus / "a.md", ACME).documents] == ["corpus/a"]


def test_a_path_with_nothing_to_read_is_named(corpus: Path) -> None:
    (corpus / "a.png").write_bytes(b"png")
    for path, said in ((corpus / "none", "no corpus folder"), (corpus / "a.png", "allowed: a file that ends in")):
        with pytest.raises(CorpusMissing, match=said):
            contents(path, ACME)
