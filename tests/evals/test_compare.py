"""Comparisons in pairs: the difference, its interval, and which cases were lost."""

from pathlib import Path

import pytest

from evals.case import Slice
from evals.compare import BaselineWrong, Stored, compare, read_baseline
from evals.judging import Judged, Verdict
from evals.scores import Measure, Score
from evals.suite import Plan, Result, SuiteRun


def a_run(values: dict[str, float]) -> SuiteRun:
    """A run whose cases have these successes."""
    return SuiteRun(
        plan=Plan(domain="domain", model="offline"),
        engine="e",
        results=tuple(
            Result(
                judged=Judged(
                    case=name,
                    slice=Slice.NORMAL,
                    verdict=Verdict.PASS if value == 1 else Verdict.FAIL,
                    scores=(Score(measure=Measure.SUCCESS, value=value),),
                ),
                case_digest="",
                order=0,
                warm=True,
            )
            for name, value in values.items()
        ),
    )


FULL = a_run({f"case_{n}": 1.0 for n in range(10)})


def test_equal_runs_differ_by_nothing() -> None:
    compared = compare(FULL, FULL)
    (one,) = compared.differences
    assert (one.difference, one.low, one.high) == (0, 0, 0)
    assert (compared.lost, compared.gained) == ((), ())


def test_the_interval_of_a_clear_loss_lies_below_zero() -> None:
    worse = a_run({f"case_{n}": 0.0 if n < 6 else 1.0 for n in range(10)})
    (one,) = compare(FULL, worse).differences
    assert one.difference == pytest.approx(-0.6)
    assert -1 <= one.low < one.high < 0


def test_one_changed_case_of_ten_is_no_clear_difference() -> None:
    worse = a_run({f"case_{n}": 0.0 if n == 0 else 1.0 for n in range(10)})
    (one,) = compare(FULL, worse).differences
    assert one.low < 0 == one.high


def test_lost_and_gained_cases_are_named_and_unpaired_ones_told_apart() -> None:
    before = a_run({"kept": 1.0, "worse": 1.0, "better": 0.0, "old": 1.0})
    after = a_run({"kept": 1.0, "worse": 0.0, "better": 1.0, "new": 1.0})
    compared = compare(before, after)
    assert (compared.lost, compared.gained) == (("worse",), ("better",))
    assert (compared.only_before, compared.only_after) == (("old",), ("new",))


def test_the_same_runs_give_the_same_interval() -> None:
    worse = a_run({f"case_{n}": n / 10 for n in range(10)})
    assert compare(FULL, worse) == compare(FULL, worse)


def test_runs_that_share_no_case_cannot_be_compared() -> None:
    with pytest.raises(BaselineWrong, match="shares no case"):
        compare(a_run({"a": 1.0}), a_run({"b": 1.0}))


def test_a_baseline_is_what_json_printed(tmp_path: Path) -> None:
    file = tmp_path / "before.json"
    file.write_text(Stored(run=FULL).model_dump_json(), encoding="utf-8")
    assert read_baseline(file) == FULL
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(BaselineWrong, match="no result of `agent eval --json`"):
        read_baseline(file)
    with pytest.raises(BaselineWrong, match="No such file"):
        read_baseline(tmp_path / "absent.json")
