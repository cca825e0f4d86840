"""What each stage of retrieval adds on a labelled set: keywords, vectors, both, the whole, the reranker."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median, quantiles

from evals.retrieval_bench.prepare import Timed
from evals.retrieval_bench.quality import Difference, Scored, difference, mean_of
from evals.retrieval_bench.tune import Prepared
from retrieval.ranking import Ranking, RerankerName
from retrieval.short_question import ShortReadings
from state.value import Value

ARMS = ("keywords", "vectors")
STAGES = {
    "keywords": Ranking(dense=0, whole=0),
    "vectors": Ranking(lexical=0),
    "both": Ranking(),
    "both, then MaxSim": Ranking(reranker=RerankerName.MAXSIM),
}


class Stage(Value):
    """One stage's means, and how it differs from the better of keywords and vectors (nDCG@10, paired)."""

    name: str
    scored: Scored
    against_better_arm: Difference


class Measured(Value):
    """A labelled set: its stages, its searches per question and their time."""

    name: str
    questions: int
    stages: tuple[Stage, ...]
    searches: float
    search_ms_p50: float
    search_ms_p95: float
    rerank_ms_p50: float | None


def measured(name: str, timed: Timed) -> Measured:
    """The stages of a prepared set."""
    by_stage = {
        stage: [_alone(one, stage).scored(ranking) for one in timed.questions] for stage, ranking in STAGES.items()
    }
    arms = [by_stage[name] for name in ARMS]
    better = max(arms, key=lambda arm: mean_of(arm).ndcg_10)
    return Measured(
        name=name,
        questions=len(timed.questions),
        stages=tuple(
            Stage(name=stage, scored=mean_of(scored), against_better_arm=difference(_ndcg(scored), _ndcg(better)))
            for stage, scored in by_stage.items()
        ),
        searches=sum(timed.searches) / len(timed.searches),
        search_ms_p50=median(timed.search_ms),
        search_ms_p95=quantiles(timed.search_ms, n=20)[-1],
        rerank_ms_p50=median(timed.rerank_ms) if timed.rerank_ms else None,
    )


def _alone(one: Prepared, stage: str) -> Prepared:
    """A short question with what the stage's branch found alone; in a long one the other weighs 0."""
    if stage not in ARMS or not isinstance(one.plain, ShortReadings):
        return one
    return replace(one, plain=one.plain.only(dense=stage == ARMS[1]))


def _ndcg(scored: Sequence[Scored]) -> list[float]:
    return [one.ndcg_10 for one in scored]
