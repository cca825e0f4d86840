"""The record chain: one immutable record per decision, its parent named by hash, its content under a seal (L8)."""

import json
from collections.abc import Sequence

from pydantic import AwareDatetime, Field, JsonValue

from state.canonical import digest
from state.contract import Effect
from state.request import Attempt
from state.tools import Observation
from state.value import Value
from state.verdict import Verdict
from state.work import Decision, LapOutcome, Status

_EFFECTS = tuple(f'"effect":"{effect}"'.encode() for effect in Effect if effect is not Effect.READ)


def may_tell_of_effect(body: bytes) -> bool:
    """Whether a record's canonical JSON may tell of an effect: one that does not need not be read for it."""
    return any(told in body for told in _EFFECTS)


class DecisionRecord(Value):
    """What one decision was given, proposed, was allowed, did. Ids, addresses and hashes; bodies live outside.

    `task_hash` is the hash of the task state after this decision: an edited state does not match it. `seal` is a keyed
    one over all the rest: a hash can be made anew by anyone, a seal by us alone. The hash covers it, so that it cannot
    be taken off unnoticed. Records of the first releases have none, and keep their hashes: None is left out.
    """

    parent: str | None
    tenant: str
    thread: str
    principal: str
    request_id: str
    index: int
    at: AwareDatetime
    turn_ref: str
    turn_index: int
    decision: Decision | None
    manifest_ref: str | None = None
    proposal_ref: str | None = None
    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    observations: tuple[Observation, ...] = ()
    outcome: LapOutcome
    status: Status | None = None
    task_hash: str
    edited: bool = False
    seal: str | None = Field(default=None, exclude_if=lambda seal: seal is None)

    def hash(self) -> str:
        """The record's name: sha256 of its canonical JSON."""
        return digest(self)


def named(head: str | None, past: Sequence[DecisionRecord]) -> tuple[tuple[str, DecisionRecord], ...]:
    """Records, newest first from `head` on, each with its name: what the one after it calls it.

    A later release may know more fields, so a name is never worked out from a record that was read.
    """
    names = (head, *(record.parent for record in past))
    return tuple((name, record) for name, record in zip(names, past, strict=False) if name is not None)


def under_seal(filed: bytes) -> dict[str, JsonValue]:
    """What the seal of a record is over: all that its bytes say but the seal itself.

    It is the bytes that count: a later release may know more fields. No other seal is over an object of this form.
    Raises ValueError for bytes that are no JSON object.
    """
    content = json.loads(filed)
    if not isinstance(content, dict):
        raise ValueError("the bytes of a record are a JSON object")
    return {"record": {name: value for name, value in content.items() if name != "seal"}}
