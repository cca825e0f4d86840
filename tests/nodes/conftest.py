"""The parts of a lap, fresh for each test."""

import pytest

from tests.nodes.parts import Parts


@pytest.fixture
def parts() -> Parts:
    return Parts()
