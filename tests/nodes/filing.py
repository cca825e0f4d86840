"""The log node, and laps for it to file: as the nodes before it would have left them."""

from typing import Any

from nodes.log import Reads, Writes, make_log
from state.context import Packed
from state.policy import Policy
from state.record import DecisionRecord
from state.task import TaskState
from state.verdict import Accepted, Allowed, Approval, ApprovalRequest, Denied, NeedsApproval
from state.work import DecisionKind, Proposal
from tests.desk import POLICY, SCOPE
from tests.fakes import NOW
from tests.nodes.parts import QUESTION, Parts, act, attempts, decision, observation

CLEARED = ("request", "decision", "candidates", "manifest", "proposal", "attempts", "verdicts", "observations")
PROPOSED = attempts("proposal")
PACKED = Packed(ref="art-m")
ASKED = ApprovalRequest(
    approval_id="apr-1", requested_at=NOW, expires_at=NOW, digest="d", approver_roles=("lead",), reason="r"
)
ALLOWED = Allowed(call_id="c1", rule="r", policy_version="p", bound="b")
ACCEPTED = Accepted(call_id="answer", rule="r", policy_version="p")
DENIED = Denied(call_id="c1", rule="over_limit", reason="r", policy_version="p")
REJECTED = DENIED.model_copy(
    update={
        "rule": "rejected_by_person",
        "approval": Approval(approval_id="apr-1", decision="reject", by="leo@t1", at=NOW),
        "request": ASKED,
    }
)
PENDING = NeedsApproval(call_id="c1", rule="r", policy_version="p", request=ASKED)
SEEN = observation("c1", "lookup")
CALL = act(("c1", "lookup", {"order": "A1"}))
TWO = act(("c1", "lookup", {"order": "A1"}), ("c2", "refund", {"order": "A1", "amount": 5}))


def lap(parts: Parts, proposal: Proposal | None = None, task: TaskState | None = None, **reads: Any) -> Reads:
    """What log reads of a lap."""
    request = reads.get("request", parts.request())
    given = {
        "messages": [{"type": "human", "content": QUESTION, "id": request.message_id}],
        "request": request,
        "task": task or parts.task(),
        "decision": decision(),
        "manifest": PACKED,
        "attempts": PROPOSED,
        "proposal": parts.proposal(proposal) if proposal else None,
        **reads,
    }
    return Reads(**given)


def filed(parts: Parts, reads: Reads, policy: Policy = POLICY) -> Writes:
    """What log writes for a lap."""
    node = make_log(artifacts=parts.artifacts, log=parts.log, events=parts.events, seal=parts.seal, policies=[policy])
    wrote = node.run(reads, SCOPE)
    assert isinstance(wrote, Writes)
    return wrote


def logged(parts: Parts, *lap_of: Any, policy: Policy = POLICY, **reads: Any) -> Writes:
    """What log writes for a lap of a proposal and a task."""
    return filed(parts, lap(parts, *lap_of, **reads), policy)


def record(parts: Parts, wrote: Writes) -> DecisionRecord:
    return parts.log.get("t1", "T", wrote.head)


def kind(name: str) -> Any:
    return decision(kind=DecisionKind(name))


def seen(outcome: str) -> Any:
    return (SEEN.model_copy(update={"outcome": outcome}),)
