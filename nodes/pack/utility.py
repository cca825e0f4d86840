"""What a candidate is worth to the decision, and which of them enter (B2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodes.pack.drafts import Draft
from nodes.pack.scanning import Scans
from state.context import ContextItem, Dropped, DropReason, Kind
from state.knowledge import HINT, Candidate
from state.policy import UtilityWeights

_SAME = 0.5  # word overlap from which a text counts as saying the same again
_MOST_OF_WORTH = 0.5  # that signs of an injection take: they are a guess, and alone keep nothing out


@dataclass(frozen=True)
class Chosen:
    """The candidates that enter, best first, and those that do not, each with its reason."""

    drafts: tuple[Draft, ...]
    dropped: tuple[Dropped, ...]


def choose(
    candidates: Sequence[tuple[Candidate, Draft]],
    weights: UtilityWeights,
    budget_tokens: int,
    limits: dict[Kind, int],
    scans: Scans,
    standing: Sequence[Draft] = (),
) -> Chosen:
    """Choose by utility within a budget in tokens and a number per kind.

    utility = relevance x authority x freshness - redundancy - injection_risk, each feature between 0 and 1 and
    times its weight. Permission is no feature: what is not permitted never became a candidate. Deterministic:
    ties go to fewer tokens, then to the smaller id. injection_risk is the share of a text that no reader sees, and what
    signs of an injection cost: at a weight of 1 never more than half of what the text is worth, so that a clean page
    that talks of "system:" stays in. Like redundancy it is looked at when a text has its turn, and moves no turn.

    Turns go by relevance x authority x freshness, and by one thing more, diversity: of each source the best text goes
    first, and its further ones come behind every other source that the question finds and that is worth nearly as much
    as the best of all (at a weight of .3: seven tenths of it); what a hint alone found is about something else, and
    waits with them. So many texts of one document do not crowd out the other that contradicts it, and what is worth
    much less gets no place for being another one. `standing` are texts that are in already: what repeats
    them is redundant.
    """
    open_ = _in_turn(candidates, weights)
    chosen: list[Draft] = []
    words = [_words(draft.text) for draft in standing]
    dropped: list[Dropped] = []
    left, room = budget_tokens, dict(limits)
    for rank, (candidate, draft, worth, crowding) in enumerate(open_, start=1):
        # What was true at its turn: `agent explain` tells it (M5).
        turn = {"rank": rank, "left_tokens": left, "crowding": crowding}
        if room.get(candidate.kind, 0) <= 0 and worth > 0:
            # No place is left: what its text repeats or hides is not looked at.
            dropped.append(left_out(_scored(candidate, draft, **turn, utility=worth).item, DropReason.OVER_LIMIT))
            continue
        own = _words(draft.text)
        redundancy = max((_overlap(own, other) for other in words), default=0.0)
        redundancy = redundancy if redundancy >= _SAME else 0.0
        risk = _risk(draft, worth, scans)
        utility = worth - weights.redundancy * redundancy - weights.injection_risk * risk
        scored = _scored(candidate, draft, **turn, redundancy=redundancy, injection_risk=risk, utility=utility)
        reason = _refusal(utility, scored.item.token_count, left)
        if reason is not None:
            dropped.append(left_out(scored.item, reason))
            continue
        chosen.append(scored)
        words.append(own)
        left -= scored.item.token_count
        room[candidate.kind] -= 1
    return Chosen(tuple(chosen), tuple(dropped))


def left_out(item: ContextItem, reason: DropReason) -> Dropped:
    """The trace of an item that stays out: no text."""
    return Dropped(
        item_id=item.item_id,
        kind=item.kind,
        source=item.source,
        version=item.version,
        token_count=item.token_count,
        scores=item.provenance.scores,
        reason=reason,
    )


class _Turn(NamedTuple):
    """A candidate in the order of its turn; `crowding` is by how much its turn fell behind its worth."""

    candidate: Candidate
    draft: Draft
    worth: float
    crowding: float


def _in_turn(candidates: Sequence[tuple[Candidate, Draft]], weights: UtilityWeights) -> list[_Turn]:
    """Candidates, the first turn first. What is chosen moves no turn, so that more room changes no order."""
    by_worth = sorted(
        (_Turn(candidate, draft, _worth(candidate, weights), 0.0) for candidate, draft in candidates),
        key=lambda turn: (-turn.worth, turn.draft.item.token_count, turn.candidate.item_id, turn.candidate.ref),
    )
    near: dict[Kind, float] = {}
    heard: set[tuple[Kind, str]] = set()
    turns: list[tuple[float, _Turn]] = []
    for turn in by_worth:
        kind, source = turn.candidate.kind, turn.candidate.source.partition("#")[0]
        most = near.setdefault(kind, turn.worth * (1 - weights.diversity))
        waits = (kind, source) in heard or HINT in turn.candidate.scores
        counted = min(turn.worth, most) if waits else turn.worth
        heard.add((kind, source))
        turns.append((counted, turn._replace(crowding=turn.worth - counted)))
    # Stable: of those that count alike the first of its source, then the one worth more.
    return [turn for _, turn in sorted(turns, key=lambda pair: (-pair[0], pair[1].crowding > 0))]


def _worth(candidate: Candidate, weights: UtilityWeights) -> float:
    return (
        weights.relevance
        * candidate.relevance
        * weights.authority
        * candidate.authority
        * weights.freshness
        * candidate.freshness
    )


def _risk(draft: Draft, worth: float, scans: Scans) -> float:
    scan = scans.of(draft)
    return min(1.0, scan.hidden / max(1, len(draft.text)) + scan.signs.score * worth * _MOST_OF_WORTH)


def _refusal(utility: float, tokens: int, left: int) -> DropReason | None:
    if utility <= 0:
        return DropReason.UTILITY_NOT_POSITIVE
    return DropReason.OVER_BUDGET if tokens > left else None


def _scored(candidate: Candidate, draft: Draft, **features: float) -> Draft:
    scores = {
        **candidate.scores,
        "relevance": candidate.relevance,
        "authority": candidate.authority,
        "freshness": candidate.freshness,
        **features,
    }
    rounded = {name: round(value, 6) for name, value in scores.items()}
    provenance = draft.item.provenance.model_copy(update={"scores": rounded})
    return draft._replace(item=draft.item.model_copy(update={"provenance": provenance}))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0
