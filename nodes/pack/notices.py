"""Notices (S3): the queue of events, drained into the request at one place, before the decision.

What is told is looked at again first: an event about something that is no longer so is left out with its reason, and of
several about the same thing the newest tells. What a request tells and leaves out goes to log, which settles it once
the request was sent; until then it stays in the queue. A plan lap is told nothing, since what an event is about is the
word of whoever named it; neither is one that asks no model.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from nodes.pack.drafts import Draft, Drafts
from state.context import Dropped, DropReason, Kind, Trust
from state.domain import StillSo
from state.events import Queued, Settled
from state.policy import Policy
from state.ports import EventQueue
from state.run import Scope
from state.work import Decision, DecisionKind

_MOST_TOLD = 8  # in one request: a notice is rare
_MOST_READ = 64


class Notices(NamedTuple):
    """What a request tells, oldest first; what it leaves out; and both as log settles them."""

    drafts: tuple[Draft, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    settled: tuple[Settled, ...] = ()


def drained(
    drafts: Drafts,
    queue: EventQueue,
    still_so: Mapping[str, StillSo],
    scope: Scope,
    policy: Policy,
    decision: Decision,
) -> Notices:
    """The events that are due on this thread. What has no room waits for the next request."""
    if not decision.admits_untrusted or decision.kind is DecisionKind.CLOSE:
        return Notices()
    pending = queue.pending(scope, _MOST_READ)
    newest = {(one.event.kind, one.event.about): one.event_id for one in pending}
    told: list[Draft] = []
    dropped: list[Dropped] = []
    settled: list[Settled] = []
    for one in pending:
        reason = _left_out(one, newest, still_so, scope, policy, drafts)
        if reason is not None:
            dropped.append(Dropped(item_id=_name(one), kind=Kind.TASK_STATE, source=one.source, reason=reason))
        elif len(told) < _MOST_TOLD:
            told.append(_notice(drafts, one))
        else:
            continue
        settled.append(Settled(event_id=one.event_id, dropped=reason))
    return Notices(tuple(drafts.counted(told)), tuple(dropped), tuple(settled))


def _left_out(
    one: Queued,
    newest: Mapping[tuple[str, str], int],
    still_so: Mapping[str, StillSo],
    scope: Scope,
    policy: Policy,
    drafts: Drafts,
) -> DropReason | None:
    event = one.event
    if event.at + timedelta(seconds=policy.event_ttl_s) <= drafts.now:
        return DropReason.EXPIRED
    if newest[event.kind, event.about] != one.event_id:
        return DropReason.TOLD_BY_NEWER
    look = still_so.get(event.kind)
    try:
        holds = look is not None and look(scope, event, drafts.now)
    except Exception:  # noqa: BLE001 - it is the domain's code on anybody's words: without a yes it is a no
        holds = False
    return None if holds else DropReason.NO_LONGER_SO


def _notice(drafts: Drafts, one: Queued) -> Draft:
    event = one.event
    told = {"event": event.kind, "about": event.about, "at": event.at.isoformat()}
    text = json.dumps(told, ensure_ascii=False)
    return drafts.text(_name(one), Kind.TASK_STATE, one.source, Trust.UNTRUSTED, text, at=event.at)


def _name(one: Queued) -> str:
    return f"event-{one.event_id}"
