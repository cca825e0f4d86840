"""Whether a decision's model is asked once more, how, and after how long: bounded, one change of mode at most."""

from collections.abc import Sequence
from typing import NamedTuple

from state.asking import CORRECTABLE, CallTerms
from state.request import Attempt, Mode, ModelError

# A reply that has not the form asked for; another mode may bring it. A shorter one it does not bring.
_FORM_FAULTS = CORRECTABLE - {"truncated"}
# Another mode and another working set are not more of the same, and have bounds of their own.
_NOT_COUNTED = ("unsupported", "context_too_long")
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0


class Again(NamedTuple):
    """The next attempt: its mode, and how long to wait before it, in seconds."""

    mode: Mode
    after_s: float


def first_mode(terms: CallTerms, before: Sequence[Attempt]) -> Mode:
    """The mode to begin in: the best one, or the one that this decision was brought to already."""
    return before[-1].mode if before and before[-1].mode in terms.modes else terms.modes[0]


def again(terms: CallTerms, made: Sequence[Attempt], error: ModelError | None, waited_s: float) -> Again | None:
    """What follows the newest of the attempts `made` in this decision, which failed; `error` where none
    could be read."""
    last = made[-1]
    lower = _lower(terms, made)
    if last.outcome.name == "unsupported":
        return None if lower is None else Again(lower, 0.0)
    failures = [attempt for attempt in made if attempt.outcome.name not in _NOT_COUNTED]
    if len(failures) > terms.retries:
        return None
    if error is not None and last.outcome.name not in CORRECTABLE:
        if not error.passing:
            return None
        after_s = _backoff_s(failures) if error.retry_after_s is None else error.retry_after_s
        return Again(last.mode, after_s) if waited_s + after_s <= terms.wait_s else None
    if last.outcome.name not in CORRECTABLE:
        return None
    faults = [attempt for attempt in made if attempt.mode == last.mode and attempt.outcome.name in _FORM_FAULTS]
    return Again(lower if lower is not None and len(faults) > 1 else last.mode, 0.0)


def _lower(terms: CallTerms, made: Sequence[Attempt]) -> Mode | None:
    """The mode below the one in use, if none was left already."""
    mode = made[-1].mode
    if len({attempt.mode for attempt in made}) > 1 or mode not in terms.modes:
        return None
    below = terms.modes[terms.modes.index(mode) + 1 :]
    return below[0] if below else None


def _backoff_s(failures: Sequence[Attempt]) -> float:
    return float(min(_FIRST_WAIT_S * 2 ** (len(failures) - 1), _LONGEST_WAIT_S))
