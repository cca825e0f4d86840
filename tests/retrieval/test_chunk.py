"""H12 and the laws of cutting: sections, exact spans, whole fences, tables with their header."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.chunk import chunk_document, slug_of
from retrieval.document import Document, FrontMatter
from state.knowledge import Chunk

ROWS = "\n".join(f"| C-{number:03} | {number * 10} per minute |" for number in range(60))
BACKUP = f"""# Backup

Backups run at night. Ask before you stop one.

```bash
# Install
run --all
```

| code | limit |
|---|---|
{ROWS}

## Restore

Restoring takes an hour.
"""


def cut(text: str, limit_chars: int = 400, file: str = "text.md") -> tuple[Document, tuple[Chunk, ...]]:
    front = FrontMatter(id="runbook/backup", version="v7", tenant="t1")
    document = Document(front=front, file=file, text=text, body_start=0)
    return document, chunk_document(document, "g", limit_chars)


def covers(document: Document, chunks: tuple[Chunk, ...]) -> bool:
    """Whether the spans follow each other without a gap from the first character to the last."""
    ends = [document.body_start, *(chunk.span.end for chunk in chunks)]
    return [chunk.span.start for chunk in chunks] == ends[:-1] and ends[-1] == len(document.text)


def test_h12_a_comment_in_code_is_no_heading() -> None:
    _, chunks = cut(BACKUP)
    assert list(dict.fromkeys(chunk.span.section for chunk in chunks)) == ["Backup", "Backup > Restore"]
    assert not any(chunk.text.startswith("# Install") for chunk in chunks)


def test_h12_every_chunk_with_rows_has_the_tables_header() -> None:
    _, chunks = cut(BACKUP)
    with_rows = [chunk for chunk in chunks if re.search(r"^\| C-", chunk.text, re.MULTILINE)]
    assert len(with_rows) > 3
    assert all(chunk.text.count("| code | limit |\n|---|---|\n") == 1 for chunk in with_rows)


@pytest.mark.parametrize("limit_chars", [60, 100, 400, 5_000])
def test_h12_fences_are_balanced_and_nothing_is_lost(limit_chars: int) -> None:
    document, chunks = cut(BACKUP, limit_chars)
    assert all(chunk.text.count("```") % 2 == 0 for chunk in chunks)
    assert covers(document, chunks)
    assert all(chunk.text.endswith(document.text[chunk.span.start : chunk.span.end]) for chunk in chunks)


def test_chunks_stay_within_the_limit_where_text_can_be_cut() -> None:
    text = (
        "# Long\n\n" + "A sentence of some words. " * 200 + "\n\n- " + "item words " * 100 + "\n- two\n\n" + "x" * 3000
    )
    document, chunks = cut(text, 300)
    assert covers(document, chunks)
    # The heading goes with the first piece, whatever its length.
    assert all(len(chunk.text) <= 300 + len("# Long\n\n") for chunk in chunks)
    assert all(chunk.text.rstrip().endswith(".") for chunk in chunks[1:10])


def test_a_source_names_document_version_section_and_piece() -> None:
    _, chunks = cut("# API keys\n\n## Revoked keys\n\n" + "One sentence here. " * 40, 300)
    assert [chunk.source for chunk in chunks][:3] == [
        "runbook/backup@v7#revoked-keys",
        "runbook/backup@v7#revoked-keys~2",
        "runbook/backup@v7#revoked-keys~3",
    ]
    assert chunks[0].headings == ("API keys", "Revoked keys")
    assert chunks[0].title == "API keys"


def test_sections_of_one_name_have_sources_of_their_own() -> None:
    _, chunks = cut("# A\n\n## Steps\n\none\n\n# B\n\n## Steps\n\ntwo\n\n## Steps-1\n\nthree\n")
    assert [chunk.source.partition("#")[2] for chunk in chunks] == ["steps", "steps-1", "steps-1-1"]


def test_a_heading_alone_goes_with_the_deeper_one_below_it() -> None:
    _, chunks = cut("# Guide\n\n## First\n\ntext\n\n## Empty\n\n## Last\n\ntext\n")
    assert [(chunk.span.section, chunk.text) for chunk in chunks] == [
        ("Guide > First", "# Guide\n\n## First\n\ntext\n\n"),
        ("Guide > Empty", "## Empty\n\n"),
        ("Guide > Last", "## Last\n\ntext\n"),
    ]


def test_text_before_the_first_heading_and_without_any_is_kept() -> None:
    _, chunks = cut("Preface.\n\n# One\n\ntext\n")
    assert [chunk.source.partition("#")[2] for chunk in chunks] == ["top", "one"]
    assert [chunk.headings for chunk in chunks] == [(), ("One",)]


def test_a_plain_text_file_knows_no_markdown() -> None:
    document, chunks = cut("# not a heading\n\n" + "Words and words. " * 40 + "\n\n```\n", 200, "notes.txt")
    assert {chunk.headings for chunk in chunks} == {()}
    assert covers(document, chunks)


@pytest.mark.parametrize(
    "text",
    [
        "Setext\n===\n\ntext\n\nDeeper\n---\n\nmore\n",
        "> # quoted heading\n> text\n\n- # heading in a list\n\n    # code by indent\n",
        "# Windows\r\n\r\ntext\r\n\r\n```\r\n# no\r\n```\r\n",
        "text\n\n[link]: somewhere\n\n<div>\n# raw\n</div>\n\n***\n",
        "~~~\n```\n# no\n~~~\n# Yes\n",
        "```\nnever closed\n# no\n",
        "1. one\n   ```\n   # no\n   ```\n2. two\n",
        "\ufeffodd\x0bline\u2028ends\x85here\n\n# One\n",
        "| a |\n|---|\n",
        "| a |\n|---|\n| 1 |",
        "# Only a heading",
    ],
)
@pytest.mark.parametrize("limit_chars", [10, 1_000])
def test_odd_markdown_loses_no_character(text: str, limit_chars: int) -> None:
    document, chunks = cut(text, limit_chars)
    assert covers(document, chunks)
    assert "no" not in [heading for chunk in chunks for heading in chunk.headings]


MARKDOWN = st.lists(
    st.sampled_from(
        ["# a\n", "## b\n", "\n", "text. ", "```\n", "~~~\n", "| a | b |\n", "|---|---|\n", "- x\n", "  y\n"]
    ),
    min_size=1,
    max_size=30,
).map("".join)


@settings(deadline=None)
@given(text=MARKDOWN | st.text(min_size=1), limit_chars=st.integers(1, 60))
def test_any_text_is_covered_and_every_source_is_used_once(text: str, limit_chars: int) -> None:
    document, chunks = cut(text, limit_chars)
    assert covers(document, chunks)
    assert len({chunk.source for chunk in chunks}) == len(chunks)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Revoked keys", "revoked-keys"),
        ("¿Qué es?", "que-es"),
        ("退款", "退款"),
        ("v1.2 (beta)", "v1-2-beta"),
        ("!", "section"),
    ],
)
def test_a_heading_becomes_a_slug(heading: str, slug: str) -> None:
    assert slug_of(heading) == slug
