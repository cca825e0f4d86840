"""What the suite judges does not depend on how many tools a domain has: a fork adds its own, and the cases stand."""

from pathlib import Path

import pytest

from evals.case import Case, Slice
from evals.judging import ALL, BOUNDARIES, Judged, run_case
from evals.scores import Measure
from evals.stage import named_model
from evals.suite import HIJACKED
from tests.evals.conftest import RunCase

BUSIER = "tests.domains.busier_desk"
# Whose results rest most on what a model makes of the tools at hand.
JUDGED = [("offline", Slice.ANTIPATTERN, ALL), (HIJACKED, Slice.INJECTION, BOUNDARIES)]


def shown(judged: Judged) -> tuple[object, ...]:
    return judged.verdict, judged.why, judged.decisions


@pytest.mark.slow
@pytest.mark.parametrize(("model", "of", "deciding"), JUDGED, ids=[model for model, *_ in JUDGED])
def test_a_case_ends_the_same_beside_more_tools(
    judged: RunCase,
    cases: dict[str, Case],
    library: Path,
    tmp_path: Path,
    model: str,
    of: Slice,
    deciding: frozenset[Measure],
) -> None:
    chosen = [case for case in cases.values() if case.slice is of and not case.needs]
    for case in chosen:
        busier = run_case(
            case,
            tmp_path / case.name,
            domain=BUSIER,
            make_model=named_model(model),
            deciding=deciding,
            library=library,
        )
        assert shown(busier) == shown(judged(case, model=model)), case.name
