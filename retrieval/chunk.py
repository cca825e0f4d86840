"""Documents cut into chunks on section and paragraph boundaries, each with its heading path and exact span (S5)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrieval.blocks import Block, markdown_blocks, plain_blocks
from retrieval.document import Document, title_of
from retrieval.faults import BrokenDocument
from state.canonical import digest
from state.context import Span
from state.knowledge import Chunk

LIMIT_CHARS = 900  # about 200 tokens: with title and headings within the 256 that MiniLM reads
RECIPE = "sections-1"  # names this way of cutting: another one makes the documents be ingested anew
BEFORE_HEADINGS = "top"  # the section slug of text before the first heading


@dataclass(frozen=True)
class _Section:
    """A stretch of blocks under one heading path. `slug` is unique within its document."""

    path: tuple[str, ...]
    slug: str
    blocks: tuple[Block, ...]


def chunk_document(document: Document, generation: str, limit_chars: int = LIMIT_CHARS) -> tuple[Chunk, ...]:
    """The chunks of one document version, in reading order; together their spans cover the whole text.

    A chunk has at most `limit_chars` characters, save where code or a table row is longer than that. `text` is the
    original's text at `span`; a chunk that begins inside a table has the table's header before it.
    """
    blocks = _blocks(document, limit_chars)
    title = title_of(document, next((block.heading for block in blocks if block.heading), None))
    pieces = [
        (section, ordinal, span)
        for section in _sections(blocks)
        for ordinal, span in enumerate(_packed(section.blocks, limit_chars), start=1)
    ]
    front = document.front
    return tuple(
        Chunk(
            chunk_id=f"{generation}-{place:04d}",
            document_id=front.id,
            version=front.version,
            source=f"{document.source}#{section.slug}" + (f"~{ordinal}" if ordinal > 1 else ""),
            title=title,
            headings=section.path,
            text=run[0].lead + document.text[run[0].start : run[-1].end],
            span=Span(start=run[0].start, end=run[-1].end, section=" > ".join(section.path)),
            tenant=front.tenant,
            acl=front.acl,
            product=front.product,
            language=front.language,
            classification=front.classification,
            authority=front.authority,
            effective_from=front.effective_from,
            effective_to=front.effective_to,
            states=front.states.get(section.slug, {}),
        )
        for place, (section, ordinal, run) in enumerate(pieces)
    )


def check_states(document: Document) -> None:
    """Raises BrokenDocument where a document declares facts of a section that it does not have."""
    if not document.front.states:
        return
    slugs = [section.slug for section in _sections(_blocks(document, LIMIT_CHARS))]
    unknown = [slug for slug in document.front.states if slug not in slugs]
    if unknown:
        raise BrokenDocument(document.file, f"states: got the section {unknown[0]!r:.80}; it has {', '.join(slugs)}")


def generation_of(document: Document, recipe: str) -> str:
    """The name of a document version in one state: 16 hex digits that change with text, front matter or recipe.

    The front matter counts by itself: who may read a document need not stand in its text.
    """
    return digest([document.front.model_dump(mode="json"), document.text, document.body_start, recipe])[:16]


def _blocks(document: Document, limit_chars: int) -> Sequence[Block]:
    if document.file.endswith(".txt"):
        return [*plain_blocks(document.text, document.body_start, limit_chars)]
    return markdown_blocks(document.text, document.body_start, limit_chars)


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    path: list[tuple[int, str]] = []
    slugs: set[str] = set()
    open_blocks: list[Block] = []

    def close() -> _Section:
        headings = tuple(heading for _, heading in path)
        return _Section(
            headings, _unique(slug_of(headings[-1]) if headings else BEFORE_HEADINGS, slugs), tuple(open_blocks)
        )

    for block in blocks:
        if block.level:
            deeper = bool(path) and block.level > path[-1][0]
            # A heading with nothing under it but a deeper one says nothing alone: it goes with the deeper one.
            if open_blocks and not (deeper and all(held.level for held in open_blocks)):
                yield close()
                open_blocks = []
            path = [step for step in path if step[0] < block.level] + [(block.level, block.heading)]
        open_blocks.append(block)
    if open_blocks:
        yield close()


def _packed(blocks: Sequence[Block], limit_chars: int) -> Iterator[list[Block]]:
    """Runs of neighbouring blocks, each as long as fits. A heading is never left alone at a run's end."""
    run: list[Block] = []
    for block in blocks:
        fits = not run or len(run[0].lead) + block.end - run[0].start <= limit_chars
        if not fits and not all(held.level for held in run):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def slug_of(heading: str) -> str:
    """A heading as the fragment of a source: lower case, accents folded, words joined by dashes."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", heading) if not "\u0300" <= c <= "\u036f")
    slug = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", folded).casefold()).strip("-")
    return slug or "section"


def _unique(slug: str, taken: set[str]) -> str:
    number, name = 0, slug
    while name in taken:
        number += 1
        name = f"{slug}-{number}"
    taken.add(name)
    return name
