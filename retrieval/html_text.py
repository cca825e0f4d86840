"""HTML as Markdown: headings, lists, tables and code stay; what a browser runs or does not show is left out."""

import codecs
import re

from retrieval.document import decoded
from retrieval.faults import BrokenDocument

NEEDS = "needs the extra `documents`, which is not installed; run `pip install 'expediente[documents]'`, or take it out"

# Where a page says its encoding, it does so within its first bytes.
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_CHARSET_WITHIN = 2_048
_AS_BROWSERS_READ = {"iso8859-1": "cp1252", "ascii": "cp1252"}

# The converter leaves out scripts, styles, comments and what `hidden`, `display:none` and the like hide at the element.
# What a style sheet hides, or a colour or place makes unseen, is text here: quoted data, as all of it.
_LEFT_OUT = [
    "nav",  # the same on each page of a site
    "iframe",
    "object",
    "svg",
    "select",
    "dialog",
]


def html_text(file: str, raw: bytes) -> tuple[str, dict[str, str]]:
    """A page as Markdown, and its title and language. Raises BrokenDocument."""
    try:
        from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, convert
    except ImportError:
        raise BrokenDocument(file, f"HTML {NEEDS}") from None
    page = _decoded(file, raw)
    whole = PreprocessingOptions(enabled=False)  # it would guess what is an article and drop the rest
    try:
        body = convert(
            page,
            ConversionOptions(
                extract_metadata=False,
                exclude_selectors=_LEFT_OUT,
                inline_data_media="alt_text_only",
                preprocessing=whole,
            ),
        )
        head = convert(page, ConversionOptions(exclude_selectors=["body"], preprocessing=whole)).metadata
    except ConversionError as fault:
        raise BrokenDocument(file, f"cannot be read as HTML: {fault}; save the page anew") from fault
    if body.warnings:
        # It goes on without what it could not read: a document in part would look like the whole.
        raise BrokenDocument(file, f"cannot be read whole: {body.warnings[0].message}; save the page anew")
    title = " ".join((head.document.title or "").split())[:300]
    language = (head.document.language or "").partition("-")[0].lower()
    says = {"title": title, "language": language}
    return body.content or "", {key: value for key, value in says.items() if value}


def _decoded(file: str, raw: bytes) -> str:
    declared = _CHARSET.search(raw[:_CHARSET_WITHIN])
    if declared is None or raw.startswith(codecs.BOM_UTF8):
        return decoded(file, raw)
    name = declared[1].decode("ascii")
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        raise BrokenDocument(file, f"it says its encoding is {name!r}, which is unknown; save it as UTF-8") from None
    try:
        text = raw.decode(_AS_BROWSERS_READ.get(codec, codec))
    except (UnicodeDecodeError, LookupError) as fault:
        raise BrokenDocument(file, f"it says its encoding is {name}, and is not: {fault}; save it as UTF-8") from fault
    return decoded(file, text.encode("utf-8", "replace"))
