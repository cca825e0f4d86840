"""Every seeded bug is noticed: by the case and by the measure that the table of docs/seeded_bugs.md names."""

import pytest

from evals.judging import Judged, Verdict
from evals.scores import Measure
from tests.evals.bug import SeededBug
from tests.evals.conftest import RunCase
from tests.evals.seeded_bugs import BUGS, PAGE, parts, table

CASES = sorted({place for bug in BUGS for place in bug.by_case()})


def failing(result: Judged) -> set[Measure]:
    """The measures that made a case fail."""
    return {measure for measure in Measure if any(why.startswith(f"{measure}: ") for why in result.why.split("; "))}


@pytest.mark.parametrize(("case", "model"), CASES, ids=[f"{case}-{model}" for case, model in CASES])
def test_without_a_bug_the_case_passes(judged: RunCase, case: str, model: str) -> None:
    result = judged(case, model=model)
    assert (result.verdict, result.why) == (Verdict.PASS, "")


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "_"))
def test_a_seeded_bug_is_caught(judged: RunCase, monkeypatch: pytest.MonkeyPatch, bug: SeededBug) -> None:
    bug.put_in(monkeypatch)
    for (case, model), measures in bug.by_case().items():
        result = judged(case, model=model)
        assert result.verdict is Verdict.FAIL, (case, result.why)
        assert set(measures) <= failing(result), (case, result.why)


def test_there_are_many_bugs_and_none_stands_twice() -> None:
    names = [bug.name for bug in BUGS]
    assert len(names) >= 15
    assert len(set(names)) == len(names)
    assert all(bug.breaks and bug.caught for bug in BUGS)


def test_the_page_says_by_which_case_and_measure_each_bug_is_caught() -> None:
    _, shown, _ = parts(PAGE.read_text(encoding="utf-8"))
    assert shown == table(), "run python -m tests.evals.seeded_bugs"
