"""Two runs of one suite compared case by case: the mean difference of each measure with a bootstrap interval (E3)."""

from pathlib import Path

import numpy as np
from pydantic import ValidationError

from evals.judging import Verdict
from evals.scores import Measure
from evals.suite import SuiteRun
from state.value import Value

RESAMPLES = 10_000
LEVEL = 0.95


class BaselineWrong(ValueError):
    """A baseline that cannot be read, or that shares no case with the run."""


class Difference(Value):
    """One measure over the cases that both runs have: means, their difference, and its 95 % interval."""

    measure: Measure
    cases: int
    before: float
    after: float
    difference: float
    low: float
    high: float


class Comparison(Value):
    """A run against a baseline. `lost` passed before and do not now; `gained` the other way round."""

    differences: tuple[Difference, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()


def compare(before: SuiteRun, after: SuiteRun) -> Comparison:
    """Pair the cases by name. Raises BaselineWrong where there is none to pair."""
    old = {result.judged.case: result.judged for result in before.results}
    new = {result.judged.case: result.judged for result in after.results}
    shared = sorted(old.keys() & new.keys())
    if not shared:
        raise BaselineWrong("the baseline shares no case with this run; compare runs of the same cases")
    differences = []
    for measure in Measure:
        pairs = [(old[name].value(measure), new[name].value(measure)) for name in shared]
        both = [(a, b) for a, b in pairs if a is not None and b is not None]
        if both:
            differences.append(_difference(measure, np.array(both)))
    passing = Verdict.PASS
    return Comparison(
        differences=tuple(differences),
        lost=tuple(name for name in shared if old[name].verdict is passing and new[name].verdict is not passing),
        gained=tuple(name for name in shared if old[name].verdict is not passing and new[name].verdict is passing),
        only_before=tuple(sorted(old.keys() - new.keys())),
        only_after=tuple(sorted(new.keys() - old.keys())),
    )


def read_baseline(file: Path) -> SuiteRun:
    """A run as `agent eval --json` printed it. Raises BaselineWrong."""
    try:
        return Stored.model_validate_json(file.read_bytes()).run
    except OSError as fault:
        raise BaselineWrong(f"got {file} ({fault.strerror}); give a file that `agent eval --json` wrote") from fault
    except ValidationError as fault:
        raise BaselineWrong(f"{file} is no result of `agent eval --json` of this version; make it anew") from fault


class Stored(Value):
    """What `--json` prints: the run with what each rule said over all cases (as Judged has it), and each run with a
    part taken out beside how it compares."""

    run: SuiteRun
    rules: dict[str, int] = {}
    ablations: tuple[tuple[SuiteRun, Comparison], ...] = ()
    against_baseline: Comparison | None = None


def _difference(measure: Measure, pairs: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> Difference:
    """The interval of the mean paired difference, by resampling the pairs; the seed is fixed, so it is reproducible."""
    change = pairs[:, 1] - pairs[:, 0]
    drawn = np.random.default_rng(0).integers(0, len(change), size=(RESAMPLES, len(change)))
    low, high = np.quantile(change[drawn].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(
        measure=measure,
        cases=len(change),
        before=float(pairs[:, 0].mean()),
        after=float(pairs[:, 1].mean()),
        difference=float(change.mean()),
        low=float(low),
        high=float(high),
    )
