"""From a tool's result to what a request may show: only the contract's fields, capped in rows and bytes (S7)."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from state.checks.depth import too_deep
from state.contract import ToolContract
from state.tools import Result

TEXT = "text"
_SHORTENED = " [...] "
_LEAST = 40  # bytes below which a text is not shortened further


class NotText(ValueError):
    """A tool returned bytes that are no text."""


class Projected(NamedTuple):
    """The body to store, whether it is empty, its full size in bytes, whether it was cut, and all of it uncut.

    `left_out` names the fields of the result that the contract does not have.
    """

    fields: dict[str, JsonValue]
    empty: bool
    total_bytes: int
    truncated: bool
    whole: dict[str, JsonValue]
    left_out: tuple[str, ...] = ()


def project(contract: ToolContract, result: Result, masked: Callable[[str], str] = str) -> Projected:
    """Project a result to the contract's output fields. `masked` takes secrets out of each text before any is cut.

    A list becomes `{"rows": [...], "total_rows": n}` with at most `max_rows` rows; text and bytes become the field
    `text`, which the contract has to have. Over `max_bytes` rows go first, then the longest texts lose their middle,
    wherever they stand: head and tail say most (H19). Raises NotText, and TypeError for what is no result, or is nested
    too deep to be read again.
    """
    if too_deep(result):
        raise TypeError("the result is nested too deep")
    names = [field.name for field in contract.output]
    if isinstance(result, str | bytes):
        text = _decoded(result)
        if text and TEXT not in names:
            raise TypeError(f"got text; the contract of a tool that returns text has the output field {TEXT!r}")
        result = {TEXT: text} if text else None
    if isinstance(result, list):
        rows: list[JsonValue] = [_fields(row, names, masked) for row in result]
        fields: dict[str, JsonValue] = {"rows": rows, "total_rows": len(rows)}
        shown = _within({**fields, "rows": rows[: contract.max_rows]}, contract.max_bytes)
        empty = not rows
    else:
        fields = _fields(result or {}, names, masked)
        shown = _within(fields, contract.max_bytes)
        empty = not fields
    return Projected(shown, empty, _size(fields), shown != fields, fields, _left_out(result, names))


def _left_out(result: Result, names: list[str]) -> tuple[str, ...]:
    rows = result if isinstance(result, list) else [result or {}]
    return tuple(sorted({str(name) for row in rows if isinstance(row, Mapping) for name in row}.difference(names)))


def _decoded(result: str | bytes) -> str:
    if isinstance(result, str):
        return result
    try:
        return result.decode()
    except UnicodeDecodeError:
        raise NotText(f"got {len(result)} bytes that are no UTF-8 text") from None


def _fields(row: Any, names: list[str], masked: Callable[[str], str]) -> dict[str, JsonValue]:
    if not isinstance(row, Mapping):
        raise TypeError(f"got a {type(row).__name__}; a tool returns an object, a list of objects, text, or None")
    return {name: _plain(row[name], masked) for name in names if name in row}


def _plain(value: Any, masked: Callable[[str], str]) -> JsonValue:
    """JSON data that can be encoded: no half characters, no bytes dressed as text, no NaN. Nothing is hidden away."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool():
            return value
        case int() | float():
            return value if (text := masked(str(value))) == str(value) else text
        case str():
            return masked(value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        case Mapping():
            return {masked(str(_plain(str(name), str))): _plain(inner, masked) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner, masked) for inner in value]
        case bytes():
            return masked(value.decode("utf-8", errors="replace"))
        case _:
            return masked(str(value))


def _size(value: JsonValue) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def _within(fields: dict[str, JsonValue], most: int) -> dict[str, JsonValue]:
    """The fields in at most so many bytes. What cannot be made to fit is left out whole, and said to be."""
    if _size(fields) <= most:
        return fields
    shown = dict(fields)
    rows = shown.get("rows")
    if isinstance(rows, list):
        shown["rows"] = _fewer(rows, most - _size({**shown, "rows": []}))
    shortest = max((len(text.encode()) for text in _texts(shown)), default=0)
    while _size(shown) > most and shortest > _LEAST:
        shortest = max(shortest // 2, _LEAST)
        shown = {name: _shortened(value, shortest) for name, value in shown.items()}
    return shown if _size(shown) <= most else {"truncated": True}


def _fewer(rows: list[JsonValue], most: int) -> list[JsonValue]:
    """The first rows that fit, and one at least."""
    size, kept = 0, 0
    for row in rows:
        size += _size(row) + 2
        if size > most and kept:
            break
        kept += 1
    return rows[:kept]


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)


def _shortened(value: JsonValue, most: int) -> JsonValue:
    """The value with every longer text reduced to its head and tail, cut between characters."""
    match value:
        case str():
            raw = value.encode()
            if len(raw) <= most:
                return value
            half = (most - len(_SHORTENED)) // 2
            return raw[:half].decode(errors="ignore") + _SHORTENED + raw[-half:].decode(errors="ignore")
        case dict():
            return {name: _shortened(inner, most) for name, inner in value.items()}
        case list():
            return [_shortened(inner, most) for inner in value]
        case _:
            return value
