"""What code says of a proposal: one verdict per call. The seal of the lap holds them (graph.lap_seal)."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue, TypeAdapter

from state.labels import Traced
from state.value import Value

ANSWER = "answer"  # the call id that stands for a proposal's answer


Word = Literal["approve", "edit", "reject"]
# Records of the releases before keep their hashes: a trace that is not there is left out.
Trace = Annotated[tuple[Traced, ...], Field(default=(), exclude_if=lambda trace: not trace)]


class ApprovalRequest(Value):
    """What a person is asked. `digest` binds bound arguments, tool definition, policy version and thread.

    `approver_roles`, `self_approval` and `decisions` are the terms as they were asked, and as the answer is checked.
    """

    approval_id: str
    requested_at: AwareDatetime
    expires_at: AwareDatetime
    digest: str
    approver_roles: tuple[str, ...]
    self_approval: bool = False
    decisions: tuple[Word, ...] = ("approve", "edit", "reject")
    reason: str


class Approval(Value):
    """A person's answer to an ApprovalRequest."""

    approval_id: str
    decision: Word
    by: str
    at: AwareDatetime


class Allowed(Value):
    """The call may run. `bound` names exactly this call (state.checks.binding); the effect happens once per `bound`.
    `at` is when it was judged: what was true then may not be so for ever.

    `trace` says where each argument came from. `opened_by` is the record of the plan lap that opened the effect,
    `slot` which of its steps for this tool, from 0: the ledger lets each step be spent once, on whichever branch. None
    where a person approved one more. `edited` are the arguments as a person changed them, those that were left as they
    were stored as in the proposal; where it is None the proposal's hold.
    """

    verdict: Literal["allowed"] = "allowed"
    call_id: str
    rule: str
    policy_version: str
    bound: str
    at: AwareDatetime | None = Field(default=None, exclude_if=lambda at: at is None)
    trace: Trace = ()
    opened_by: str | None = None
    slot: int | None = None
    edited: dict[str, JsonValue] | None = None
    approval: Approval | None = None
    request: ApprovalRequest | None = None


class Accepted(Value):
    """The proposal is not a call and may stand: an answer whose sources resolve, a plan."""

    verdict: Literal["accepted"] = "accepted"
    call_id: str
    rule: str
    policy_version: str


class Denied(Value):
    """The call may not run. Rule and reason are ours and repeat no value of the call (M6)."""

    verdict: Literal["denied"] = "denied"
    call_id: str
    rule: str
    reason: str
    policy_version: str
    trace: Trace = ()
    approval: Approval | None = None
    request: ApprovalRequest | None = None


class NeedsApproval(Value):
    """The call waits for a person. `note` says why the last answer was not taken."""

    verdict: Literal["needs_approval"] = "needs_approval"
    call_id: str
    rule: str
    policy_version: str
    trace: Trace = ()
    request: ApprovalRequest
    note: str = ""


Verdict = Annotated[Allowed | Accepted | Denied | NeedsApproval, Field(discriminator="verdict")]
VERDICTS: TypeAdapter[tuple[Verdict, ...]] = TypeAdapter(tuple[Verdict, ...])
