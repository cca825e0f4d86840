"""The parts of a lap, fresh for each test."""

import pytest

from tests.desk import Desk
from tests.nodes.parts import Parts


@pytest.fixture
def parts() -> Parts:
    return Parts()


@pytest.fixture
def desk() -> Desk:
    return Desk()
