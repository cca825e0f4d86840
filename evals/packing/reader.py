"""The deterministic reader that drives the long runs: it decides from the text of one request and nothing else.

It is no language model. It knows how the task goes and takes every value from what it is shown, blocks of ours and
messages of others alike; what it needs and is not shown it reads again, and where not even a name is shown it does
without. So a run says what the requests held, not how well somebody thinks.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from evals.packing.plant import DENIED, READ, REPLACE

READ_RESULT = "read_result"
_FIRST = re.compile(r"from asset (A-\d+)")
_NAMED = re.compile(r"of asset (A-\d+)")
_DECODER = json.JSONDecoder()


class Step(NamedTuple):
    """The next call, or without a tool the report."""

    tool: str | None
    arguments: dict[str, JsonValue]
    report: str = ""


class _Seen(NamedTuple):
    at: int
    row: dict[str, JsonValue]


def next_step(text: str) -> Step:
    """What to do next, by the text of a request."""
    seen = list(_rows(text))
    pages = [one for one in seen if "next_asset" in one.row]
    if not pages:
        first = _FIRST.search(text)
        return Step(READ, {"asset_id": first[1]}) if first else Step(None, {}, "nothing is known of the task")
    end = next((one for one in reversed(pages) if one.row["next_asset"] == "none"), None)
    if end is not None and end is not pages[-1] and _concluding(pages, end):
        return _report(text, seen, end)
    newest = pages[-1].row
    asset = str(newest["asset_id"])
    settled = DENIED in text[pages[-1].at :] or any(one.row.get("asset_id") == asset for one in _receipts(seen))
    if newest.get("state") == "worn" and not settled:
        return Step(REPLACE, {"asset_id": asset})
    if newest["next_asset"] != "none":
        return Step(READ, {"asset_id": newest["next_asset"]})
    return _report(text, seen, pages[-1])


def _concluding(pages: list[_Seen], end: _Seen) -> bool:
    """Whether the last asset was reached before what was read since, which is then looked up for the report."""
    return pages.index(end) < len(pages) - 1


def _report(text: str, seen: list[_Seen], end: _Seen) -> Step:
    """Look up what is lacking, one at a time, then report."""
    wanted = _NAMED.findall(text.partition("the reading ")[2].partition(".")[0])
    readings = {str(one.row["asset_id"]): str(one.row["reading"]) for one in seen if "reading" in one.row}
    receipts = {str(one.row["asset_id"]): str(one.row["receipt"]) for one in _receipts(seen)}
    touched = [str(one.row["asset_id"]) for one in seen if one.row.get("tool") == REPLACE and "asset_id" in one.row]
    # What was read again and is worn still was refused.
    left = {str(one.row["asset_id"]) for one in seen if one.at > end.at and one.row.get("state") == "worn"}
    lacking = [asset for asset in dict.fromkeys(touched) if asset not in receipts and asset not in left]
    if lacking:
        return _again(seen, lacking[0])
    unknown = [asset for asset in wanted if asset not in readings]
    if unknown:
        return _again(seen, unknown[0])
    lines = [f"{asset}: {receipt}" for asset, receipt in sorted(receipts.items())]
    return Step(None, {}, "\n".join([*lines, *(f"reading of {asset}: {readings[asset]}" for asset in wanted)]))


def _again(seen: list[_Seen], asset: str) -> Step:
    """Read once more: by the name of the result where it is shown, else the asset itself."""
    for one in seen:
        ref = one.row.get("artifact_ref")
        if one.row.get("tool") == READ and one.row.get("asset_id") == asset and isinstance(ref, str):
            return Step(READ_RESULT, {"artifact_ref": ref})
    return Step(READ, {"asset_id": asset})


def _receipts(seen: list[_Seen]) -> list[_Seen]:
    return [one for one in seen if "receipt" in one.row and "asset_id" in one.row]


def _rows(text: str) -> Iterator[_Seen]:
    """The JSON objects in a text, and the rows of lists in them, with their places."""
    at = text.find("{")
    while at >= 0:
        try:
            found, end = _DECODER.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        if isinstance(found, dict):
            yield from (_Seen(at, row) for row in _flat(found))
        at = text.find("{", end)


def _flat(found: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    rows = found.get("rows")
    if isinstance(rows, list):
        for row in rows:
            if isinstance(row, dict):
                yield {"tool": found.get("tool"), **row}
    elif isinstance(page := found.get("text"), str) and "asset_id: " in page:
        yield {name: value for name, _, value in (line.partition(": ") for line in page.splitlines())}
    else:
        yield found
