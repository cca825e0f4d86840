"""The page docs/domain.md makes a domain that works: its files are written and its commands run, as a reader would."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "domain.md"
FILES = {"python": "bakery/__init__.py", "markdown": "bakery/corpus/hours.md", "yaml": "bakery/cases/first.yaml"}
HANDED_OVER = 4
AGENT = Path(sys.executable).parent / "agent"


def snippet(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(found)


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    for language, file in FILES.items():
        written = tmp_path / file
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(snippet(language), "utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_smallest_domain_answers_refuses_and_passes_its_case(bakery: Path) -> None:
    exports, *commands = [shlex.split(line, comments=True) for line in snippet("sh").splitlines()]
    given = dict(one.split("=", 1) for one in exports[1:])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EXPEDIENTE_")} | given | {"COLUMNS": "200"}

    def said(*arguments: str, exit_code: int = 0) -> str:
        done = subprocess.run(
            [AGENT, *arguments], cwd=bakery, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == exit_code, done.stderr
        return done.stdout

    doctor, status, hours = (said(*command[1:]) for command in commands[:3])
    foreign = said(*commands[3][1:], exit_code=HANDED_OVER)
    assert "missing" not in doctor
    assert "order_id is O-1001, status is baked" in status
    assert "opens at six in the morning" in hours
    assert "denied by resource_not_owned" in foreign
    assert "a cake" not in foreign
    assert "1/1" in said("eval", "bakery/cases", "--jobs", "1")
