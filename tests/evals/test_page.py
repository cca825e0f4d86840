"""docs/evals.md names what there is: options, measures, slices, ablations."""

import re
from pathlib import Path

import pytest

from evals.ablations import ABLATIONS
from evals.case import Slice
from evals.command import run
from evals.scores import Measure

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "evals.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [Measure, Slice], ids=["measures", "slices"])
def test_it_names_every_one(kind: type[Measure] | type[Slice]) -> None:
    assert [one for one in kind if one not in TEXT] == []


def test_it_names_every_part_that_can_be_ablated() -> None:
    (listed,) = re.findall(r"takes out one part \(([^)]*)\)", TEXT)
    assert set(re.findall(r"`(\w+)`", listed)) == set(ABLATIONS)


def test_the_options_it_uses_exist() -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    lines = [line.partition("#")[0] for line in block.splitlines()]
    used = {option.replace("-", "_") for line in lines for option in re.findall(r"--([a-z-]+)", line)}
    assert used <= set(run.__annotations__)
    assert all(line.startswith("agent eval") for line in lines)


def test_the_paths_it_names_exist_and_it_can_be_read_at_one_go() -> None:
    named = re.findall(r"`?((?:domain|evals|tests|docs)/[\w/.]+)", TEXT)
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert len(TEXT.splitlines()) <= 120
