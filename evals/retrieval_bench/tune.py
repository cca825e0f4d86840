"""The ranking's numbers fitted on labelled questions by cross-validation, one step at a time, and what each gained.

A step is kept only where it pays on questions it was not fitted on: the paired interval of its gain lies above 0.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evals.retrieval_bench.quality import Difference, Scored, difference, judged, mean_of
from retrieval.gather import Reading
from retrieval.ranking import Ranking, RerankerName
from state.value import Value

FOLDS = 5


@dataclass(frozen=True)
class Prepared:
    """A labelled question with what was found for it, without and with the reranker: searched once, ranked often.

    `named` gives a ranked list of the names that the labels use.
    """

    relevant: tuple[str, ...]
    plain: Reading
    read_again: Reading | None
    named: Callable[[Reading, Ranking], list[str]]

    def scored(self, ranking: Ranking) -> Scored:
        """The measures of this question under a ranking."""
        again = ranking.reranker is not RerankerName.NONE and self.read_again is not None
        reading = self.read_again if again and self.read_again is not None else self.plain
        return judged(self.named(reading, ranking), self.relevant)


class Step(Value):
    """One step: what it may change, its held-out measures, its gain over the step before, and whether it was kept."""

    name: str
    held_out: Scored
    gain_ndcg: Difference
    gain_recall_10: Difference
    kept: bool


class Tuned(Value):
    """The ranking fitted on all questions with the steps that pay, and the held-out measures of every step."""

    ranking: Ranking
    steps: tuple[Step, ...]
    questions: int
    folds: int


def steps_of(reranker: RerankerName) -> dict[str, list[dict[str, Any]]]:
    """The steps in order, each a list of changes to choose from; the first change of each leaves things as they are."""
    weights = [{}, *({"dense": d, "lexical": w} for d in (0.5, 1.0, 2.0) for w in (0.5, 1.0, 2.0))]
    steps: dict[str, list[dict[str, Any]]] = {
        "weights of the branches": weights,
        "the question as a whole": [{}, *({"whole": w} for w in (0.0, 0.5, 1.0, 2.0))],
        "parts that add up": [{}, *({"summed": n, "background": b} for n in (1, 3, 5, 8) for b in (10, 20, 40))],
    }
    if reranker is not RerankerName.NONE:
        steps[f"reranker {reranker.value}"] = [{"reranker": reranker, "rerank": w} for w in (0.5, 1.0, 2.0)]
    return steps


def tune(questions: Sequence[Prepared], reranker: RerankerName, seed: int = 0) -> Tuned:
    """Fit a ranking. Raises ValueError for fewer questions than folds."""
    if len(questions) < FOLDS:
        raise ValueError(f"got {len(questions)} labelled questions; allowed: at least {FOLDS}, one for each fold")
    order = list(range(len(questions)))
    random.Random(seed).shuffle(order)
    folds = [order[place::FOLDS] for place in range(FOLDS)]
    memo: dict[tuple[int, Ranking], Scored] = {}

    def scored(which: int, ranking: Ranking) -> Scored:
        key = (which, ranking)
        if key not in memo:
            memo[key] = questions[which].scored(ranking)
        return memo[key]

    def fitted(base: Ranking, changes: Sequence[dict[str, Any]], train: Sequence[int]) -> Ranking:
        # max takes the first of equals: as things were.
        candidates = [base.model_copy(update=change) for change in changes]
        return max(candidates, key=lambda ranking: fmean(scored(which, ranking).ndcg_10 for which in train))

    base = Ranking()
    bases = [base] * FOLDS
    before = [scored(which, base) for which in range(len(questions))]
    steps = [_step("the defaults", before, before, kept=True)]
    for name, changes in steps_of(reranker).items():
        trained = [[which for other in folds if other is not fold for which in other] for fold in folds]
        found = [fitted(held, changes, train) for held, train in zip(bases, trained, strict=True)]
        after = list(before)
        for ranking, fold in zip(found, folds, strict=True):
            for which in fold:
                after[which] = scored(which, ranking)
        step = _step(name, after, before, kept=False)
        # A step that fits the rest again is never worse than nothing on its own questions: held-out ones decide.
        if step.gain_ndcg.pays and not step.gain_recall_10.costs:
            step = step.model_copy(update={"kept": True})
            bases, before = found, after
            base = fitted(base, changes, order)
        steps.append(step)
    return Tuned(ranking=base, steps=tuple(steps), questions=len(questions), folds=FOLDS)


def _step(name: str, after: Sequence[Scored], before: Sequence[Scored], *, kept: bool) -> Step:
    return Step(
        name=name,
        held_out=mean_of(after),
        gain_ndcg=difference([one.ndcg_10 for one in after], [one.ndcg_10 for one in before]),
        gain_recall_10=difference([one.recall_10 for one in after], [one.recall_10 for one in before]),
        kept=kept,
    )
