"""Ranked lists judged against labels: nDCG, recall, reciprocal rank, and paired differences with their interval."""

import math
import random
from collections.abc import Sequence
from statistics import fmean

from state.value import Value

DEPTHS = (5, 10, 50)
RESAMPLES = 2_000


class Scored(Value):
    """One question's measures, each from 0 to 1. Relevance is yes or no; a document counts once."""

    ndcg_10: float
    recall_5: float
    recall_10: float
    recall_50: float
    reciprocal_rank: float


class Difference(Value):
    """How much better the first is than the second, over the same questions: mean and 95 % interval (bootstrap)."""

    mean: float
    lower: float
    upper: float

    @property
    def pays(self) -> bool:
        """Whether even the lower end is a gain."""
        return self.lower > 0

    @property
    def costs(self) -> bool:
        """Whether even the upper end is a loss."""
        return self.upper < 0


def judged(ranked: Sequence[str], relevant: Sequence[str]) -> Scored:
    """The measures of one ranked list of names, best first."""
    wanted = set(relevant)
    gains = [name in wanted for name in dict.fromkeys(ranked)]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(wanted))))
    recall = {depth: sum(gains[:depth]) / len(wanted) for depth in DEPTHS}
    return Scored(
        ndcg_10=sum(1 / math.log2(rank + 2) for rank, gain in enumerate(gains[:10]) if gain) / ideal,
        recall_5=recall[5],
        recall_10=recall[10],
        recall_50=recall[50],
        reciprocal_rank=next((1 / rank for rank, gain in enumerate(gains, start=1) if gain), 0.0),
    )


def mean_of(scored: Sequence[Scored]) -> Scored:
    """The mean of each measure."""
    return Scored(**{name: fmean(getattr(one, name) for one in scored) for name in Scored.model_fields})


def difference(first: Sequence[float], second: Sequence[float], seed: int = 0) -> Difference:
    """The paired difference of two measures of the same questions. Raises ValueError for unequal lengths."""
    pairs = [a - b for a, b in zip(first, second, strict=True)]
    chance = random.Random(seed)
    means = sorted(fmean(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return Difference(mean=fmean(pairs), lower=means[int(0.025 * RESAMPLES)], upper=means[int(0.975 * RESAMPLES) - 1])
