"""Compaction of this turn's results (C3, C4, C6): discarded by rule before anything is shortened, then held to a share.

A result that is shown in another form keeps its place, its id and the public name of all of it: a call has one result,
and the original stays addressable (C7). The rules are asked in order, the first that holds decides:

| rule | holds for | shown |
|---|---|---|
| latest | results of the newest lap that brought any | whole |
| active_failure | a failure or not knowing, until the same call brought something | whole |
| changed_since | a read of what an effect changed later | the name alone: what was read is no longer so |
| repeated | a read whose very call was made again later | the name alone, with where the newer one stands |
| empty | nothing was found | the name alone |
| share | everything else, the newest first | whole while the share has room, then its summary, then its name |

What not even a name has room for is left out, call and result together; the record chain has it.

The summary is what code takes out of a result, the same whenever it is made: the fields of the system of record, each
text of them cut, of rows the first. What third parties wrote is left out of it.
"""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from nodes.pack.drafts import Draft, Drafts
from nodes.pack.trail import Trace
from nodes.pack.utility import left_out
from state.context import Dropped, DropReason, Kind, Masked, MaskReason, Trust
from state.contract import Effect

_TEXT_CHARS = 120  # of one field that a summary keeps
_FAILED = ("error", "unknown")


class Compacted(NamedTuple):
    """The trail as it is shown, oldest first; what of it is shown in another form, with the rule; what is not shown."""

    drafts: list[Draft]
    masked: tuple[Masked, ...]
    dropped: tuple[Dropped, ...]


class _Shown(NamedTuple):
    """One trace among the others of its turn, newest first."""

    trace: Trace
    at: int
    newer: Sequence[Trace]
    latest_lap: int


def compacted(traces: Sequence[Trace], make: Drafts, share_tokens: int) -> Compacted:
    """Traces, oldest first, as a request shows them. `share_tokens` bounds results that no rule keeps whole."""
    results = [trace for trace in traces if trace.seen is not None]
    if not results:
        return Compacted([draft for trace in traces for draft in trace.drafts], (), ())
    latest = max(trace.lap for trace in results)
    left = share_tokens
    shown: list[list[Draft]] = []
    masked: list[Masked] = []
    dropped: list[Dropped] = []
    for place in range(len(traces) - 1, -1, -1):
        trace = traces[place]
        one = _Shown(trace, place, traces[place + 1 :], latest)
        drafts, reason = ([*trace.drafts], None) if trace.seen is None else _ruled(one, make, left)
        if trace.seen is None:
            shown.append(drafts)
            continue
        tokens = sum(draft.item.token_count for draft in drafts)
        if reason is not None and tokens > left:
            dropped += [left_out(draft.item, DropReason.OVER_SHARE) for draft in reversed(trace.drafts)]
            continue
        left -= tokens
        shown.append(drafts)
        if reason is not None:
            names = [draft.item.item_id for draft in reversed(trace.drafts)]
            masked += [Masked(item_id=name, original_ref=trace.seen.ref, reason=reason) for name in names]
    return Compacted(
        [draft for drafts in reversed(shown) for draft in drafts], tuple(reversed(masked)), tuple(reversed(dropped))
    )


_Form = Callable[[_Shown, Drafts], list[Draft]]


def _ruled(one: _Shown, make: Drafts, left: int) -> tuple[list[Draft], MaskReason | None]:
    """The form that the first rule gives; without one the fullest that the share has room for, at last the name."""
    for holds, reason, form in _RULES:
        if holds(one):
            return form(one, make), reason
    for reason, form in ((None, _whole), (MaskReason.SUMMARISED, _summary)):
        drafts = form(one, make)
        if sum(draft.item.token_count for draft in drafts) <= left:
            return drafts, reason
    return _name(one, make), MaskReason.OVER_SHARE


def _same_call(one: _Shown, newer: Trace) -> bool:
    seen, other = one.trace.seen, newer.seen
    if seen is None or other is None:
        return False
    return (seen.tool, seen.arguments_digest) == (other.tool, other.arguments_digest)


def _is_latest(one: _Shown) -> bool:
    return one.trace.lap == one.latest_lap


def _is_active_failure(one: _Shown) -> bool:
    mended = any(_same_call(one, newer) and newer.outcome not in _FAILED for newer in one.newer)
    return one.trace.outcome in _FAILED and not mended


def _was_changed(one: _Shown) -> bool:
    seen = one.trace.seen
    if seen is None or seen.effect is not Effect.READ:
        return False
    return any(
        newer.seen is not None and newer.seen.effect is not Effect.READ and newer.subjects & one.trace.subjects
        for newer in one.newer
        if newer.outcome != "error"
    )


def _was_repeated(one: _Shown) -> bool:
    reads = one.trace.seen is not None and one.trace.seen.effect is Effect.READ
    return reads and any(_same_call(one, newer) and newer.outcome not in _FAILED for newer in one.newer)


def _is_empty(one: _Shown) -> bool:
    return one.trace.outcome == "empty"


def _whole(one: _Shown, make: Drafts) -> list[Draft]:
    return [*one.trace.drafts]


def _name(one: _Shown, make: Drafts, **more: JsonValue) -> list[Draft]:
    seen = one.trace.seen
    assert seen is not None
    why = {"error": seen.code} if seen.code else {}
    told = {"tool": seen.tool, "outcome": seen.outcome, **why, "artifact_ref": seen.artifact_ref, **more}
    return _made(one, make, told)


def _changed(one: _Shown, make: Drafts) -> list[Draft]:
    return _name(one, make, note="what was read here was changed later; read it again where it matters")


def _again(one: _Shown, make: Drafts) -> list[Draft]:
    newer = next(other for other in reversed(one.newer) if _same_call(one, other) and other.seen is not None)
    assert newer.seen is not None
    return _name(one, make, note="the same was read again later", newer=newer.seen.artifact_ref)


def _summary(one: _Shown, make: Drafts) -> list[Draft]:
    kept = {name: _cut(value) for name, value in one.trace.trusted.items() if name != "rows"}
    rows = one.trace.trusted.get("rows")
    if isinstance(rows, list) and rows:
        kept["first_row"] = _cut(rows[0])
    return _made(one, make, {**kept, "summary_of": f"what was read at turn {one.trace.turn}"})


def _cut(value: JsonValue) -> JsonValue:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]} [...]"


def _made(one: _Shown, make: Drafts, body: dict[str, JsonValue]) -> list[Draft]:
    first, seen = one.trace.drafts[0].item, one.trace.seen
    assert seen is not None
    text = json.dumps(body, ensure_ascii=False)
    return make.counted(
        [
            make.text(
                first.item_id,
                Kind.TOOL,
                seen.artifact_ref,
                Trust.SYSTEM,
                text,
                at=seen.at,
                turn=one.trace.turn,
                derived_from=(seen.ref,),
            )
        ]
    )


_RULES: tuple[tuple[Callable[[_Shown], bool], MaskReason | None, _Form], ...] = (
    (_is_latest, None, _whole),
    (_is_active_failure, None, _whole),
    (_was_changed, MaskReason.CHANGED_SINCE, _changed),
    (_was_repeated, MaskReason.REPEATED, _again),
    (_is_empty, MaskReason.EMPTY, _name),
)
