"""From a tool's result to what a request may show: only the contract's fields, capped in rows and bytes (S7)."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from state.contract import ToolContract

_SHORTENED = " [...] "


class Projected(NamedTuple):
    """The body to store, whether it is empty, its full size in bytes, and whether it was cut."""

    fields: dict[str, JsonValue]
    empty: bool
    total_bytes: int
    truncated: bool


def project(
    contract: ToolContract,
    result: Mapping[str, Any] | list[Mapping[str, Any]] | None,
    masked: Callable[[str], str] = str,
) -> Projected:
    """Project a result to the contract's output fields. `masked` takes secrets out of each text before any is cut.

    A list becomes `{"rows": [...], "total_rows": n}` with at most `max_rows` rows. Over `max_bytes` rows go
    first, then the longest texts lose their middle: head and tail say most (H19).
    """
    names = [field.name for field in contract.output]
    if isinstance(result, list):
        rows: list[JsonValue] = [_fields(row, names, masked) for row in result]
        fields: dict[str, JsonValue] = {"rows": rows, "total_rows": len(rows)}
        shown = _within({**fields, "rows": rows[: contract.max_rows]}, contract.max_bytes)
        empty = not rows
    else:
        fields = _fields(result or {}, names, masked)
        shown = _within(fields, contract.max_bytes)
        empty = not fields
    return Projected(shown, empty, _size(fields), shown != fields)


def _fields(row: Any, names: list[str], masked: Callable[[str], str]) -> dict[str, JsonValue]:
    if not isinstance(row, Mapping):
        raise TypeError(f"got a {type(row).__name__}; a tool returns an object, a list of objects, or None")
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


def _size(fields: JsonValue) -> int:
    return len(json.dumps(fields, ensure_ascii=False).encode())


def _within(fields: dict[str, JsonValue], most: int) -> dict[str, JsonValue]:
    shown = dict(fields)
    rows = shown.get("rows")
    if isinstance(rows, list):
        kept = list(rows)
        while len(kept) > 1 and _size({**shown, "rows": kept}) > most:
            kept.pop()
        shown["rows"] = kept
    while _size(shown) > most:
        longest = max(
            (name for name in shown if isinstance(shown[name], str)), key=lambda n: len(str(shown[n])), default=None
        )
        if longest is None or len(str(shown[longest])) <= 2 * len(_SHORTENED):
            return {"truncated": True}
        text = str(shown[longest])
        half = max(len(text) // 4, len(_SHORTENED))
        shown[longest] = text[:half] + _SHORTENED + text[-half:] if len(text) > 2 * half + 7 else text[:half]
    return shown
