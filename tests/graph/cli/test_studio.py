"""`agent studio`: the dev server on exactly the port that was asked for, or one line and nothing started."""

import shutil
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from time import monotonic, sleep

import pytest

from tests.graph.cli.conftest import Program, SameProgram, one_line_error
from tests.graph.dev_server import LINKED, ROOT

START_S = 90.0


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    """A port that somebody listens on."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def test_a_taken_port_is_one_line_that_names_a_free_one(same: SameProgram, taken: socket.socket) -> None:
    (same.folder / "langgraph.json").write_text("{}")
    port = port_of(taken)
    error = one_line_error(same("studio", "--port", str(port)), 1)
    assert f"got port {port} (Address already in use)" in error
    named = int(error.partition("make studio PORT=")[2].partition("`")[0])
    assert named > port
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", named))


def test_a_folder_without_a_configuration_is_one_line(same: SameProgram) -> None:
    assert "got no langgraph.json in this folder; run it in the project's root" in one_line_error(same("studio"), 1)


def test_a_number_that_is_no_port_is_one_line(same: SameProgram) -> None:
    assert "less than or equal to 65535" in one_line_error(same("studio", "--port", "70000"), 2)


def test_without_the_dev_server_installed_one_line_says_how_to_get_it(
    same: SameProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.cli.studio.find_spec", {"langgraph_cli": object()}.get)
    error = one_line_error(same("studio"), 1)
    assert "make dev" in error
    assert "pip install -e '.[studio]'" in error


@pytest.mark.slow
def test_the_server_answers_on_the_port_that_was_asked_for(agent: Program) -> None:
    for name in LINKED:
        (agent.folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "langgraph.json", agent.folder)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = port_of(free)
    with agent.start("studio", "--port", str(port), NO_COLOR="1") as process:
        try:
            until = monotonic() + START_S
            while True:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/ok", timeout=2) as answer:
                        assert answer.status == 200
                        break
                except OSError:
                    assert process.poll() is None
                    assert monotonic() < until
                    sleep(0.3)
        finally:
            process.terminate()
            out, err = process.communicate(timeout=20)
    assert "using port" not in out + err
