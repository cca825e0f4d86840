"""This turn's trail, record by record: what was made of a record is kept, so a lap makes only what is new (C7).

A record never changes, and neither does what a result is shown as: name, fields by who can write them, tokens. So a
lap reads its parent and goes on from there with what earlier laps made; a process that has none reads the whole turn.
"""

from collections.abc import Mapping
from typing import NamedTuple

from nodes.pack.drafts import Drafts
from nodes.pack.trail import Trace, traces_of
from state.checks.keeping import Keeping
from state.contract import ToolContract
from state.ports import Artifacts, DecisionLog
from state.record import DecisionRecord
from state.run import RequestContext, Scope
from state.task import TaskState

_REMEMBERED = 1_024  # records


class _Left(NamedTuple):
    """What one record left, and the record before it."""

    turn: int
    parent: str | None
    traces: tuple[Trace, ...]


_Key = tuple[str, str, str]  # tenant, thread, record


class Trails:
    """The trails of an app's turns."""

    def __init__(self, artifacts: Artifacts, log: DecisionLog, contracts: Mapping[str, ToolContract]) -> None:
        self._artifacts, self._log, self._contracts = artifacts, log, contracts
        self._known: Keeping[_Key, _Left] = Keeping(_REMEMBERED)

    def this_turn(self, drafts: Drafts, scope: Scope, request: RequestContext, task: TaskState) -> list[Trace]:
        """Verdicts and observations of this turn from the record chain, oldest first and counted: every call has one
        result (C7)."""
        found: list[_Left] = []
        at, limit = request.parent, 1
        while at is not None and len(found) < task.laps_in_turn:
            known = self._known.get((scope.tenant, scope.thread, at))
            fresh = [known] if known is not None else self._read(drafts, scope, at, limit)
            found += fresh
            at = fresh[-1].parent
            limit = task.laps_in_turn - len(found)  # where the one before is not known either, none is
        own = [left for left in reversed(found) if left.turn == request.turn_index]
        return [trace for left in own for trace in left.traces]

    def _read(self, drafts: Drafts, scope: Scope, head: str, limit: int) -> list[_Left]:
        """What the newest records left, newest first."""
        records = self._log.chain(scope.tenant, scope.thread, head, limit=limit)
        made = traces_of(drafts, self._artifacts, self._contracts, scope, records)
        left = [_Left(record.turn_index, record.parent, traces) for record, traces in zip(records, made, strict=True)]
        for name, one in zip(_names(head, records), left, strict=True):
            self._known.keep((scope.tenant, scope.thread, name), one, sum(trace.chars for trace in one.traces))
        return left


def _names(head: str, records: tuple[DecisionRecord, ...]) -> list[str]:
    """The hashes of records that stand newest first, each told by the one after it."""
    return [head, *(record.parent for record in records[:-1] if record.parent is not None)]
