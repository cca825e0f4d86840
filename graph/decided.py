"""Which calls somebody is asked about, and what became of one that is answered too late or once more (H01, X1)."""

from collections.abc import Iterable
from typing import Protocol

from state.run import Scope
from state.verdict import Accepted, Allowed, Denied, NeedsApproval, Verdict

_SAID = {"approve": "approved", "edit": "edited and approved", "reject": "rejected"}


class Asking(Protocol):
    """What asks a person: a request for approval, or the call that waits for it."""

    @property
    def approver_roles(self) -> tuple[str, ...]: ...


def is_asked(scope: Scope, asking: Asking | None) -> bool:
    """Whether whoever acts may see a call: the owner of its thread every one, an approver those that ask one of his
    roles."""
    if scope.actor.name == scope.principal.name:
        return True
    return asking is not None and not set(scope.actor.roles).isdisjoint(asking.approver_roles)


def already_decided(call_id: str, verdicts: Iterable[Verdict], scope: Scope) -> str | None:
    """The refusal of an answer to a call that is decided; None for a call that no verdict is about.

    `verdicts` are those of the thread's records, and of its open lap as far as it waits for nobody. Of a call about
    which whoever acts was never asked nothing is told: for an approver it is not there.
    """
    own = (verdict for verdict in verdicts if verdict.call_id == call_id and is_asked(scope, _request(verdict)))
    became = next(map(_became, own), None)
    return None if became is None else f"call {call_id[:200]} is already decided: {became}; nothing was changed"


def _request(verdict: Verdict) -> Asking | None:
    return None if isinstance(verdict, Accepted) else verdict.request


def _became(verdict: Verdict) -> str:
    match verdict:
        case Allowed(approval=answer) | Denied(approval=answer) if answer is not None:
            return f"{_SAID[answer.decision]} by {answer.by} at {answer.at:%Y-%m-%d %H:%M:%S} UTC"
        case NeedsApproval():
            return "abandoned by a later question"
        case Allowed() | Denied() | Accepted():
            return f"{verdict.verdict} by rule {verdict.rule}"
