"""The text of a PDF as Markdown, page by page under the headings of its outline: a citation names the page."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any

from retrieval.faults import BrokenDocument
from retrieval.html_text import NEEDS

MAX_PDF_BYTES = 40_000_000
MAX_PAGES = 3_000
_PAGE_LEVEL = 6  # of Markdown's headings; the outline has those above

_HYPHEN_AT_LINE_END = re.compile("\x02\r?\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
# A line of a page that Markdown would take for a heading, or for the beginning of code.
_LOOKS_LIKE_MARKUP = re.compile(r"(?=#{1,6}(?:\s|$)|```|~~~|(?:=+|-+)$)")


def pdf_text(file: str, raw: bytes) -> tuple[str, dict[str, str]]:
    """A PDF as Markdown, and its title. Raises BrokenDocument."""
    try:
        import pypdfium2 as pdfium
    except ImportError:
        raise BrokenDocument(file, f"PDF {NEEDS}") from None
    try:
        opened = pdfium.PdfDocument(raw)
    except pdfium.PdfiumError as fault:
        if "password" in str(fault).lower():
            raise BrokenDocument(file, "protected by a password; save it without one") from fault
        raise BrokenDocument(file, f"cannot be read as PDF: {fault}; save it anew") from fault
    try:
        pages = len(opened)
        if pages > MAX_PAGES:
            raise BrokenDocument(file, f"too large: {pages:,} pages, at most {MAX_PAGES:,}; split it")
        text = "".join(_sections(opened))
        title = " ".join(_CONTROL.sub(" ", opened.get_metadata_dict().get("Title") or "").split())[:300]
    except pdfium.PdfiumError as fault:
        raise BrokenDocument(file, f"cannot be read as PDF: {fault}; save it anew") from fault
    finally:
        opened.close()
    if not text:
        raise BrokenDocument(file, "no text on any page; pictures of text need text recognition first")
    # Else the first heading would be taken for the title, which is a page's.
    return text, {"title": title or PurePosixPath(file).stem}


def _outline(opened: Any) -> Iterator[tuple[int, int, str]]:
    """Page, level from 1 and title of each bookmark that leads to a page, in the outline's order."""
    for mark in opened.get_toc(max_depth=_PAGE_LEVEL - 1):
        target = mark.get_dest()
        page, title = target.get_index() if target else None, " ".join(mark.get_title().split())
        if page is not None and title:
            yield page, mark.level + 1, title


def _sections(opened: Any) -> Iterator[str]:
    """Each page that has text, under a heading of its own and what of the outline begins with it."""
    outline = list(_outline(opened))
    shown: list[tuple[int, str]] = []
    for number in range(len(opened)):
        text = _page(opened, number)
        if not text:
            continue
        path = _path(outline, number)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, shown, strict=False)))
        yield "".join(f"{'#' * level} {title}\n\n" for level, title in path[kept:])
        yield f"{'#' * _PAGE_LEVEL} Page {number + 1}\n\n{text}\n\n"
        shown = path


def _path(outline: list[tuple[int, int, str]], number: int) -> list[tuple[int, str]]:
    """The headings above a page; of several that begin on it the first, with what lies directly below."""
    path: list[tuple[int, str]] = []
    began = False
    for page, level, title in outline:
        if page > number:
            continue
        if page == number:
            if began and level <= path[-1][0]:
                break
            began = True
        path = [step for step in path if step[0] < level] + [(level, title)]
    return path


def _page(opened: Any, number: int) -> str:
    page = opened[number]
    try:
        text = _HYPHEN_AT_LINE_END.sub("", page.get_textpage().get_text_bounded())
    finally:
        page.close()
    lines = (_LOOKS_LIKE_MARKUP.sub(r"\\", line.strip(), count=1) for line in text.splitlines())
    return "\n".join(_CONTROL.sub(" ", line).strip() for line in lines).strip()
