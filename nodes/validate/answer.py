"""What code says of an answer and of a plan: sources resolve, steps are ours to open."""

from collections.abc import Mapping, Sequence

from state.context import ContextItem, Kind
from state.contract import ToolContract
from state.policy import Policy
from state.render import scheme
from state.run import Scope
from state.verdict import ANSWER, Accepted, Denied
from state.work import Answer, Decision, DecisionKind, Form, Plan

_CITABLE = (Kind.EVIDENCE, Kind.TOOL, Kind.MEMORY, Kind.TASK_STATE)
# The values of the policy record are given beside the instructions, but a system of record owns them, as it does facts.
_OWNED = "value"
# What was said, by a model too, what is to be decided and what could be called may be named, but proves nothing.
_NO_EVIDENCE = ("turn", "answer", "summary", "decision", "capability", "tool", "form")


def answer_verdict(
    answer: Answer, items: Sequence[ContextItem], decision: Decision, policy: Policy
) -> Accepted | Denied:
    """Citations resolve to items of the manifest, and there are as many as the decision asks for (L6).
    Of a conflict that is shown, an answer cites every side or the conflict itself, or no side (S11)."""
    sources = {item.source for item in items if item.kind in _CITABLE or scheme(item.source) == _OWNED}
    unknown = [citation.source for citation in answer.citations if citation.source not in sources]
    if unknown:
        return _denied(ANSWER, "citation_unresolved", "the answer cites a source that was not in the request", policy)
    cited = {citation.source for citation in answer.citations}
    for item in items:
        if cited & set(item.sides) and not (item.source in cited or cited >= set(item.sides)):
            reason = "sources in the request disagree, and the answer cites one side alone; cite every side, or ask"
            return _denied(ANSWER, "conflict_one_sided", reason, policy)
    evidence = {citation.source for citation in answer.citations if scheme(citation.source) not in _NO_EVIDENCE}
    if len(evidence) < decision.min_citations:
        reason = f"the answer cites {len(evidence)} sources of evidence and needs {decision.min_citations}"
        return _denied(ANSWER, "citation_missing", reason, policy)
    return Accepted(call_id=ANSWER, rule="citations_resolve", policy_version=policy.version)


def plan_verdict(
    plan: Plan,
    decision: Decision,
    open_steps: Sequence[str],
    contracts: Mapping[str, ToolContract],
    scope: Scope,
    policy: Policy,
) -> Accepted | Denied:
    """Steps open effects only in a plan lap, and only tools of the principal's roles (X3).

    Proposed anywhere else, a plan just asks for a plan lap: its steps count for nothing.
    """
    call_id = Form.PLAN.value
    if decision.kind is not DecisionKind.PLAN:
        if open_steps:
            return _denied(call_id, "plan_still_open", "the plan of this turn still has steps to take", policy)
        return Accepted(call_id=call_id, rule="plan_requested", policy_version=policy.version)
    if not plan.steps:
        return _denied(call_id, "plan_without_steps", "the plan names no step", policy)
    for step in plan.steps:
        contract = contracts.get(step)
        if contract is None or not set(contract.roles) & set(scope.principal.roles):
            return _denied(call_id, "step_not_available", "a step is none of the capabilities shown", policy)
    return Accepted(call_id=call_id, rule="plan_opens", policy_version=policy.version)


def _denied(call_id: str, rule: str, reason: str, policy: Policy) -> Denied:
    return Denied(call_id=call_id, rule=rule, reason=reason, policy_version=policy.version)
