"""What holds a secret, or what looks like one, is neither said nor given to a tool (X7, X8)."""

from collections.abc import Callable

from state.checks.secret import holds_secret
from state.policy import Policy
from state.verdict import ANSWER, Denied
from state.work import Act, Answer, Clarify, Escalate, Form, Plan, Proposal

_SAID = "what is to be said holds a secret, or what looks like one"


def secret_verdict(said: Answer | Clarify | Escalate, masked: Callable[[str], str], policy: Policy) -> Denied | None:
    """Nothing is said that masking would change: a known secret, or what looks like one (X7, X8).

    Code's own closing words are not asked about: they repeat results, which were masked before they were stored.
    """
    if not holds_secret(said.model_dump(mode="json", exclude={"type"}), masked):
        return None
    return _denied(ANSWER, "answer_holds_secret", _SAID, policy)


def masked_verdicts(proposal: Proposal, policy: Policy) -> tuple[Denied, ...]:
    """The verdicts on a proposal that was masked before it was stored: it is not what the model proposed. A search
    asks for what is left of its words."""
    match proposal:
        case Act(calls=calls):
            reason = "the proposal held a secret, or what looks like one, which was masked"
            return tuple(_denied(call.call_id, "secret_in_arguments", reason, policy) for call in calls)
        case Answer() | Clarify() | Escalate():
            return (_denied(ANSWER, "answer_holds_secret", _SAID, policy),)
        case Plan():
            reason = "the plan held a secret, or what looks like one, which was masked"
            return (_denied(Form.PLAN.value, "plan_holds_secret", reason, policy),)
        case _:
            return ()


def _denied(call_id: str, rule: str, reason: str, policy: Policy) -> Denied:
    return Denied(call_id=call_id, rule=rule, reason=reason, policy_version=policy.version)
