"""The command line as a user has it: the real program as a process, on a home of its own."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from graph.cli.entry import run

AGENT = Path(sys.executable).with_name("agent")
QUESTION = "Why is my API key not working?"
ROTATE = "Rotate my key"
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Done:
    """What one call of the program gave."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """Stdout as one JSON object; anything beside it fails."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def environment(home: Path, **variables: str) -> dict[str, str]:
    """The environment of a process: nothing of the developer's own settings or terminal comes in."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "TMPDIR")
    own = {name: os.environ[name] for name in kept if name in os.environ}
    return {**own, "EXPEDIENTE_HOME": str(home), "COLUMNS": "80", **variables}


class Program:
    """The program with one home. Its folder holds no `.env`."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start a call and leave it running."""
        return subprocess.Popen(
            [AGENT, *arguments],
            cwd=self.folder,
            env=environment(self.home, **variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str, given: str = "", **variables: str) -> Done:
        """Call it and wait. `given` is its standard input, `variables` its settings."""
        with self.start(*arguments, **variables) as process:
            return finished(process, given)

    def threads(self) -> set[str]:
        """The threads there are, read past the program."""
        with closing(sqlite3.connect(f"file:{self.home}/expediente.db?mode=ro", uri=True)) as connection:
            return {row[0] for row in connection.execute("SELECT thread FROM expediente_threads")}


class SameProgram(Program):
    """The same program without a process of its own, for tests that look at what it says and not at the process."""

    def __init__(self, program: Program, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(program.home, program.folder)
        self._patch, self._capture = patch, capture

    def elsewhere(self, home: Path) -> "SameProgram":
        """The same on another home."""
        return SameProgram(Program(home, self.folder), self._patch, self._capture)

    def __call__(self, *arguments: str, given: str = "", **variables: str) -> Done:
        """Call it and wait."""
        self._capture.readouterr()
        with self._patch.context() as patch:
            for name in [name for name in os.environ if name.startswith("EXPEDIENTE_")]:
                patch.delenv(name)
            for name, value in environment(self.home, **variables).items():
                patch.setenv(name, value)
            patch.chdir(self.folder)
            patch.setattr(sys, "stdin", StringIO(given))
            code = run(arguments)
        return Done(code, *self._capture.readouterr())


def finished(process: subprocess.Popen[str], given: str = "") -> Done:
    """What a started call gave in the end."""
    try:
        out, err = process.communicate(given, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Done(process.returncode, out, err)


def one_line_error(done: Done, code: int) -> str:
    """The error of a call that must have ended with one line, and without a traceback."""
    assert done.code == code, done
    assert "Traceback" not in done.out + done.err
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("agent: ")
    return done.err


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that the program itself made: the corpus is indexed."""
    home = tmp_path_factory.mktemp("made") / "home"
    done = Program(home, tmp_path_factory.mktemp("elsewhere"))("ask", QUESTION, "--as", "ana@acme", "--thread", "first")
    assert done.code == 0, done
    return home


@pytest.fixture
def agent(ingested: Path, tmp_path: Path) -> Program:
    """The program as a process, on a copy of that home."""
    (tmp_path / "folder").mkdir()
    shutil.copytree(ingested, tmp_path / "home")
    return Program(tmp_path / "home", tmp_path / "folder")


@pytest.fixture
def same(agent: Program, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> SameProgram:
    """The program within the test's process: its imports are paid once."""
    return SameProgram(agent, monkeypatch, capfd)
