"""What became of a call that somebody answers too late or once more: by whom it was decided, and when (H01)."""

from collections.abc import Iterable

from state.verdict import Accepted, Allowed, Denied, NeedsApproval, Verdict

_SAID = {"approve": "approved", "edit": "edited and approved", "reject": "rejected"}


def already_decided(call_id: str, verdicts: Iterable[Verdict]) -> str | None:
    """The refusal of an answer to a call that is decided; None for a call that no verdict is about.

    `verdicts` are those of the thread's records, and of its open lap as far as it waits for nobody.
    """
    became = next((_became(verdict) for verdict in verdicts if verdict.call_id == call_id), None)
    return None if became is None else f"call {call_id[:200]} is already decided: {became}; nothing was changed"


def _became(verdict: Verdict) -> str:
    match verdict:
        case Allowed(approval=answer) | Denied(approval=answer) if answer is not None:
            return f"{_SAID[answer.decision]} by {answer.by} at {answer.at:%Y-%m-%d %H:%M:%S} UTC"
        case NeedsApproval():
            return "abandoned by a later question"
        case Allowed() | Denied() | Accepted():
            return f"{verdict.verdict} by rule {verdict.rule}"
