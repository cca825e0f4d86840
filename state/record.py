"""The record chain: one immutable record per decision, its parent named by hash (L8)."""

from pydantic import AwareDatetime

from state.canonical import digest
from state.request import Attempt
from state.tools import Observation
from state.value import Value
from state.verdict import Verdict
from state.work import Decision, LapOutcome, Status


class DecisionRecord(Value):
    """What one decision was given, proposed, was allowed, did. Ids, addresses and hashes; bodies live outside.

    `task_hash` is the hash of the task state after this decision: an edited state does not match it.
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

    def hash(self) -> str:
        """The record's name: sha256 of its canonical JSON."""
        return digest(self)
