"""The two-step approval: a request that is stored first, then asked; answers by call id and approval id (H01-H03)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import JsonValue

from nodes.validate.case import Case
from state.canonical import digest
from state.checks.origin import origin
from state.policy import Policy
from state.run import Scope
from state.verdict import Approval, ApprovalRequest, NeedsApproval


def approval_request(bound: str, reason: str, policy: Policy, now: datetime) -> ApprovalRequest:
    """The request for approval of a bound call. Its id is derived: asking twice for one call and one reason asks one
    thing."""
    return ApprovalRequest(
        approval_id=_approval_id(bound, reason),
        requested_at=now,
        expires_at=now + timedelta(seconds=policy.approval_ttl_s),
        digest=bound,
        approver_roles=policy.approver_roles,
        reason=reason,
    )


def asked_again(pending: NeedsApproval, rule: str, reason: str) -> NeedsApproval:
    """The same request for other reasons: an answer to the one before does not fit it, its time stays."""
    request = pending.request.model_copy(
        update={"approval_id": _approval_id(pending.request.digest, reason), "reason": reason}
    )
    note = "the reasons for asking have changed since; the call is still pending"
    return pending.model_copy(update={"rule": rule, "request": request, "note": note})


def _approval_id(bound: str, reason: str) -> str:
    return f"apr-{digest({'bound': bound, 'reason': reason})[:16]}"


def shown_to_person(pending: NeedsApproval, case: Case) -> dict[str, JsonValue]:
    """What the person sees: the call, where its arguments came from, its effect, and how long it can be answered."""
    return {
        "call_id": pending.call_id,
        "approval_id": pending.request.approval_id,
        "tool": case.contract.name,
        "arguments": case.arguments,
        "origins": {name: list(origin(value, case.shown).item_ids) for name, value in case.arguments.items()},
        "effect": case.contract.effect.value,
        "reversible": case.contract.reversible,
        "reason": pending.request.reason,
        "rule": pending.rule,
        "expires_at": pending.request.expires_at.isoformat(),
        "note": pending.note,
    }


def answer_to(
    pending: NeedsApproval, answers: Mapping[str, Any], scope: Scope, policy: Policy, now: datetime
) -> Approval | str:
    """The person's answer to one pending call, or the reason why there is none that counts.

    A valid answer is `{call_id: {"approval_id": ..., "decision": "approve" | "reject"}}` from someone who may
    approve; anything else leaves the call pending (H03).
    """
    if answers and pending.call_id not in answers:
        return pending.note  # another call of the same proposal was answered
    given = answers.get(pending.call_id)
    if not isinstance(given, Mapping) or given.get("decision") not in ("approve", "reject") or len(given) != 2:
        return (
            "invalid decision: answer {call_id: {'approval_id': ..., 'decision': 'approve' or 'reject'}}; "
            "the call is still pending"
        )
    if given.get("approval_id") != pending.request.approval_id:
        return "invalid decision: the answer names another approval; the call is still pending"
    own = scope.actor.name == scope.principal.name
    if not set(scope.actor.roles) & set(pending.request.approver_roles) or (own and not policy.self_approval):
        return "invalid decision: this principal may not approve the call; the call is still pending"
    return Approval(approval_id=pending.request.approval_id, decision=given["decision"], by=scope.actor.name, at=now)
