"""The suite: seeded, parallel without another result, going on after an interruption, honest about what did not run."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evals.case import Case
from evals.judging import Judged, Verdict
from evals.suite import Plan, Result, SuiteRun, fingerprint, run_suite
from evals.summary import summarise

pytestmark = pytest.mark.usefixtures("library_at_hand")

PLAN = Plan(domain="domain", model="offline", seed=7)
NAMES = ("api_key_not_working", "injected_runbook_span")


@pytest.fixture
def two(cases: dict[str, Case]) -> list[Case]:
    return [cases[name] for name in NAMES]


def comparable(run: SuiteRun) -> list[Judged]:
    return [result.judged.model_copy(update={"ms": 0.0}) for result in run.results]


def test_processes_side_by_side_give_the_results_of_one(two: Sequence[Case], tmp_path: Path) -> None:
    alone = run_suite(two, PLAN, folder=tmp_path, jobs=1)
    together = run_suite(two, PLAN, folder=tmp_path, jobs=2)
    assert comparable(alone) == comparable(together)
    assert [result.judged.case for result in alone.results] == list(NAMES)
    assert alone.engine == together.engine == fingerprint("domain")


def test_the_order_is_drawn_from_the_seed_and_only_the_first_case_of_a_process_is_cold(
    two: Sequence[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.suite._ran_before", False)
    run = run_suite(two, PLAN, folder=tmp_path, jobs=1)
    by_order = sorted(run.results, key=lambda result: result.order)
    assert [result.order for result in by_order] == [0, 1]
    assert [result.warm for result in by_order] == [False, True]


def cut_off_behind_the_first(two: Sequence[Case], folder: Path) -> None:
    def interrupted(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_suite(two, PLAN, folder=folder, jobs=1, on_result=interrupted)


def test_an_interrupted_run_goes_on_where_it_stopped(two: Sequence[Case], tmp_path: Path) -> None:
    cut_off_behind_the_first(two, tmp_path)
    (left,) = tmp_path.iterdir()
    kept = Result.model_validate_json(left.read_text(encoding="utf-8").splitlines()[0])

    steps: list[int] = []
    run = run_suite(two, PLAN, folder=tmp_path, jobs=1, on_result=lambda done, total: steps.append(done))
    assert steps == [1, 2]  # one was there already
    assert kept in run.results
    assert not list(tmp_path.iterdir())  # a finished run leaves nothing that a later one could take for its own


SETTINGS = {
    "WINDOW_TOKENS": "12000",
    "RESERVED_OUTPUT_TOKENS": "512",
    "OPENAI_MODEL": "small",
    "OPENAI_BASE_URL": "http://models.test/v1",
    "TEMPERATURE": "0.5",
    "TOOL_SECRET_BILLING": "a credential",
}


@pytest.mark.parametrize("changed", ["code", *SETTINGS])
def test_results_of_other_code_or_settings_are_not_gone_on_with(
    two: Sequence[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    cut_off_behind_the_first(two, tmp_path)
    if changed == "code":
        monkeypatch.setattr("evals.suite.fingerprint", lambda domain: "other code")
    else:
        monkeypatch.setenv(f"EXPEDIENTE_{changed}", SETTINGS[changed])

    def begun(done: int, total: int) -> None:
        raise KeyError(done)  # it is known at the beginning

    with pytest.raises(KeyError, match="0"):
        run_suite(two, PLAN, folder=tmp_path, jobs=1, on_result=begun)


def test_the_same_settings_elsewhere_go_on(
    two: Sequence[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the home lies changes no result."""
    cut_off_behind_the_first(two, tmp_path)
    monkeypatch.setenv("EXPEDIENTE_HOME", str(tmp_path / "moved"))
    steps: list[int] = []
    run_suite(two, PLAN, folder=tmp_path, jobs=1, on_result=lambda done, total: steps.append(done))
    assert steps == [1, 2]


def test_a_case_that_needs_what_is_not_built_is_listed_and_not_run(two: Sequence[Case], tmp_path: Path) -> None:
    waiting = two[1].model_copy(update={"needs": ("events",)})
    run = run_suite([two[0], waiting], PLAN, folder=tmp_path, jobs=1)
    assert [result.judged.case for result in run.results] == [NAMES[0]]
    assert run.waiting == (f"{NAMES[1]}: events",)


def a_run(*verdicts: Verdict) -> SuiteRun:
    results = tuple(
        Result(
            judged=Judged(case=f"case_{n}", slice="normal", verdict=verdict),  # type: ignore[arg-type]  # by value
            case_digest="",
            order=n,
            warm=True,
        )
        for n, verdict in enumerate(verdicts)
    )
    return SuiteRun(plan=PLAN, engine="e", results=results)


@pytest.mark.parametrize(
    ("verdicts", "shortfall"),
    [
        ([Verdict.PASS] * 10, ""),
        ([Verdict.PASS] * 9 + [Verdict.INCONCLUSIVE], ""),
        ([Verdict.PASS] * 8 + [Verdict.INCONCLUSIVE] * 2, "2 of 10 cases are inconclusive, which is too many"),
        ([Verdict.PASS] * 9 + [Verdict.FAIL], "1 of 10 cases fail"),
        ([], "no case ran"),
    ],
    ids=["all pass", "few inconclusive", "too many inconclusive", "one fails", "none"],
)
def test_h25_a_suite_falls_short_when_cases_fail_or_too_many_show_nothing(
    verdicts: list[Verdict], shortfall: str
) -> None:
    assert summarise(a_run(*verdicts)).shortfall == shortfall


def test_what_the_rules_said_is_summed_over_the_cases() -> None:
    run = a_run(Verdict.PASS, Verdict.PASS)
    counted = (
        {"allowed read_in_scope": 2, "asked over_limit": 1},
        {"allowed read_in_scope": 1, "denied unknown_tool": 1},
    )
    results = tuple(
        result.model_copy(update={"judged": result.judged.model_copy(update={"rules": rules})})
        for result, rules in zip(run.results, counted, strict=True)
    )
    summed = summarise(run.model_copy(update={"results": results})).rules
    assert summed == {"allowed read_in_scope": 3, "asked over_limit": 1, "denied unknown_tool": 1}


def test_each_verdict_of_a_case_is_counted_by_its_rule(two: Sequence[Case], tmp_path: Path) -> None:
    (one,) = run_suite(
        [case for case in two if case.name == "api_key_not_working"], PLAN, folder=tmp_path, jobs=1
    ).results
    assert one.judged.rules["allowed read_in_scope"] >= 1
    assert one.judged.rules["accepted citations_resolve"] == 1
