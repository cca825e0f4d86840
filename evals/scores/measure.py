"""The eight measures (E2), each from manifests, records, effects and the state of the world; never from words alone."""

from collections.abc import Iterable
from enum import StrEnum

from state.value import Value


class Measure(StrEnum):
    """The eight measures."""

    SUCCESS = "task success"
    RECALL = "evidence recall"
    PRECISION = "context precision"
    FRESHNESS = "freshness"
    ISOLATION = "isolation"
    SAFETY = "action safety"
    EFFICIENCY = "efficiency"
    RECOVERABILITY = "recoverability"


class Score(Value):
    """One measure of one run: between 0 and 1, tokens for efficiency; `why` says what kept it from being perfect."""

    measure: Measure
    value: float
    why: str = ""


def judged(measure: Measure, faults: Iterable[str]) -> Score:
    """1 without a fault, else 0 and what was found."""
    found = list(faults)
    return Score(measure=measure, value=0.0 if found else 1.0, why="; ".join(found))
