"""HTML and PDF: what of them is read, what is left out, what describes them, and each way they can be broken."""

import sys
from pathlib import Path

import pytest

from retrieval import formats, pdf_text
from retrieval.chunk import chunk_document
from retrieval.document import Document
from retrieval.faults import BrokenDocument
from retrieval.folder import contents
from retrieval.formats import parse_document
from retrieval.intake import Intake
from retrieval.library import Library
from tests.retrieval.conftest import NOW, access, both
from tests.retrieval.pdf_bytes import pdf_bytes

ACME = Intake(tenant="acme")
KEYS = b"id: manual\nversion: v1\ntenant: t1\n"


def read(file: str, raw: bytes | str) -> Document:
    return ACME.document(file, raw.encode() if isinstance(raw, str) else raw, "corpus")


def test_headings_lists_code_and_tables_of_a_page_become_chunks_with_their_place() -> None:
    rows = "".join(f"<tr><td>E-{number}<td>{number} requests" for number in range(60))
    page = read(
        "guide.html",
        "<!doctype html><html lang=es-MX><title>Guía &amp; más</title><h1>Keys</h1><p>All of <b>them</b>."
        f"<h2>Limits</h2><table><tr><th>code<th>limit{rows}</table><pre># no heading</pre><ul><li>one<li>two</ul>",
    )
    assert (page.front.title, page.front.language) == ("Guía & más", "es")
    chunks = chunk_document(page, "g", 400)
    assert {chunk.headings for chunk in chunks} == {("Keys",), ("Keys", "Limits")}
    assert {chunk.source.partition("#")[2].partition("~")[0] for chunk in chunks} == {"keys", "limits"}
    assert all("| code | limit |" in chunk.text.replace("  ", "") for chunk in chunks if "E-1" in chunk.text)
    assert chunks[0].text == "# Keys\n\nAll of **them**.\n\n"
    assert "```\n# no heading\n```" in page.text
    assert "- one\n- two" in page.text
    assert "".join(page.text[chunk.span.start : chunk.span.end] for chunk in chunks) == page.text


LEFT_OUT = {
    "a script": "<script>unseen()</script>",
    "a style": "<style>.unseen {}</style>",
    "a comment": "<!-- unseen -->",
    "a template": "<template>unseen</template>",
    "a text for old browsers": "<noscript>unseen</noscript>",
    "an attribute": "<p hidden>unseen</p>",
    "no display": '<p style="color:red;display: none">unseen</p>',
    "no display, shouted": '<p STYLE="DISPLAY:NONE">unseen</p>',
    "not visible": '<div style="visibility:hidden"><p>unseen</p></div>',
    "no size": '<span style="font-size:0">unseen</span>',
    "a window not opened": "<dialog>unseen</dialog>",
    "a choice": "<select><option>unseen</select>",
    "an input": "<input type=hidden value=unseen>",
    "a frame": "<iframe src=x>unseen</iframe>",
    "a drawing": "<svg><text>unseen</text></svg>",
    "a menu": "<nav><a href=x>unseen</a></nav>",
    "a picture's bytes": '<img alt="seen" src="data:image/png;base64,unseen">',
}


@pytest.mark.parametrize("part", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_a_browser_runs_or_does_not_show_is_no_text(part: str) -> None:
    text = read("a.html", f"<h1>Keys</h1>{part}<p style='opacity:0.5'>seen").text
    assert "unseen" not in text
    assert text.endswith("seen\n")


def test_characters_that_are_not_seen_stay_for_the_guard_to_count() -> None:
    assert "a\u200bb\u202ec" in read("a.html", "<p>a\u200bb&#x202e;c").text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<p>añó".encode(), "añó\n"),
        ("\ufeff<meta charset=latin1><p>añó".encode(), "añó\n"),
        ("<meta charset='iso-8859-1'><p>añó €".encode("cp1252"), "añó €\n"),
        ('<meta http-equiv=x content="text/html; charset=Shift_JIS"><p>退'.encode("shift_jis"), "退\n"),
    ],
)
def test_a_page_is_read_in_the_encoding_it_names(raw: bytes, text: str) -> None:
    assert read("a.html", raw).text == text


@pytest.mark.parametrize(
    ("file", "raw", "reason"),
    [
        ("a.html", "<p>año".encode("latin-1"), "not UTF-8 at byte 4"),
        (
            "a.html",
            b"<meta charset=klingon><p>a",
            "it says its encoding is 'klingon', which is unknown; save it as UTF-8",
        ),
        ("a.html", b"<meta charset=utf-8><p>a\xff", "it says its encoding is utf-8, and is not"),
        ("a.html", b"<p>a\0b", "binary: it holds a zero byte"),
        ("a.html", b"", "no text; write some"),
        ("a.html", b"<script>all()</script>", "no text; write some"),
        ("a.htm", b"<div>" * 5_000 + b"deep", "cannot be read whole: DOM traversal reached"),
        ("a.pdf", b"", "cannot be read as PDF: "),
        ("a.pdf", b"<html>not found</html>", "cannot be read as PDF: .*Data format error"),
        ("a.pdf", pdf_bytes(["text"])[:300], "cannot be read as PDF: "),
        ("a.pdf", pdf_bytes(["text"], locked=True), "protected by a password; save it without one"),
        ("a.pdf", pdf_bytes([], []), "no text on any page; pictures of text need text recognition first"),
    ],
)
def test_what_is_no_whole_page_or_pdf_is_broken(file: str, raw: bytes, reason: str) -> None:
    with pytest.raises(BrokenDocument, match=f"^{file}: {reason}"):
        read(file, raw)


def test_a_pdf_of_too_many_bytes_pages_or_characters_is_refused(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (corpus / "large.pdf").open("wb") as made:
        made.truncate(50_000_000)
    [broken] = contents(corpus, ACME).broken
    assert broken.reason == "too large: 50,000,000 bytes, at most 40,000,000; split it into several files"
    monkeypatch.setattr(pdf_text, "MAX_PAGES", 1)
    with pytest.raises(BrokenDocument, match="too large: 2 pages, at most 1; split it"):
        read("a.pdf", pdf_bytes(["one"], ["two"]))
    monkeypatch.setattr(formats, "MAX_BYTES", 20)
    with pytest.raises(BrokenDocument, match="too large: 21 characters of text, at most 20; split it"):
        read("a.pdf", pdf_bytes(["four"]))


def test_a_pdf_is_cited_by_page_under_the_headings_of_its_outline() -> None:
    pages: tuple[list[str], ...] = (["Welcome."], ["Install it (twice).", "# not a heading", "----"], [], ["Run it."])
    made = read("m.pdf", pdf_bytes(*pages, outline=[("Set-up", 1), ("Also on that page", 1), ("Use", 3)]))
    assert made.front.title == "m"
    assert [(chunk.source.partition("#")[2], chunk.headings) for chunk in chunk_document(made, "g")] == [
        ("page-1", ("Page 1",)),
        ("page-2", ("Set-up", "Page 2")),
        ("page-4", ("Use", "Page 4")),
    ]
    assert made.text == (
        "###### Page 1\n\nWelcome.\n\n# Set-up\n\n###### Page 2\n\n"
        "Install it (twice).\n\\# not a heading\n\\----\n\n# Use\n\n###### Page 4\n\nRun it.\n\n"
    )
    assert read("m.pdf", pdf_bytes(["a"], title="The manual")).front.title == "The manual"


def test_a_citation_of_a_page_or_a_pdf_opens_the_stored_text(library: Library, corpus: Path) -> None:
    (corpus / "guide.html").write_text("<h1>Keys</h1><p>keys of the guide", "utf-8")
    (corpus / "manual.pdf").write_bytes(pdf_bytes(["first"], ["keys of the manual"]))
    assert library.ingest(corpus, NOW, intake=ACME).broken == ()
    who = access(tenant="acme")
    found = {hit.chunk.source.partition("@")[0]: hit.chunk for hit in library.lexical.search("keys", who, 5).hits}
    assert found.keys() == {"corpus/guide", "corpus/manual"}
    assert found["corpus/manual"].source.endswith("#page-2")
    for chunk in found.values():
        original = library.catalogue.original(who, chunk.source.partition("#")[0])
        assert original is not None
        assert original[chunk.span.start : chunk.span.end] == chunk.text


def test_keys_beside_a_file_describe_it_and_a_change_of_them_takes_effect(library: Library, corpus: Path) -> None:
    (corpus / "manual.pdf").write_bytes(pdf_bytes(["keys"]))
    beside = corpus / "manual.pdf.yaml"
    beside.write_bytes(KEYS + b"authority: 0.9\n")
    report = library.ingest(corpus, NOW)
    assert [(one.source, one.file, report.other) for one in report.documents] == [("manual@v1", "manual.pdf", 0)]
    assert both(library, "keys", access()) == ({"manual@v1"}, {"manual@v1"})
    beside.write_bytes(KEYS + b"acl: [hr]\n")
    assert library.ingest(corpus, NOW).count("changed") == 1
    assert both(library, "keys", access()) == (set(), set())
    beside.write_bytes(KEYS + b"acl: hr\n")
    [broken] = library.ingest(corpus, NOW).broken
    assert (broken.file, broken.reason.partition(":")[0]) == ("manual.pdf", "acl")
    assert both(library, "keys", access(("hr",))) == ({"manual@v1"}, {"manual@v1"})


@pytest.mark.parametrize(
    ("sidecar", "reason"),
    [
        (b"acl: [hr\n", "a.pdf.yaml: the front matter is not valid YAML: line 2, column 1"),
        (b"tenant: other\n", "tenant: the file says 'other'"),
        (b"\xff", "a.pdf.yaml: not UTF-8"),
        (b"", "a.pdf.yaml: the front matter holds no keys"),
    ],
)
def test_what_stands_beside_a_file_and_cannot_be_read_keeps_it_out(corpus: Path, sidecar: bytes, reason: str) -> None:
    (corpus / "a.pdf").write_bytes(pdf_bytes(["text"]))
    (corpus / "a.pdf.yaml").write_bytes(sidecar)
    found = contents(corpus, ACME)
    assert found.documents == ()
    assert [fault.file for fault in found.broken] == ["a.pdf"]
    assert found.broken[0].reason.startswith(reason)


def test_keys_that_describe_nothing_and_a_corpus_file_without_keys_are_named(corpus: Path) -> None:
    (corpus / "gone.html.yaml").write_bytes(KEYS)
    (corpus / "other.yaml").write_bytes(KEYS)
    found = contents(corpus, ACME)
    assert [(fault.file, fault.reason) for fault in found.broken] == [
        ("gone.html.yaml", "it describes gone.html, which is not here; put that here, or delete this")
    ]
    assert found.other == 1
    with pytest.raises(BrokenDocument, match=r"write keys id, version, tenant into a\.html\.yaml beside it"):
        parse_document("sub/a.html", b"<p>text")


def test_without_the_extra_a_file_is_named_and_what_was_live_of_it_stays(
    library: Library, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "a.html").write_text("<h1>Keys</h1>", "utf-8")
    (corpus / "b.pdf").write_bytes(pdf_bytes(["keys"]))
    (corpus / "c.md").write_text("# Keys\n", "utf-8")
    library.ingest(corpus, NOW, intake=ACME)
    for package in ("html_to_markdown", "pypdfium2"):
        monkeypatch.setitem(sys.modules, package, None)
    report = library.ingest(corpus, NOW, intake=ACME)
    needs = "needs the extra `documents`, which is not installed; run `pip install 'expediente[documents]'`"
    assert [(fault.file, fault.reason.partition(", or")[0]) for fault in report.broken] == [
        ("a.html", f"HTML {needs}"),
        ("b.pdf", f"PDF {needs}"),
    ]
    assert (report.count("unchanged"), report.count("removed")) == (1, 0)
    assert len(both(library, "keys", access(tenant="acme"))[1]) == 3
