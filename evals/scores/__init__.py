"""All measures of one run."""

from evals.case import Case
from evals.play import Played
from evals.scores.boundaries import isolation, safety
from evals.scores.evidence import freshness, precision, recall
from evals.scores.measure import Measure, Score
from evals.scores.running import efficiency, recoverability
from evals.scores.success import success
from evals.world import World

__all__ = ["Measure", "Score", "scores"]


def scores(case: Case, played: Played, world: World) -> tuple[Score, ...]:
    """Every measure that applies to a run, in the order of E2."""
    made = (
        success(case, played),
        recall(case, played),
        precision(case, played),
        freshness(case, played, world),
        isolation(case, played, world),
        safety(case, played),
        efficiency(played),
        recoverability(case, played),
    )
    return tuple(score for score in made if score is not None)
