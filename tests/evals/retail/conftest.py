"""The shared retail tables, where they are; else these tests say that they did not run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.retail.replay import Desk, open_desk

UNSET = "EXPEDIENTE_DATA names no folder with retail/tasks.jsonl: set it to the shared data"


@pytest.fixture(scope="package")
def retail_data() -> Path:
    data = Path(os.environ.get("EXPEDIENTE_DATA", "")) / "retail"
    if not (data / "tasks.jsonl").is_file():
        pytest.skip(UNSET)
    return data


@pytest.fixture(scope="package")
def desk(retail_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with open_desk(retail_data, tmp_path_factory.mktemp("retail")) as opened:
        yield opened
