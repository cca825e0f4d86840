"""A sample of `make isolation-memory`, on another seed each, and that it notices a check that is missing."""

from pathlib import Path

import numpy as np
import pytest

from evals.isolation.memory import trial
from retrieval.memory import PASSED, StoreMemory


@pytest.mark.parametrize("seed", [1, 2])
def test_no_load_is_wrong_whoever_asks_for_what_and_when(tmp_path: Path, seed: int) -> None:
    found = trial(tmp_path, loads=400, seed=seed)
    assert (found.foreign, found.wrong) == (0, 0)
    assert found.let_in > 100
    assert found.left_out > 1_000


def test_the_trial_notices_a_check_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.memory.check", lambda held, purpose, now: np.full(len(held.ids), PASSED, np.int8))
    assert trial(tmp_path, loads=200, seed=1).wrong > 0


def test_the_trial_notices_records_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def everyones(self: StoreMemory, tenant: str, subject: str) -> list[tuple[str, object]]:
        return [(item.key, item.value) for item in self._store.search(("memory",), limit=5_000)]

    monkeypatch.setattr(StoreMemory, "_own", everyones)
    assert trial(tmp_path, loads=50, seed=1).foreign > 0
