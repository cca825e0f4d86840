"""Recursive summary, for comparison only: what went out of the window is told in a text that is summarised again and
again. No model is called: a summary keeps lines whole, and is better than most would be, as it is told which lines
matter; the others go, the oldest first, when there is no room."""

import json
from collections.abc import Callable, Sequence

from nodes.pack.compact import WHOLE_ONLY, Compacted, compacted
from nodes.pack.drafts import Drafts
from nodes.pack.strategy import Utility
from nodes.pack.trail import Trace
from state.context import Kind, Trust
from state.contract import Effect
from state.policy import Policy

_LINE_CHARS = 160
_SUMMARY_PART = 1 / 4  # of the trail's share
_CHARS_PER_TOKEN = 3


class RecursiveSummary(Utility):
    """The newest results whole, all before them as one running summary."""

    def trail(self, traces: Sequence[Trace], make: Drafts, budget_tokens: int, policy: Policy) -> Compacted:
        """Newest whole; the summary of the others stands before them."""
        share = int(budget_tokens * policy.observation_share)
        summary_tokens = int(share * _SUMMARY_PART)
        shown = compacted(traces, make, share - summary_tokens, WHOLE_ONLY, index_part=0)
        out = {one.item_id for one in shown.dropped}
        gone = [trace for trace in traces if trace.seen is not None and trace.drafts[0].item.item_id in out]
        if not gone:
            return shown
        lines: list[str] = []
        for trace in gone:
            lines = retold([*lines, _line(trace)], summary_tokens * _CHARS_PER_TOKEN, _matters)
        text = "\n".join(lines)
        told = make.text("summary", Kind.TASK_STATE, "answer://summary", Trust.UNTRUSTED, text)
        return shown._replace(drafts=[*make.counted([told]), *shown.drafts])


def retold(lines: Sequence[str], most_chars: int, matters: Callable[[str], bool]) -> list[str]:
    """A summary of lines: those that matter before the others, of each the newest, in their order."""
    kept, left = set(), most_chars
    for place in sorted(range(len(lines)), key=lambda place: (not matters(lines[place]), -place)):
        left -= len(lines[place]) + 1
        if left < 0:
            break
        kept.add(place)
    return [line for place, line in enumerate(lines) if place in kept]


def _matters(line: str) -> bool:
    return '"changed": true' in line


def _line(trace: Trace) -> str:
    changed = trace.seen is not None and trace.seen.effect is not Effect.READ
    fields = {name: value for name, value in trace.trusted.items() if name != "artifact_ref"}
    return json.dumps({**({"changed": True} if changed else {}), **fields}, ensure_ascii=False)[:_LINE_CHARS]
