"""How much age takes from what a candidate is worth: by half, once per half-life of its kind of source (B2, S10)."""

import re
from collections.abc import Mapping
from datetime import datetime

from retrieval.access import ALWAYS
from state.knowledge import Candidate

_DAY_S = 86_400


def aged(candidate: Candidate, half_life_days: Mapping[str, float], now: datetime) -> Candidate:
    """The candidate with its freshness at a moment, from 1 (new, or of a kind that does not age) down to 0.

    Its age counts from `effective_from`: a document's own date, the making of a memory. What says no date has no age.
    """
    half_life = half_life_days.get(source_kind(candidate.source))
    if half_life is None or candidate.effective_from is None or candidate.effective_from <= ALWAYS:
        return candidate
    age_days = max(0.0, (now - candidate.effective_from).total_seconds() / _DAY_S)
    return candidate.model_copy(update={"freshness": 0.5 ** (age_days / half_life)})


def source_kind(source: str) -> str:
    """What stands first in a source's address: `runbook` of `runbook/api-keys@v7#limits`, `memory` of `memory://m-1`."""
    found = re.match(r"[^/:@#]+", source)
    return found[0] if found else ""
