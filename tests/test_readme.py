"""The README is run: its printed run, its commands, its Python, and every path it names."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
AGENT = Path(sys.executable).with_name("agent")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands(language: str) -> list[str]:
    lines = [
        line.removeprefix("$ ").split("  #")[0].strip() for block in blocks(language) for line in block.splitlines()
    ]
    return [line for line in lines if line]


def agent(line: str, home: Path, given: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs a command of the README as a user would: 80 columns, not a terminal."""
    words = shlex.split(line)
    assert words[0] == "agent"
    settings = {"EXPEDIENTE_HOME": str(home), "COLUMNS": "80"}
    return subprocess.run(
        [str(AGENT), *words[1:]],
        cwd=home.parent,
        env={**os.environ, **settings},
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme") / "home"


def steady(text: str) -> str:
    """A printed run without what differs from run to run: ids, times, and the tokens these take."""
    text = re.sub(r"\b[0-9a-f]{16}\b", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    return re.sub(r"[\d,]+ of ([\d,]+) tokens \(\d+%\)", r"N of \1 tokens", text).strip()


def test_the_printed_run_is_what_the_command_prints(home: Path) -> None:
    (line,) = commands("console")
    done = agent(line, home)
    assert done.returncode == 0, done.stderr
    printed = re.search(r"<!-- run -->\n```text\n(.*?)```", README, re.DOTALL)
    assert printed is not None
    assert steady(done.stdout) == steady(printed[1])


def test_the_commands_run_as_written(home: Path) -> None:
    ask, show, resume, chat, ingest = (line for line in commands("sh") if line.startswith("agent "))
    asked = agent(ask, home)
    assert asked.returncode == 3, asked.stderr
    found = re.search(r"--approve (\S+)", asked.stdout)
    assert found is not None
    assert agent(show, home).returncode == 0
    resumed = agent(resume.replace("CALL_ID", found[1]), home)
    assert resumed.returncode == 0, resumed.stderr
    assert "rotate_api_key" in resumed.stdout
    told = agent(chat, home, "Which plan am I on?\n")
    assert told.returncode == 0, told.stderr
    assert "plan is pro" in told.stdout
    (home.parent / "pages").mkdir()
    (home.parent / "pages" / "zorbs.md").write_text("# Zorbs\n\nA zorb is reset with the blue lever.\n")
    assert agent(ingest.replace("PATH", "pages"), home).returncode == 0
    cited = agent('agent ask "How is a zorb reset?" --as ana@acme', home)
    assert "blue lever" in cited.stdout


def test_the_python_runs(home: Path) -> None:
    (snippet,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=ROOT,
        env={**os.environ, "EXPEDIENTE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "answered" in done.stdout
    assert "runbook/api-keys@v7#revoked-keys" in done.stdout


def test_every_make_target_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_make_demo_asks_what_the_printed_run_asks() -> None:
    (line,) = commands("console")
    question = shlex.split(line)[2]
    assert f'ask "{question}"' in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_path_it_names_exists() -> None:
    named = set(re.findall(r"`((?:state|nodes|retrieval|graph|domain|docs|evals)/[\w/.-]*|\.env\.example)`", README))
    assert len(named) > 8
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_it_stays_short_enough_to_be_read() -> None:
    assert len(README.splitlines()) <= 200
