"""The bench of many runs at once: that it measures what it says; how fast it is, is for the bench itself."""

from pathlib import Path

from evals.bench.crowd import crowd


def test_a_crowd_answers_every_run_and_counts_the_calls_of_one(tmp_path: Path) -> None:
    found = crowd(3, 0.05, tmp_path / "home")
    assert (found.runs, found.calls) == (3, 2)
    assert found.one_s >= 2 * 0.05
    assert found.ratio == found.all_s / found.one_s
