"""The fields that a request showed, each with its label, read back from the blocks of observations.

A result stands in a request as one or two blocks: what the server made, and what others can write. Both are JSON; what
is not (a summary, say) is a text like any other and has the trust of its item.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from threading import Lock
from typing import Any, NamedTuple

from pydantic import JsonValue

from state.checks.dates import moment
from state.checks.kept import kept, on_let_go
from state.checks.meaning import norm, number, plain, words_of
from state.checks.origin import Shown
from state.context import Trust
from state.contract import RESERVED, Effect, OutputField, ToolContract
from state.labels import Label, Traced

SOURCE = "toolrun://"
INDEX = "index://"  # of results that a request had no room for: a row for each, with its name
_LONGEST_TITLE = 120  # characters
_SHORTEST_ECHO = 4  # characters below which a value says nothing of where it came from


# The engine's own field of every result: the name under which it can be read on. No contract may have it.
_ITS_NAME = OutputField.model_construct(name="artifact_ref", trust="system", identifies="result")


class Cell(NamedTuple):
    """One value of a row, under its field of the contract, and its label."""

    field: OutputField
    value: JsonValue
    label: Label


class Row(NamedTuple):
    """One result, or one row of a list. `steered`: what the model put into the read decided which rows there are.

    `trusted` are its trusted cells, `holds` their values as they are compared; moments stand there by day and minute
    too. `titles` are short texts in it that somebody gave, `ordered` its fields that a superlative may order by.
    """

    item_ids: tuple[str, ...]
    source: str
    tool: str
    cells: tuple[Cell, ...]
    steered: bool = False
    trusted: tuple[Cell, ...] = ()
    holds: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    ordered: tuple[OutputField, ...] = ()


_MOST_MADE = 2_048  # results whose rows are kept: each is in the request of every later decision of its turn
_MAKING = Lock()
_MADE: dict[Any, tuple[ToolContract | None, tuple[Row, ...]]] = {}
on_let_go(_MADE.clear)


def row_of(item_ids: tuple[str, ...], source: str, tool: str, cells: Iterable[Cell], steered: bool = False) -> Row:
    """A row of these cells."""
    made = tuple(cells)
    trusted = tuple(cell for cell in made if cell.label is not Label.UNTRUSTED)
    holds: set[str] = set()
    for leaf in (leaf for cell in trusted for leaf in leaves(cell.value)):
        value = norm(leaf)
        holds.add(value)
        if len(value) > 10 and value[4:5] == "-" and value[7:8] == "-":
            holds |= {value[:10], value[:16].replace("t", " ")}
    others = [plain(cell.value) for cell in made if cell.label is Label.UNTRUSTED and isinstance(cell.value, str)]
    titles = frozenset(text for text in others if len(text) <= _LONGEST_TITLE and len(words_of(text)) > 1)
    ordered = tuple(cell.field for cell in trusted if cell.field.most or cell.field.least)
    return Row(item_ids, source, tool, made, steered, trusted, frozenset(holds), titles, ordered)


def known(
    shown: Sequence[Shown],
    contracts: Mapping[str, ToolContract],
    *,
    own_names: frozenset[str] = frozenset(),
    steered: frozenset[str] = frozenset(),
    echoes: frozenset[str] = frozenset(),
) -> tuple[Row, ...]:
    """The rows that a request showed.

    `own_names` are the principal's names, by which the server says who wrote a row. `steered` names the sources whose
    read had arguments of the model's own. `echoes` are values that came in as untrusted: wherever they stand, they are.
    """
    by_source: dict[str, list[tuple[Shown, dict[str, JsonValue]]]] = {}
    for item in shown:
        if item.source.startswith((SOURCE, INDEX)) and (body := _body(item.text)) is not None:
            by_source.setdefault(item.source, []).append((item, body))
    made: list[Row] = []
    for source, blocks in by_source.items():
        tool = str(blocks[0][1].get("tool", ""))
        contract = contracts.get(tool)
        key = (tuple((item.item_id, item.trust, item.text) for item, _ in blocks), source in steered, own_names, echoes)
        found = _MADE.get(key)
        if found is None or found[0] is not contract:
            turned = source in steered or any(body.get("truncated") is True for _, body in blocks)
            ids = tuple(item.item_id for item, _ in blocks)
            rows = tuple(
                row_of(
                    ids, source, tool, (_echoed(cell, echoes) for cell in _cells(parts, contract, own_names)), turned
                )
                for parts in _rows([(item.trust, body) for item, body in blocks])
            )
            if any(item.trust is not Trust.UNTRUSTED and body.get("artifact_ref") == source for item, body in blocks):
                rows = (*rows, row_of(ids, source, tool, (Cell(_ITS_NAME, source, Label.SERVER),)))
            if source.startswith(INDEX):
                rows = (*rows, *_names(ids, source, tool, blocks))
            found = (contract, rows)
            with _MAKING:
                _MADE[key] = found
                if len(_MADE) > _MOST_MADE:
                    del _MADE[next(iter(_MADE))]
        made += found[1]
    return tuple(made)


def leaves(value: JsonValue) -> Iterator[JsonValue]:
    """The values in a value, names of objects included: they may be anybody's."""
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from leaves(inner)
        case list():
            for inner in value:
                yield from leaves(inner)
        case None:
            return
        case _:
            yield value


def still_trusted(
    contract: ToolContract,
    bodies: Sequence[Mapping[str, JsonValue]],
    arguments: Mapping[str, JsonValue],
    trace: Sequence[Traced],
) -> tuple[str, ...]:
    """The fields of a result that are trusted: those of the contract, but for the ones that repeat what came in with
    the call as untrusted, or as the model's own. `bodies` are the result whole and as it is shown: half a value that
    was cut is not recognised."""
    foreign = {one.argument for one in trace if one.label in (Label.UNTRUSTED, Label.NOWHERE)}
    came_in = [leaf for name in foreign for leaf in leaves(arguments.get(name))]
    echoes = frozenset(text for leaf in came_in if (text := echo(leaf)) is not None)
    # What an effect says of an amount or a time that it was given is not the server's word for it.
    given = (
        frozenset() if contract.effect is Effect.READ else frozenset(one for leaf in came_in for one in _exact(leaf))
    )
    lists = [rows for body in bodies if isinstance(rows := body.get("rows"), list)]
    objects = [*bodies, *(row for rows in lists for row in rows if isinstance(row, dict))]
    return tuple(
        field.name
        for field in contract.output
        if field.label is not Label.UNTRUSTED
        and not any(
            repeats(value, echoes) or any(given.intersection(_exact(leaf)) for leaf in leaves(value))
            for value in (one.get(field.name) for one in objects)
        )
    )


def _exact(leaf: JsonValue) -> Iterator[Decimal | tuple[date, time | None]]:
    """A value as a number or a moment, however it is written; nothing for any other."""
    if not isinstance(leaf, str | int | float) or isinstance(leaf, bool):
        return
    if (exact := number(leaf)) is not None:
        yield exact
    if isinstance(leaf, str) and (when := moment(leaf)) is not None:
        yield when


def echo(value: JsonValue) -> str | None:
    """A value as it is recognised where it comes back; None for one that is too short to tell, or no text."""
    return plain(value) if isinstance(value, str) and len(value.strip()) >= _SHORTEST_ECHO else None


def repeats(value: JsonValue, echoes: frozenset[str]) -> bool:
    """Whether one of these values stands anywhere in a value."""
    if not echoes:
        return False
    texts = [plain(leaf) for leaf in leaves(value) if isinstance(leaf, str)]
    return any(one in text for text in texts for one in echoes)


@kept(most=2_048)
def _body(text: str) -> dict[str, JsonValue] | None:
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _rows(blocks: list[tuple[Trust, dict[str, JsonValue]]]) -> Iterator[list[tuple[Trust, dict[str, JsonValue]]]]:
    """The blocks of one result taken apart into its rows: the parts of a row stand at the same place of each block."""
    lists = [(trust, body["rows"]) for trust, body in blocks if isinstance(body.get("rows"), list)]
    alone = [(trust, {name: value for name, value in body.items() if name != "rows"}) for trust, body in blocks]
    if not lists:
        yield alone
        return
    for place in range(max(len(rows) for _, rows in lists if isinstance(rows, list))):
        parts = [(trust, rows[place]) for trust, rows in lists if isinstance(rows, list) and place < len(rows)]
        yield [(trust, row) for trust, row in parts if isinstance(row, dict)]


def _names(
    ids: tuple[str, ...], source: str, tool: str, blocks: list[tuple[Shown, dict[str, JsonValue]]]
) -> Iterator[Row]:
    """The engine's names of the results that an index lists, each a row of its own as beside a result."""
    lists = [body["rows"] for item, body in blocks if item.trust is not Trust.UNTRUSTED]
    for row in (row for rows in lists if isinstance(rows, list) for row in rows):
        if isinstance(row, dict) and isinstance(row.get("artifact_ref"), str):
            yield row_of(ids, source, tool, (Cell(_ITS_NAME, row["artifact_ref"], Label.SERVER),))


def _cells(
    parts: list[tuple[Trust, dict[str, JsonValue]]], contract: ToolContract | None, own_names: frozenset[str]
) -> Iterator[Cell]:
    trusted = {name: value for trust, fields in parts if trust is not Trust.UNTRUSTED for name, value in fields.items()}
    for trust, fields in parts:
        for name, value in fields.items():
            if name in RESERVED:
                continue
            field = (contract.field(name) if contract else None) or OutputField(name=name)
            label = Label.UNTRUSTED
            if trust is not Trust.UNTRUSTED:
                label = field.label if field.label is not Label.UNTRUSTED else Label.SERVER
            elif field.own_if is not None and plain(str(trusted.get(field.own_if, ""))) in own_names:
                label = Label.OWN
            yield Cell(field, value, label)


def _echoed(cell: Cell, echoes: frozenset[str]) -> Cell:
    if cell.label is Label.UNTRUSTED or not repeats(cell.value, echoes):
        return cell
    return cell._replace(label=Label.UNTRUSTED)
