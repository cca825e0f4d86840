"""The task state (S2): what a run is at, canonical and owned by code. Rewritten once per decision, never summarised.

Texts stay outside: objective, constraints, queries and questions are addresses in the artifact store. What the lists
no longer hold stays exact in the record chain.
"""

from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from state.contract import Effect
from state.value import Value
from state.work import DecisionKind, LapOutcome, Status

KEPT = 32  # constraints, rejections, open questions and actions the checkpoint keeps; older ones stay in the chain


class Phase(StrEnum):
    """Where a turn stands, by its last decision."""

    BEGUN = "begun"
    GATHERING = "gathering"
    PLANNING = "planning"
    ACTING = "acting"
    CONCLUDING = "concluding"
    OVER = "over"


class UserTurn(Value):
    """One message of the user: its text lives at `ref`."""

    index: int
    message_id: str
    ref: str
    at: AwareDatetime


class Constraint(Value):
    """A sentence by which the user bounds what may be done, verbatim: a place in a stored turn, end exclusive."""

    turn: int
    ref: str
    start: int
    end: int


class ActionDone(Value):
    """A call that was made or refused. `artifact` names what it brought (`toolrun://…`), the record has the rest."""

    turn: int
    tool: str
    call_id: str
    effect: Effect | None
    outcome: Literal["ok", "empty", "error", "denied", "rejected", "unknown"]
    at: AwareDatetime
    artifact: str | None = None


class Rejection(Value):
    """What was proposed and not taken: a call, an answer or a plan, by which rule, why, and by whom if a person."""

    turn: int
    decision: int
    about: str
    rule: str
    reason: str
    by: str | None = None


class OpenQuestion(Value):
    """What was asked back and not answered yet: the address of the proposal that asks."""

    turn: int
    ref: str


class TurnDone(Value):
    """An earlier turn of this conversation: its number and the record that ended it."""

    index: int
    record: str


class Retrieved(Value):
    """A retrieval already done in this run: the same key is never searched again (L9)."""

    key: str
    snapshot_ref: str


class TaskState(Value):
    """The canonical state of the task. Approvals that wait stand in the verdicts of the open lap, not here: a lap that
    is filed has none."""

    schema_version: Literal[2] = 2
    objective: UserTurn | None = None
    constraints: tuple[Constraint, ...] = ()
    phase: Phase = Phase.BEGUN
    next_index: int = 0
    laps_in_turn: int = 0
    last_kind: DecisionKind | None = None
    last_toolset: str = ""
    last_outcome: LapOutcome | None = None
    steps: tuple[str, ...] = ()
    turns: tuple[TurnDone, ...] = ()
    actions: tuple[ActionDone, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    query_refs: tuple[str, ...] = ()
    # What this turn looked for among its tools; likewise.
    tool_query_refs: tuple[str, ...] = Field(default=(), exclude_if=lambda refs: not refs)
    retrieved: tuple[Retrieved, ...] = ()
    missing: tuple[str, ...] = ()
    denials_in_turn: int = 0
    # By kind and toolset, the prefix of the last request: a break is seen against it (P1). Threads of the releases that
    # had none keep the hash of their state.
    # What is kept of turns that requests no longer show (C5); likewise.
    handover_ref: str | None = Field(default=None, exclude_if=lambda ref: ref is None)
    prefixes: dict[str, str] = Field(default={}, exclude_if=lambda prefixes: not prefixes)
    status: Status | None = None
