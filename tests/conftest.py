"""What holds for every test: under CI, a skip is a failure, and random examples are the same each time."""

import logging
import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from graph import masking
from tests.postgres import new_schema

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
# CI draws the same examples each time: a change that fails there fails for what it changed. Elsewhere they vary.
settings.register_profile("ci", derandomize=True)
if IN_CI:
    settings.load_profile("ci")
EXCEPTION = "may_skip_in_ci"


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A URL whose connections see one new, empty schema; it is dropped after the test."""
    with new_schema() as url:
        yield url


@pytest.fixture(autouse=True, scope="module")
def masked_values() -> Iterator[None]:
    """A module's apps mask what they know, and not what a thousand others before them knew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masking, "known", masking.Known())
        yield


@pytest.fixture(autouse=True)
def log_on() -> Iterator[None]:
    """A test that leaves the process's log off would fail another one, far from here."""
    yield
    assert logging.root.manager.disable == logging.NOTSET


def _excuse(item: pytest.Item) -> str:
    marker = item.get_closest_marker(EXCEPTION)
    return str(marker.kwargs.get("reason", "")).strip() if marker else ""


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    # A skip is reported as (file, line, reason); the reason is all that a reader needs.
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"CI ran no test here: {why}. Install what it needs, or mark it {EXCEPTION}(reason=...)."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # An expected failure is reported as a skip as well, but it did run.
    if IN_CI and report.skipped and not hasattr(report, "wasxfail") and not _excuse(item):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    # A whole module skipped itself: there is no test to carry an exception.
    if IN_CI and report.skipped:
        _fail(report)
    return report
