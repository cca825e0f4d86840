"""A sample of the gates' law: `make laws` tells 10,000 stories."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.gate_law import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    opened = Stage(Path(tmp_path_factory.mktemp("home")))
    yield opened
    opened.app.close()


def test_no_story_has_an_effect_that_nobody_allowed(stage: Stage) -> None:
    effects = 0

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 2**32))
    def stories(seed: int) -> None:
        nonlocal effects
        broken, done, _ = stage.tell(seed)
        effects += done
        assert not broken, (seed, broken)

    stories()
    assert effects >= 10  # a law about effects is shown on effects
