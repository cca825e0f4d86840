"""The verdicts on a proposal's calls, from the first judgement to a person's answer (L6, H01-H03).

A call may wait for long, and its siblings wait with it: what was allowed before the last answer came, by a rule or by a
person, is judged once more when it came, beside what became of the others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from nodes.validate.approval import (
    allowed,
    answer_to,
    approval_request,
    asked_again,
    denied,
    not_taken,
    shown_to_person,
)
from nodes.validate.case import Allow, Ask, Case, Deny
from nodes.validate.edit import news, refused, stored
from nodes.validate.lap import Lap
from nodes.validate.rules import judge
from state.checks.quote import unquoted
from state.verdict import Allowed, Approval, ApprovalRequest, Denied, NeedsApproval, Verdict
from state.work import ToolCall

Pause = Callable[[dict[str, JsonValue]], Any]


def first(lap: Lap, call: ToolCall, verdicts: Sequence[Verdict] = ()) -> Verdict:
    """What the rules say of a call that nobody was asked about."""
    version = lap.policy.version
    case = lap.case(call, verdicts)
    if case is None:
        return Denied(call_id=call.call_id, rule="unknown_tool", reason="there is no such tool", policy_version=version)
    rule, finding = judge(case)
    match finding:
        case Allow():
            return allowed(case, rule, lap.clock.now())
        case Deny(reason=reason):
            return Denied(call_id=call.call_id, rule=rule, reason=reason, policy_version=version, trace=case.trace)
        case Ask(reason=reason):
            asked = approval_request(case, reason, lap.clock.now())
            return NeedsApproval(
                call_id=call.call_id, rule=rule, policy_version=version, trace=case.trace, request=asked
            )


def answered(lap: Lap, verdicts: Sequence[Verdict], pause: Pause, put: Callable[[str], str]) -> tuple[Verdict, ...]:
    """All pending calls are judged anew, then asked for together. What is to be asked for other reasons than those
    that were written is written first."""
    calls = {call.call_id: call for call in lap.calls}
    pending = [verdict for verdict in verdicts if isinstance(verdict, NeedsApproval)]
    asked = [(verdict, _case(lap, calls.get(verdict.call_id), verdicts)) for verdict in pending]
    anew = {verdict.call_id: _judged_anew(lap, verdict, case) for verdict, case in asked}
    if any(anew[verdict.call_id] != verdict for verdict in pending):
        return _ended(lap, [anew.get(verdict.call_id, verdict) for verdict in verdicts], calls)
    answers = pause({"approvals": [shown_to_person(verdict, case) for verdict, case in asked if case is not None]})
    if not isinstance(answers, Mapping) or answers.keys().isdisjoint(verdict.call_id for verdict in pending):
        answers = {}  # an answer that names no pending call is an answer to none
    settled = list(verdicts)
    for place, verdict in enumerate(verdicts):
        # In order: what a person makes of one call counts for those behind it.
        case = _case(lap, calls.get(verdict.call_id), settled)
        if isinstance(verdict, NeedsApproval) and case is not None:
            settled[place] = _answered(lap, verdict, case, answers, settled, put)
    return _ended(lap, settled, calls)


def _ended(lap: Lap, verdicts: list[Verdict], calls: Mapping[str, ToolCall]) -> tuple[Verdict, ...]:
    """The verdicts, in which what is allowed is so as things stand, once nothing of the lap waits any more."""
    if not any(isinstance(one, NeedsApproval) for one in verdicts):
        for place, verdict in enumerate(verdicts):
            if isinstance(verdict, Allowed):
                verdicts[place] = _as_things_stand(lap, verdict, calls[verdict.call_id], verdicts)
    return tuple(verdicts)


def _case(lap: Lap, call: ToolCall | None, verdicts: Sequence[Verdict]) -> Case | None:
    return None if call is None else lap.case(call, verdicts)


def _judged_anew(lap: Lap, pending: NeedsApproval, case: Case | None) -> Verdict:
    """Rights, limits and facts may have changed while the call waited; on another branch it may have been done."""
    if (void := _void(lap, pending, case, pending.request, pending.request.digest)) is not None or case is None:
        return void or pending
    rule, finding = judge(case)
    match finding:
        case Deny(reason=reason):
            return denied(pending, rule, reason, lap.policy)
        case Ask(reason=reason) if reason != pending.request.reason:
            return asked_again(pending, rule, reason)
        case _:
            return pending


def _void(
    lap: Lap, given: Allowed | NeedsApproval, case: Case | None, request: ApprovalRequest, bound: str
) -> Denied | None:
    """Why a request for approval holds no more, whatever the rules say; None where it does."""
    approval = given.approval if isinstance(given, Allowed) else None
    if case is None or bound != case.bound:
        return denied(given, "approval_void", "the call is not the one that was asked for", lap.policy, approval)
    if lap.clock.now() >= request.expires_at:
        return denied(given, "approval_expired", "the request for approval has expired", lap.policy, approval)
    return None


def _answered(
    lap: Lap,
    pending: NeedsApproval,
    case: Case,
    answers: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    put: Callable[[str], str],
) -> Verdict:
    now = lap.clock.now()
    answer = answer_to(pending, case, answers, lap.scope, lap.policy, now)
    if isinstance(answer, str):
        return pending.model_copy(update={"note": answer})
    if answer.approval.decision == "reject":
        return denied(pending, "rejected_by_person", "a person rejected the call", lap.policy, answer.approval)
    if answer.arguments is None:
        # What became of the calls before it in this very answer is a reason that nobody was asked about.
        anew = _judged_anew(lap, pending, case)
        return allowed(case, pending.rule, now, answer.approval, pending) if anew == pending else anew
    edited = lap.as_edited(case, answer.arguments, verdicts)
    rule, why = refused(pending, edited)
    if why is not None:
        return pending.model_copy(update={"note": not_taken(why)})
    return allowed(edited, rule, now, answer.approval, pending, stored(case, answer.arguments, put))


def _as_things_stand(lap: Lap, given: Allowed, call: ToolCall, verdicts: Sequence[Verdict]) -> Verdict:
    """What becomes of a call that was allowed a while ago."""
    if given.approval is None or given.request is None:
        return first(lap, call, verdicts)
    return _approved(lap, given, lap.case(call, verdicts), given.approval, given.request)


def _approved(
    lap: Lap,
    given: Allowed,
    case: Case | None,
    approval: Approval,
    request: ApprovalRequest,
) -> Verdict:
    """What a person allowed. An edit stands unless a rule denies it, or there is news; another call is asked for once
    more where the reasons are others. That a sibling which does the same was rejected since is neither."""
    if case is not None and given.edited is not None:
        case = lap.as_edited(case, unquoted(given.edited, lap.body))
    if (void := _void(lap, given, case, request, given.bound)) is not None or case is None:
        return void or given
    rule, finding = judge(case)
    if isinstance(finding, Ask) and given.edited is not None:
        rule, since = news(case, request.reason) or (rule, None)
        finding = Allow() if since is None else Deny(since)
    match finding:
        case Deny(reason=reason):
            return denied(given, rule, reason, lap.policy, approval)
        case Ask(reason=reason) if reason != request.reason:
            waits = NeedsApproval(
                call_id=given.call_id, rule=rule, policy_version=given.policy_version, trace=case.trace, request=request
            )
            return asked_again(waits, rule, reason)
        case _:
            return given.model_copy(update={"at": lap.clock.now()})
