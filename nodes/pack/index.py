"""The index of results that a request has no room for (C7): what each was about and where all of it lies.

One block for each tool, one row for each result: the fields of the system of record by which the result says what it
identifies, how it ended where that was not well, and its public name, by which it can be read again. Effects come
before reads, since what was changed must be known to the end; of each the newest. A row shows values as the result
itself would, under the tool's contract, so that a value is worth no more here than there (X4).
"""

import json
from collections.abc import Sequence
from itertools import groupby

from pydantic import JsonValue

from nodes.pack.drafts import Draft, Drafts
from nodes.pack.trail import Trace
from state.context import Kind, Trust
from state.contract import Effect

_AROUND = 96  # tokens of a block that are not its rows, rather too many: what is changed is to find room


def indexed(out: Sequence[Trace], make: Drafts, most_tokens: int) -> list[Draft]:
    """The blocks of an index of these traces, which stand oldest first, within so many tokens; counted."""
    rows = [_row(trace) for trace in out]
    costs = [cost + 1 for cost in make.tokens([json.dumps(row) for row in rows])]
    left, kept, tools = most_tokens, list[int](), set[str]()
    for place in sorted(range(len(out)), key=lambda place: (_reads(out[place]), -place)):
        left -= costs[place] + (_AROUND if _tool(out[place]) not in tools else 0)
        if left < 0:
            break
        kept.append(place)
        tools.add(_tool(out[place]))
    while kept:
        made = make.counted(_blocks([out[place] for place in sorted(kept)], make))
        if sum(draft.item.token_count for draft in made) <= most_tokens:
            return made
        kept.pop()
    return []


def changes_tokens(traces: Sequence[Trace], make: Drafts) -> int:
    """What an index of every effect among these traces takes, a little more rather than less."""
    changes = [trace for trace in traces if trace.seen is not None and not _reads(trace)]
    rows = make.tokens([json.dumps(_row(trace)) for trace in changes])
    return sum(rows) + len(rows) + _AROUND * len({_tool(trace) for trace in changes})


def _blocks(traces: Sequence[Trace], make: Drafts) -> list[Draft]:
    blocks = []
    for tool, group in groupby(sorted(traces, key=_tool), key=_tool):
        members = list(group)
        # What an index leaves of a list was nobody's choice but ours: `truncated` says so to whoever picks from it.
        body = {"tool": tool, "truncated": True, "rows": [_row(trace) for trace in members]}
        text = json.dumps(body, ensure_ascii=False)
        refs = tuple(trace.seen.ref for trace in members if trace.seen is not None)
        source = f"index://{tool}"
        blocks.append(
            make.text(f"index-{tool}", Kind.TOOL, source, Trust.SYSTEM, text, turn=members[-1].turn, derived_from=refs)
        )
    return blocks


def _row(trace: Trace) -> dict[str, JsonValue]:
    seen = trace.seen
    assert seen is not None
    how = {} if seen.outcome == "ok" else {"outcome": seen.outcome}
    return {**trace.identity, **how, "artifact_ref": seen.artifact_ref}


def _tool(trace: Trace) -> str:
    return "" if trace.seen is None else trace.seen.tool


def _reads(trace: Trace) -> bool:
    return trace.seen is not None and trace.seen.effect is Effect.READ
