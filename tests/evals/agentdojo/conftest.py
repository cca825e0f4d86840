"""A suite on its stage; without the extra these tests say that they did not run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("agentdojo", reason="AgentDojo is not installed: run `make evals`")

from evals.agentdojo.environment import open_world
from evals.agentdojo.replay import Stage, on_stage

OnStage = Callable[[str], Stage]


@pytest.fixture(scope="package")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnStage]:
    """A suite by name, opened once for all tests."""
    opened: dict[str, Any] = {}
    with ExitStack() as stack:

        def open_once(name: str) -> Stage:
            if name not in opened:
                opened[name] = stack.enter_context(on_stage(open_world(name), tmp_path_factory.mktemp(name)))
            stage: Stage = opened[name]
            return stage

        yield open_once
