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
| share | everything else, the newest first | whole while the share has room, then its summary |

What has no room for that is left out, call and result together, and so is all that is older. A part of the share is the
index of what is left out; the record chain has all of it. A strategy (B3) may allow fewer forms and give
the index another part; the rules before `share` hold under each.

The summary is what code takes out of a result, the same whenever it is made: the fields of the system of record, each
text of them cut, of rows the first. What third parties wrote is left out of it. Where a model summed the result up when
it entered, that stands behind it while there is room, apart and untrusted, and no argument of a call comes from it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from nodes.pack.drafts import Draft, Drafts
from nodes.pack.index import changes_tokens, indexed
from nodes.pack.trail import Trace
from nodes.pack.utility import left_out
from state.context import Dropped, DropReason, Kind, Masked, MaskReason, Trust
from state.contract import Effect
from state.tools import Observation

_TEXT_CHARS = 120  # of one field that a summary keeps
_FAILED = ("error", "unknown")
INDEX_PART = 1 / 3  # of the share, where something is left out


class Compacted(NamedTuple):
    """The trail as it is shown, oldest first; what of it is shown in another form, with the rule; what is not shown;
    and the items, shown or not, that say what is no longer so."""

    drafts: list[Draft]
    masked: tuple[Masked, ...]
    dropped: tuple[Dropped, ...]
    stale: frozenset[str] = frozenset()


_Call = tuple[str, str]  # tool and digest of the arguments: two of one are the same call


@dataclass
class _Newer:
    """What stands behind a trace in its turn, gathered while the traces are gone through from the newest on."""

    again: dict[_Call, str] = field(default_factory=dict)  # the newest result of a call
    brought: set[_Call] = field(default_factory=set)
    changed: set[tuple[str, str]] = field(default_factory=set)

    def add(self, trace: Trace) -> None:
        """The trace that was just gone through."""
        if trace.seen is None:
            return
        call = (trace.seen.tool, trace.seen.arguments_digest)
        self.again.setdefault(call, trace.seen.artifact_ref)
        if trace.outcome not in _FAILED:
            self.brought.add(call)
        if trace.seen.effect is not Effect.READ and trace.outcome != "error":
            self.changed |= trace.subjects


class _Shown(NamedTuple):
    """One trace with its result, among the others of its turn."""

    trace: Trace
    seen: Observation
    newer: _Newer
    latest_lap: int

    @property
    def call(self) -> _Call:
        return self.seen.tool, self.seen.arguments_digest


_Form = Callable[[_Shown, Drafts], list[Draft]]
Forms = tuple[tuple[MaskReason | None, _Form], ...]


def compacted(
    traces: Sequence[Trace],
    make: Drafts,
    share_tokens: int,
    forms: "Forms | None" = None,
    index_part: float = INDEX_PART,
    rules: "Rules | None" = None,
) -> Compacted:
    """Traces, oldest first, as a request shows them. `share_tokens` bounds results that no rule keeps whole, `forms`
    are those that such a result may have, fullest first, and `index_part` of the share lists what is left out: up to
    twice as much where so much was changed, since results expire and what was done does not (C1). `rules` are those
    before `share`."""
    allowed, ruling = FULL_THEN_LESS if forms is None else forms, RULES if rules is None else rules
    trail, out, left = _gone_through(traces, make, share_tokens, allowed, ruling)
    if not out or not index_part:
        return trail
    index_tokens = int(share_tokens * index_part)
    if allowed:
        index_tokens = min(max(index_tokens, changes_tokens(traces, make)), 2 * index_tokens)
        trail, out, left = _gone_through(traces, make, share_tokens - index_tokens, allowed, ruling)
        left += index_tokens
    # What a rule keeps whole may take more than the share: then the index has what is left of it.
    return trail._replace(drafts=[*indexed(out, make, min(index_tokens, left)), *trail.drafts])


def _gone_through(
    traces: Sequence[Trace], make: Drafts, share_tokens: int, forms: Forms, rules: "Rules"
) -> tuple[Compacted, list[Trace], int]:
    """The trail within a share, what of it is left out for want of room alone, both oldest first, and the room that is
    left, below 0 where a rule kept more whole."""
    latest = max((trace.lap for trace in traces if trace.seen is not None), default=-1)
    left, newer, closed = share_tokens, _Newer(), False
    shown: list[list[Draft]] = []
    masked: list[Masked] = []
    out: list[Trace] = []
    missed: list[Trace] = []
    stale: set[str] = set()
    for trace in reversed(traces):
        if trace.seen is None:
            shown.append([*trace.drafts])
            continue
        one = _Shown(trace, trace.seen, newer, latest)
        drafts, reason, kept = _ruled(one, make, left, forms, closed, rules)
        newer.add(trace)
        if reason is MaskReason.CHANGED_SINCE:
            stale |= {draft.item.item_id for draft in trace.drafts}
        tokens = sum(draft.item.token_count for draft in drafts)
        if not kept and (closed or tokens > left or not drafts):
            # The newest come first: what is older than the first that found no room finds none either.
            closed = closed or tokens > left or not drafts
            out.append(trace)
            # What was read again, or is no longer so, is not worth finding again.
            missed += [trace] if reason in (None, MaskReason.SUMMARISED) else []
            continue
        left -= tokens
        shown.append(drafts)
        if reason is not None:
            names = [draft.item.item_id for draft in reversed(trace.drafts)]
            masked += [Masked(item_id=name, original_ref=trace.seen.ref, reason=reason) for name in names]
    dropped = [left_out(draft.item, DropReason.OVER_SHARE) for trace in reversed(out) for draft in trace.drafts]
    drafts = [draft for group in reversed(shown) for draft in group]
    return Compacted(drafts, tuple(reversed(masked)), tuple(dropped), frozenset(stale)), missed[::-1], left


def _ruled(
    one: _Shown, make: Drafts, left: int, forms: Forms, closed: bool, rules: "Rules"
) -> tuple[list[Draft], MaskReason | None, bool]:
    """The form that the first rule gives, without one the fullest that the share has room for, else the last; and
    whether it is shown whatever room is left."""
    for holds, reason, form in rules:
        if holds(one):
            if reason is None:
                return form(one, make), None, True
            return [] if closed else form(one, make), reason, False
    for place, (reason, form) in enumerate(() if closed else forms, start=1):
        drafts = form(one, make)
        if not drafts:
            continue  # there is no such form of this result
        if place == len(forms) or sum(draft.item.token_count for draft in drafts) <= left:
            return drafts, reason, False
    return [], None, False


def _is_latest(one: _Shown) -> bool:
    return one.trace.lap == one.latest_lap


def _is_active_failure(one: _Shown) -> bool:
    return one.trace.outcome in _FAILED and one.call not in one.newer.brought


def _was_changed(one: _Shown) -> bool:
    return one.seen.effect is Effect.READ and not one.newer.changed.isdisjoint(one.trace.subjects)


def _was_repeated(one: _Shown) -> bool:
    return one.seen.effect is Effect.READ and one.call in one.newer.brought


def _is_empty(one: _Shown) -> bool:
    return one.trace.outcome == "empty"


def _whole(one: _Shown, make: Drafts) -> list[Draft]:
    return [*one.trace.drafts]


def _name(one: _Shown, make: Drafts, **more: JsonValue) -> list[Draft]:
    seen = one.seen
    why = {"error": seen.code} if seen.code else {}
    told = {"tool": seen.tool, "outcome": seen.outcome, **why, "artifact_ref": seen.artifact_ref, **more}
    return _made(one, make, told)


def _changed(one: _Shown, make: Drafts) -> list[Draft]:
    return _name(one, make, note="what was read here was changed later; read it again where it matters")


def _again(one: _Shown, make: Drafts) -> list[Draft]:
    return _name(one, make, note="the same was read again later", newer=one.newer.again[one.call])


def _summary(one: _Shown, make: Drafts) -> list[Draft]:
    kept = {name: _cut(value) for name, value in one.trace.trusted.items() if name != "rows"}
    rows = one.trace.trusted.get("rows")
    if isinstance(rows, list) and rows:
        kept["first_row"] = _cut(rows[0])
    return _made(one, make, {**kept, "summary_of": f"what was read at turn {one.trace.turn}"})


def _told(one: _Shown, make: Drafts) -> list[Draft]:
    """The summary by code, and behind it what a model said of the whole when it entered; none without that."""
    if not one.trace.told:
        return []
    first, seen = one.trace.drafts[0].item, one.seen
    said = make.text(
        f"{first.item_id}-summary",
        Kind.TOOL,
        f"summary://{seen.artifact_ref.partition('://')[2]}",
        Trust.UNTRUSTED,
        one.trace.told,
        at=seen.at,
        turn=one.trace.turn,
        derived_from=(seen.ref,),
    )
    return [*_summary(one, make), *make.counted([said])]


def _cut(value: JsonValue) -> JsonValue:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]} [...]"


def _made(one: _Shown, make: Drafts, body: dict[str, JsonValue]) -> list[Draft]:
    first, seen = one.trace.drafts[0].item, one.seen
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


Rules = tuple[tuple[Callable[[_Shown], bool], MaskReason | None, _Form], ...]
RULES: Rules = (
    (_is_latest, None, _whole),
    (_is_active_failure, None, _whole),
    (_was_changed, MaskReason.CHANGED_SINCE, _changed),
    (_was_repeated, MaskReason.REPEATED, _again),
    (_is_empty, MaskReason.EMPTY, _name),
)

WHOLE_ONLY: Forms = ((None, _whole),)
FULL_THEN_LESS: Forms = (*WHOLE_ONLY, (MaskReason.SUMMARISED, _told), (MaskReason.SUMMARISED, _summary))
