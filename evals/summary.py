"""From the results of a suite to its figures: each measure by slice, tokens per success, and whether it passed."""

from collections import Counter
from collections.abc import Sequence

from evals.case import Slice
from evals.judging import Judged, Verdict
from evals.scores import Measure
from evals.suite import SuiteRun
from state.value import Value

MOST_INCONCLUSIVE = 0.1  # of the cases that ran: above, the suite shows too little to pass (H25)


class Row(Value):
    """One slice: how many cases, how many passed, and the mean of each measure that applies."""

    slice: str
    cases: int
    passed: int
    means: dict[Measure, float]


class Summary(Value):
    """A suite's figures. `tokens_per_success` and `ms_per_success` count all runs, failed ones included, by success.

    `rules` sums what each rule said, as Judged has it. `shortfall` says why the cases as a whole are not enough to
    pass; empty where they are.
    """

    rows: tuple[Row, ...]
    total: Row
    tokens_per_success: float | None
    ms_per_success: float | None
    ms_per_decision: float
    approvals: int
    failed: tuple[Judged, ...]
    inconclusive: tuple[Judged, ...]
    rules: dict[str, int]
    shortfall: str
    too_blind: bool


def summarise(run: SuiteRun, most_inconclusive: float = MOST_INCONCLUSIVE) -> Summary:
    """The figures of a run. It falls short when a case fails, or more than that share is inconclusive."""
    judged = [result.judged for result in run.results]
    slices = [(each, [one for one in judged if one.slice is each]) for each in Slice]
    failed = tuple(one for one in judged if one.verdict is Verdict.FAIL)
    blind = tuple(one for one in judged if one.verdict is Verdict.INCONCLUSIVE)
    tokens = sum(one.value(Measure.EFFICIENCY) or 0 for one in judged)
    successes = sum(one.value(Measure.SUCCESS) == 1 for one in judged)
    decisions, ms = sum(one.decisions for one in judged), sum(one.ms for one in judged)
    too_blind = len(blind) > most_inconclusive * len(judged)
    return Summary(
        rows=tuple(_row(each.value, own) for each, own in slices if own),
        total=_row("all", judged),
        tokens_per_success=tokens / successes if successes else None,
        ms_per_success=ms / successes if successes else None,
        ms_per_decision=ms / decisions if decisions else 0,
        approvals=sum(one.approvals for one in judged),
        failed=failed,
        inconclusive=blind,
        rules=dict(sum((Counter(one.rules) for one in judged), Counter[str]())),
        shortfall=_shortfall(judged, failed, blind, too_blind),
        too_blind=too_blind,
    )


def _shortfall(judged: Sequence[Judged], failed: Sequence[Judged], blind: Sequence[Judged], too_blind: bool) -> str:
    reasons = [] if judged else ["no case ran"]
    if failed:
        reasons.append(f"{len(failed)} of {len(judged)} cases fail")
    if too_blind:
        reasons.append(f"{len(blind)} of {len(judged)} cases are inconclusive, which is too many")
    return "; ".join(reasons)


def _row(name: str, judged: Sequence[Judged]) -> Row:
    means = {}
    for measure in Measure:
        values = [value for one in judged if (value := one.value(measure)) is not None]
        if values:
            means[measure] = sum(values) / len(values)
    passed = sum(one.verdict is Verdict.PASS for one in judged)
    return Row(slice=name, cases=len(judged), passed=passed, means=means)
