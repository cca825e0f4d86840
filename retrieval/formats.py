"""A file's text as it is stored and cited, what the file says of itself, and the keys that describe it."""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from retrieval.document import MAX_BYTES, Document, decoded, described, front_matter, keys_of
from retrieval.faults import BrokenDocument
from retrieval.html_text import html_text
from retrieval.pdf_text import MAX_PDF_BYTES, pdf_text
from state.value import Value

_PLAIN = frozenset({".md", ".markdown", ".txt"})
_CONVERTED: dict[str, Callable[[str, bytes], tuple[str, dict[str, str]]]] = {
    ".html": html_text,
    ".htm": html_text,
    ".pdf": pdf_text,
}
SUFFIXES = _PLAIN | _CONVERTED.keys()
SIDECAR = ".yaml"  # behind the whole name: guide.pdf.yaml describes guide.pdf


class Read(Value):
    """The text of a file. Spans count its characters: of HTML and PDF it is the conversion that is stored and cited.

    `keys` describe the document, None where nobody does; `says` is what the format itself tells (title, language).
    """

    text: str
    keys: dict[str, Any] | None
    body_start: int = 0
    says: dict[str, str] = {}


def suffix_of(file: str) -> str:
    """The ending that says of what kind a file is."""
    return PurePosixPath(file).suffix.lower()


def described_by(file: str) -> str | None:
    """The name of the file that a sidecar describes; None for what is no sidecar."""
    described = file.removesuffix(SIDECAR)
    return described if described != file and suffix_of(described) in _CONVERTED else None


def may_have_sidecar(file: str) -> bool:
    """Whether keys about a file stand beside it: its format has no front matter."""
    return suffix_of(file) in _CONVERTED


def max_bytes(file: str) -> int:
    """How large a file may be. Pictures make a PDF large, not its text."""
    return MAX_PDF_BYTES if suffix_of(file) == ".pdf" else MAX_BYTES


def parse_document(file: str, raw: bytes, sidecar: bytes | None = None) -> Document:
    """The document in a file's bytes, which must say all; `file` is its path inside the corpus, for messages.

    Markdown and plain text are decoded and otherwise unchanged, so that spans count characters of the original.
    Raises BrokenDocument with the reason.
    """
    found = read(file, raw, sidecar)
    if found.keys is None:
        if may_have_sidecar(file):
            beside = PurePosixPath(file).name + SIDECAR
            raise BrokenDocument(file, f"nothing describes it; write keys id, version, tenant into {beside} beside it")
        raise BrokenDocument(file, "no front matter; begin with a line `---`, keys id, version, tenant, a line `---`")
    return described(file, found.text, {**found.says, **found.keys}, found.body_start)


def read(file: str, raw: bytes, sidecar: bytes | None = None) -> Read:
    """The text in a file's bytes. Raises BrokenDocument with the reason."""
    convert = _CONVERTED.get(suffix_of(file))
    if convert is None:
        text = decoded(file, raw)
        keys, body_start = front_matter(file, text)
        return Read(text=text, keys=keys, body_start=body_start)
    keys = None
    if sidecar is not None:
        place = PurePosixPath(file).name + SIDECAR
        try:
            keys = keys_of(file, decoded(file, sidecar))
        except BrokenDocument as fault:
            raise BrokenDocument(file, f"{place}: {fault.reason}") from fault
    text, says = convert(file, raw)
    if len(text) > MAX_BYTES:
        raise BrokenDocument(file, f"too large: {len(text):,} characters of text, at most {MAX_BYTES:,}; split it")
    return Read(text=text, keys=keys, says=says)
