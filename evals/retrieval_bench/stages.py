"""What each stage of retrieval adds on a labelled set: keywords, vectors, both, the whole, the reranker."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median, quantiles

from evals.retrieval_bench.corpora import LabelledSet
from evals.retrieval_bench.plain_hybrid import plain_hybrid
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


PLAIN = "plain ensemble"


class Stage(Value):
    """One stage's means, how it differs from the better of keywords and vectors (nDCG@10, paired), its nDCG@10 by
    language, and the milliseconds of a question (a reranker's on chunks it has read before)."""

    name: str
    scored: Scored
    against_better_arm: Difference
    ndcg_10_by_language: dict[str, float]
    ms_p50: float
    ms_p95: float


class Measured(Value):
    """A labelled set: its stages, its searches per question, and how fast its documents were read in."""

    name: str
    questions: int
    stages: tuple[Stage, ...]
    searches: float
    ingest_chunks_per_s: float | None


def measured(labelled: LabelledSet, timed: Timed) -> Measured:
    """The stages of a prepared set, and the plain ensemble beside them."""
    by_stage: dict[str, list[Scored]] = {
        stage: [_alone(one, stage).scored(ranking) for one in timed.questions] for stage, ranking in STAGES.items()
    }
    arms = [by_stage[name] for name in ARMS]
    better = max(arms, key=lambda arm: mean_of(arm).ndcg_10)
    by_stage[PLAIN], plain_ms = plain_hybrid(labelled)
    again_ms = timed.rerank_ms or [0.0] * len(timed.search_ms)
    reranked_ms = [search + again for search, again in zip(timed.search_ms, again_ms, strict=True)]
    ms = dict(zip(by_stage, (timed.keywords_ms, timed.vectors_ms, timed.search_ms, reranked_ms, plain_ms), strict=True))
    return Measured(
        name=labelled.name,
        questions=len(timed.questions),
        stages=tuple(
            Stage(
                name=stage,
                scored=mean_of(scored),
                against_better_arm=difference(_ndcg(scored), _ndcg(better)),
                ndcg_10_by_language=_by_language(timed.languages, scored),
                ms_p50=median(ms[stage]),
                ms_p95=quantiles(ms[stage], n=20)[-1],
            )
            for stage, scored in by_stage.items()
        ),
        searches=sum(timed.searches) / len(timed.searches),
        ingest_chunks_per_s=labelled.ingest_chunks_per_s,
    )


def _by_language(languages: Sequence[str], scored: Sequence[Scored]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for language, one in zip(languages, scored, strict=True):
        found.setdefault(language, []).append(one.ndcg_10)
    return {language: sum(all_of) / len(all_of) for language, all_of in sorted(found.items())}


def _alone(one: Prepared, stage: str) -> Prepared:
    """A short question with what the stage's branch found alone; in a long one the other weighs 0."""
    if stage not in ARMS or not isinstance(one.plain, ShortReadings):
        return one
    return replace(one, plain=one.plain.only(dense=stage == ARMS[1]))


def _ndcg(scored: Sequence[Scored]) -> list[float]:
    return [one.ndcg_10 for one in scored]
