"""The program around its commands: start-up, other packages' commands, a reader that leaves, a bug."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from tests.graph.cli.conftest import AGENT, QUESTION, Program, SameProgram, environment, one_line_error

HEAVY = ("langgraph", "langchain_core", "chromadb", "pydantic", "sqlalchemy", "onnxruntime")


def test_the_help_imports_nothing_heavy(agent: Program) -> None:
    probe = (
        "import sys; sys.argv = ['agent', '--help']; from graph.cli import main; main(); "
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=agent.folder,
        env=environment(agent.home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "[]"
    for command in ("ask", "chat", "resume", "show", "ingest", "corpus", "draw", "doctor", "studio", "token"):
        assert command in done.stdout


def test_behind_two_dashes_debug_is_a_question(same: SameProgram) -> None:
    done = same("ask", "--as", "ana@acme", "--thread", "t", "--", "--debug")
    assert done.code in (0, 3, 4)
    assert same("show", "t", "--as", "ana@acme", "--json").json()["decisions"][0]["question"] == "--debug"


@pytest.fixture
def packages(tmp_path: Path) -> str:
    """A folder on the path with an installed package: one command that works, and one that does not."""
    folder = tmp_path / "packages"
    installed = folder / "elsewhere-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[expediente.commands]\ngreet = elsewhere:commands\nbroken = elsewhere:nothing\nodd = elsewhere:number\n"
    )
    (folder / "elsewhere.py").write_text(
        "import typer\nnumber = 1\ncommands = typer.Typer()\n\n\n"
        "@commands.command()\ndef greet(name: str) -> None:\n    print(f'hello {name}')\n"
    )
    return str(folder)


def test_commands_of_other_packages_are_found_and_loaded_when_called(agent: Program, packages: str) -> None:
    assert "greet" in agent("--help", PYTHONPATH=packages).out
    done = agent("greet", "ana", PYTHONPATH=packages)
    assert (done.code, done.out) == (0, "hello ana\n")


@pytest.mark.parametrize("name", ["broken", "odd"])
def test_a_broken_command_of_another_package_is_one_line(agent: Program, packages: str, name: str) -> None:
    error = one_line_error(agent(name, PYTHONPATH=packages), 1)
    assert f"the command {name} cannot be loaded from elsewhere:" in error
    assert agent("doctor", "--help", PYTHONPATH=packages).code == 0


def test_a_reader_that_leaves_early_is_no_error(agent: Program, same: SameProgram) -> None:
    """The run goes on, quietly, and its record is whole."""
    line = f'"{AGENT}" ask "{QUESTION}" --as ana@acme --thread t | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", line], cwd=agent.folder, env=environment(agent.home), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert same("show", "t", "--as", "ana@acme", "--json").json()["status"] == "answered"


@pytest.mark.parametrize("said", ["--help", "eval --help"])
def test_help_may_be_read_by_one_who_leaves_early(agent: Program, said: str) -> None:
    closed = f'("{AGENT}" {said}; echo $? >&2) | (exec <&-; sleep 5)'
    done = subprocess.run(
        ["bash", "-c", closed], env=environment(agent.home), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "0\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_full_disk_behind_stdout_is_one_line(agent: Program) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [AGENT, "show", "first", "--as", "ana@acme", "--json"],
            env=environment(agent.home),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


BROKEN_DOMAIN = "def load(folder, now):\n    raise ZeroDivisionError('secret detail')\n"


def test_a_bug_is_one_line_that_says_how_to_see_more(
    same: SameProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_domain.py").write_text(BROKEN_DOMAIN)
    monkeypatch.syspath_prepend(tmp_path)
    agent, variables = same.elsewhere(tmp_path / "another"), {"EXPEDIENTE_DOMAIN": "broken_domain"}
    error = one_line_error(agent("ask", "hi", "--as", "ana@acme", **variables), 1)
    assert "ZeroDivisionError" in error
    assert "--debug" in error
    assert "secret detail" not in error
    for said in (
        ["--debug", "ask", "hi", "--as", "ana@acme"],
        ["ask", "--debug", "hi", "--as", "ana@acme"],
        ["ask", "hi", "--as", "ana@acme", "--debug"],
    ):
        assert "Traceback" in agent(*said, **variables).err
    found = agent("doctor", "--json", **variables)
    assert found.code == 1
    assert [check["name"] for check in found.json()["checks"] if not check["ok"]] == ["domain"]


def test_debug_leaves_no_handler_behind_for_whoever_runs_the_commands_next(same: SameProgram, tmp_path: Path) -> None:
    before = list(logging.root.handlers)
    same.elsewhere(tmp_path / "another")("--debug", "ask", "hi", "--as", "ana@acme")
    assert logging.root.handlers == before
