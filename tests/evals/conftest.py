"""Runs cases as the suite does, on fresh stores below the test's folder, from a library prepared once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from evals.case import Case
from evals.judging import ALL, BOUNDARIES, Judged, run_case
from evals.loading import load_cases
from evals.stage import MakeModel, Wiring, named_model
from evals.suite import HIJACKED, prepared_library

CASES = Path(__file__).parents[2] / "domain" / "cases"


class RunCase(Protocol):
    def __call__(
        self,
        case: Case | str,
        *,
        model: str = "offline",
        make_model: MakeModel | None = None,
        wirings: Sequence[Wiring] = (),
    ) -> Judged: ...


@pytest.fixture(scope="session")
def library() -> Iterator[Path]:
    with prepared_library("domain") as folder:
        yield folder


@pytest.fixture
def library_at_hand(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites of this process take the library that is prepared already: making one costs more than most cases."""

    @contextmanager
    def prepared(domain: str) -> Iterator[Path]:
        assert domain == "domain"
        yield library

    monkeypatch.setattr("evals.suite.prepared_library", prepared)


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    return {case.name: case for case in load_cases(CASES)}


@pytest.fixture
def judged(tmp_path: Path, library: Path, cases: dict[str, Case]) -> RunCase:
    """Runs one case of the shipped set by name, or any other: `judged("api_key_not_working", model="hijacked")`."""
    played = 0

    def run(
        case: Case | str,
        *,
        model: str = "offline",
        make_model: MakeModel | None = None,
        wirings: Sequence[Wiring] = (),
    ) -> Judged:
        nonlocal played
        played += 1
        return run_case(
            cases[case] if isinstance(case, str) else case,
            tmp_path / f"home-{played}",
            domain="domain",
            make_model=make_model or named_model(model),
            deciding=BOUNDARIES if model == HIJACKED else ALL,
            wirings=wirings,
            library=library,
        )

    return run
