"""A database for the tests to write in, on the engine that the test asks for."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.graph.inspection.tampering import Tampering


@pytest.fixture
def tampering(tmp_path: Path, database_url: str | None) -> Iterator[Tampering]:
    (tmp_path / "home").mkdir()
    with ExitStack() as stack:
        yield Tampering(tmp_path / "home", database_url, stack)
