"""Markdown cut into blocks: pieces that a chunk boundary may stand between, each with its exact span (H12)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Block structure only: what a heading or fence is, is the parser's business, never a pattern's.
_MARKDOWN = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"], ignoreInvalid=True)
_LINE_END = re.compile(r"\r\n?|\n")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")


@dataclass(frozen=True)
class Block:
    """A piece of text from `start` to `end` (characters of the original, end exclusive).

    `level` and `heading` are set for a heading. `lead` is what a chunk that begins here must repeat before it: the
    header of the table that this row belongs to.
    """

    start: int
    end: int
    level: int = 0
    heading: str = ""
    lead: str = ""


def markdown_blocks(text: str, start: int, limit_chars: int) -> list[Block]:
    """The blocks of `text` from `start` on, in order and without gaps: every character is in exactly one.

    Paragraphs and lists longer than `limit_chars` are cut at items, sentences and words; tables at rows; code never.
    """
    body = text[start:]
    lines = [start, *(start + end.end() for end in _LINE_END.finditer(body))]
    tokens = _MARKDOWN.parse(body)
    starts = [(token, position) for position, token in enumerate(tokens) if token.level == 0 and token.map]
    tops = [(token, position) for token, position in starts if token.nesting >= 0]
    blocks: list[Block] = []
    for place, (token, position) in enumerate(tops):
        # What stands between two blocks (blank lines, link definitions) goes with the one before it.
        begin = start if place == 0 else _line(lines, _map(token)[0], len(text))
        following = tops[place + 1][0] if place + 1 < len(tops) else None
        end = len(text) if following is None else _line(lines, _map(following)[0], len(text))
        blocks += _cut(text, token, tokens[position:], lines, begin, end, limit_chars)
    return blocks or [*plain_blocks(text, start, limit_chars)]


def plain_blocks(text: str, start: int, limit_chars: int) -> Iterator[Block]:
    """The paragraphs of a text without markup, cut where they are longer than `limit_chars`."""
    begin = start
    for gap in re.finditer(r"(?:\r?\n[ \t]*){2,}", text[start:]):
        yield from split(text, begin, start + gap.end(), limit_chars)
        begin = start + gap.end()
    if begin < len(text):
        yield from split(text, begin, len(text), limit_chars)


def split(text: str, start: int, end: int, limit_chars: int) -> Iterator[Block]:
    """Pieces of at most `limit_chars`, cut behind a sentence, else at white space, else anywhere."""
    while end - start > limit_chars:
        window = text[start : start + limit_chars]
        ends = [match.end() for match in _SENTENCE_END.finditer(window) if 0 < match.end() < limit_chars]
        spaces = [match.end() for match in re.finditer(r"\s+", window) if match.end() < limit_chars]
        # A cut in the first third would leave crumbs.
        cut = next((c for c in (ends[-1:] + spaces[-1:]) if c > limit_chars // 3), limit_chars)
        yield Block(start, start + cut)
        start += cut
    if start < end:
        yield Block(start, end)


def _cut(
    text: str, token: Token, tokens: Sequence[Token], lines: list[int], begin: int, end: int, limit_chars: int
) -> Iterator[Block]:
    if token.type == "heading_open":
        yield Block(begin, end, level=int(token.tag[1:]), heading=_plain(tokens[1].content))
    elif token.type == "table_open":
        yield from _rows(text, _map(token), lines, begin, end)
    elif token.type in {"bullet_list_open", "ordered_list_open"}:
        yield from _items(text, tokens, lines, begin, end, limit_chars)
    elif token.type in {"fence", "code_block"} or _holds_code(tokens):
        yield Block(begin, end)
    else:
        yield from split(text, begin, end, limit_chars)


def _rows(text: str, span: tuple[int, int], lines: list[int], begin: int, end: int) -> Iterator[Block]:
    """One block per row, the first together with the header, each later one with the header as its lead."""
    first, last = span
    header = text[_line(lines, first, end) : _line(lines, first + 2, end)]
    cuts = [begin, *(_line(lines, line, end) for line in range(first + 3, last)), end]
    for place, (start, stop) in enumerate(pairwise(cuts)):
        yield Block(start, stop, lead=header if place else "")


def _items(
    text: str, tokens: Sequence[Token], lines: list[int], begin: int, end: int, limit_chars: int
) -> Iterator[Block]:
    items = []
    for position, token in enumerate(tokens):
        if position and token.level == 0:
            break
        if token.type == "list_item_open" and token.level == 1:
            items.append((_line(lines, _map(token)[0], end), position))
    cuts = [begin, *(start for start, _ in items[1:]), end]
    for place, (start, stop) in enumerate(pairwise(cuts)):
        inner = tokens[items[place][1] :]
        yield from [Block(start, stop)] if _holds_code(inner) else split(text, start, stop, limit_chars)


def _holds_code(tokens: Sequence[Token]) -> bool:
    """Whether code stands inside the block that the first token opens."""
    depth = 0
    for token in tokens:
        if token.type in {"fence", "code_block"}:
            return True
        depth += token.nesting
        if depth <= 0:
            break
    return False


def _plain(heading: str) -> str:
    """A heading's text without emphasis, code and link marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", heading).strip()


def _map(token: Token) -> tuple[int, int]:
    assert token.map is not None  # callers pass only tokens that open a block
    return token.map[0], token.map[1]


def _line(lines: list[int], line: int, end: int) -> int:
    return min(lines[line], end) if line < len(lines) else end
