"""What holds a secret, or what looks like one, is neither said nor given to a tool (X7, X8)."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from state.policy import Policy
from state.verdict import ANSWER, Denied
from state.work import Answer, Clarify, Escalate


def holds_secret(value: JsonValue, masked: Callable[[str], str]) -> bool:
    """Whether masking would change a text in it: a known secret, or what looks like one, names of fields included."""
    match value:
        case str():
            return masked(value) != value
        case Mapping():
            return any(holds_secret(each, masked) for pair in value.items() for each in pair)
        case list():
            return any(holds_secret(each, masked) for each in value)
        case _:
            return False


def secret_verdict(said: Answer | Clarify | Escalate, masked: Callable[[str], str], policy: Policy) -> Denied | None:
    """Nothing is said that masking would change: a known secret, or what looks like one (X7, X8).

    Code's own closing words are not asked about: they repeat results, which were masked before they were stored.
    """
    if not holds_secret(said.model_dump(mode="json", exclude={"type", "citations"}), masked):
        return None
    reason = "what is to be said holds a secret, or what looks like one"
    return Denied(call_id=ANSWER, rule="answer_holds_secret", reason=reason, policy_version=policy.version)
