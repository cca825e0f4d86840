"""The two-step approval: a request that is stored first, then asked; answers by call id and approval id (H01-H03)."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple, get_args

from pydantic import JsonValue

from nodes.validate.case import Case
from state.canonical import canonical_json, digest
from state.checks.depth import not_carried
from state.checks.quote import quoted
from state.contract import Effect
from state.policy import Policy
from state.run import Scope
from state.verdict import Allowed, Approval, ApprovalRequest, Denied, NeedsApproval, Word

_SHAPE = (
    "answer {call_id: {'approval_id': ..., 'decision': 'approve' or 'reject'}}, or with 'decision': 'edit' and "
    "'arguments': {all of the call's}"
)


class Answered(NamedTuple):
    """A person's answer that counts; `arguments` are those of an edit."""

    approval: Approval
    arguments: dict[str, JsonValue] | None = None


def approval_request(case: Case, reason: str, now: datetime) -> ApprovalRequest:
    """The request for approval of a bound call, on the terms of its contract, else of the policy. Its id is derived:
    asking twice for one call and one reason asks one thing."""
    policy, approvers = case.policy, case.contract.approvers
    own = approvers.self_approval
    return ApprovalRequest(
        approval_id=_approval_id(case.bound, reason),
        requested_at=now,
        expires_at=now + timedelta(seconds=policy.approval_ttl_s),
        digest=case.bound,
        approver_roles=policy.approver_roles if approvers.roles is None else approvers.roles,
        self_approval=policy.self_approval if own is None else own,
        decisions=approvers.decisions,
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
    """What the person sees: the call, with the values that the tool takes where none is given, where its arguments came
    from, its effect, and who may say what until when."""
    request = pending.request
    return {
        "call_id": pending.call_id,
        "approval_id": request.approval_id,
        "tool": case.contract.name,
        "arguments": case.taken_as,
        "origins": {one.argument: list(one.item_ids) for one in case.trace},
        "trace": [one.model_dump(mode="json") for one in case.trace],
        "effect": case.contract.effect.value,
        "reversible": case.contract.reversible,
        "reason": request.reason,
        "rule": pending.rule,
        "decisions": list(request.decisions),
        "approver_roles": list(request.approver_roles),
        "self_approval": request.self_approval,
        "expires_at": request.expires_at.isoformat(),
        "note": pending.note,
    }


def answer_to(
    pending: NeedsApproval, case: Case, answers: Mapping[str, Any], scope: Scope, policy: Policy, now: datetime
) -> Answered | str:
    """The person's answer to one pending call, or the reason why there is none that counts.

    A valid answer is `{call_id: {"approval_id": ..., "decision": "approve" | "reject"}}`, or an edit with all the
    `arguments` as they are to be, from someone who may; anything else leaves the call pending (H03). An edit may name
    the call's own `tool`, and no other.
    """
    if answers and pending.call_id not in answers:
        return pending.note  # another call of the same proposal was answered
    given = answers.get(pending.call_id)
    if not isinstance(given, Mapping) or not _has_shape(given):
        return not_taken(_SHAPE)
    request = pending.request
    if given["approval_id"] != request.approval_id:
        return not_taken("the answer names another approval")
    own = scope.actor.name == scope.principal.name
    if not set(scope.actor.roles) & set(request.approver_roles) or (own and not request.self_approval):
        return not_taken("this principal may not approve the call")
    if given["decision"] not in request.decisions:
        return not_taken(f"for this tool only {' or '.join(request.decisions) or 'waiting'} is allowed")
    approval = Approval(approval_id=request.approval_id, decision=given["decision"], by=scope.actor.name, at=now)
    if approval.decision != "edit":
        return Answered(approval)
    if given.get("tool", case.call.tool) != case.call.tool:
        return not_taken("an edit keeps the tool; reject and ask for the other one")
    arguments = _plain(given["arguments"], policy.max_input_chars)
    return arguments if isinstance(arguments, str) else Answered(approval, arguments)


def allowed(
    case: Case,
    rule: str,
    at: datetime,
    approval: Approval | None = None,
    asked: NeedsApproval | None = None,
    edited: dict[str, JsonValue] | None = None,
) -> Allowed:
    """The bound permission of a call: by a rule alone, or by the approval of what was asked for, perhaps as edited."""
    return Allowed(
        call_id=case.call.call_id,
        rule=rule,
        policy_version=case.policy.version,
        bound=case.bound,
        at=at,
        trace=case.trace,
        opened_by=case.opened.by if case.slot is not None or not case.by_words else None,
        slot=None if case.contract.effect is Effect.READ else case.slot,
        edited=edited,
        approval=approval,
        request=asked.request if asked else None,
    )


def denied(
    asked: NeedsApproval | Allowed, rule: str, reason: str, policy: Policy, approval: Approval | None = None
) -> Denied:
    """The refusal of a call that was asked for."""
    return Denied(
        call_id=asked.call_id,
        rule=rule,
        reason=reason,
        policy_version=policy.version,
        trace=asked.trace,
        approval=approval,
        request=asked.request,
    )


def not_taken(why: str) -> str:
    """The note on a call whose answer was not taken."""
    return f"invalid decision: {why}; the call is still pending"


def _has_shape(given: Mapping[Any, Any]) -> bool:
    if given.get("decision") == "edit":
        edit = {"approval_id", "decision", "arguments"}
        return edit <= given.keys() <= edit | {"tool"} and isinstance(given["arguments"], Mapping)
    return given.keys() == {"approval_id", "decision"} and given["decision"] in get_args(Word)


def _plain(given: Mapping[Any, Any], longest: int) -> dict[str, JsonValue] | str:
    """An edit's arguments as plain JSON, or why they are not taken."""
    if why := not_carried(given):
        return not_taken(f"the arguments {why}")
    written = canonical_json(dict(given))
    plain: dict[str, JsonValue] = json.loads(written)
    if len(written) > longest:
        return not_taken(f"got arguments of {len(written)} bytes, allowed are {longest}")
    try:
        # Only our own code makes references: one that is typed would read a body that nobody showed.
        return quoted(plain, {})
    except ValueError as error:
        return not_taken(str(error))
