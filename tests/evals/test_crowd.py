"""Many runs at once against a slow model: every run answers, in this process and on the dev server."""

import sys
from pathlib import Path

import pytest

from evals.bench import crowd as command


@pytest.mark.parametrize("where", [[], ["--served"]])
def test_every_run_waits_for_the_model_as_often_as_one_alone(
    where: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXPEDIENTE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["crowd", "--runs", "2", "--delay", "0.2", *where])
    command.main()
    said = capsys.readouterr().out
    assert said.startswith("2 runs of 2 calls of 0.2 s: one alone ")
    alone, together = (float(part.split()[0]) for part in said.partition("alone ")[2].split("all together "))
    assert alone > 0.4  # two calls, one after the other
    assert together > 0.4
