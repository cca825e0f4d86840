"""Splitting a Markdown text into what it says: sentences and rows of tables, each under its headings.

A heading says what all below it is about, and the head of a table what each cell is: neither is repeated in what
stands below, so that a sentence or a row read alone would lose its subject.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s|$)")
_NOT_PROSE = re.compile(r"\s*(#|\||>|---|===)")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)\s+(?=[A-ZÁÉÍÓÚÑ¿¡0-9`\"“(*])")
_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")  # what stands in each cell of the line between a table's head and its rows


class Passage(NamedTuple):
    """A sentence, or a row of a table told as one. `headings` stand above it; of a row, `cells` are what it says itself
    and `columns` what its table says of each.
    """

    text: str
    headings: str
    cells: str = ""
    columns: str = ""


def passages(text: str) -> Iterator[Passage]:
    """The sentences and rows of a Markdown text, in order; quotes, code and tables without a head are none."""
    path: list[tuple[int, str]] = []
    paragraph: list[str] = []
    table: list[list[str]] = []
    for line in [*_FENCE.sub("\n\n", text).splitlines(), ""]:
        above = " ".join(title for _, title in path)
        item, heading, row = _BULLET.match(line), _HEADING.match(line), line.lstrip().startswith("|")
        prose = bool(line.strip()) and not _NOT_PROSE.match(line)
        if item or not prose:
            yield from (Passage(sentence, above) for sentence in _split(" ".join(paragraph)))
            paragraph = []
        if not row:
            yield from _rows(table, above)
            table = []
        if heading:
            level = len(heading[1])
            path = [step for step in path if step[0] < level] + [(level, line[heading.end() :].strip(" \t#"))]
        elif row:
            table.append([cell.strip() for cell in _CELLS.split(line.strip().strip("|"))])
        elif prose:
            paragraph.append((line[item.end() :] if item else line).strip())


def _split(paragraph: str) -> Iterator[str]:
    yield from (sentence for sentence in _END.split(paragraph.strip()) if sentence)


def _rows(lines: Sequence[list[str]], above: str) -> Iterator[Passage]:
    """The rows of a table, each cell after the name of its column: "Day: Monday; Opens: nine"."""
    if len(lines) < 2 or not all(map(_RULE.fullmatch, lines[1])):
        return
    head = lines[0]
    for cells in lines[2:]:
        told = [f"{name}: {cell}" if name else cell for name, cell in zip(head, cells, strict=False) if cell]
        if told:
            yield Passage("; ".join(told), above, " ".join(cells), " ".join(head))
