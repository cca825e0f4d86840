"""The page docs/mcp.md connects a server that works, over both transports: as a reader would, on the bakery."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.test_docs_domain import bakery

__all__ = ["bakery"]  # the fixture

PAGE = Path(__file__).resolve().parents[1] / "docs" / "mcp.md"
AGENT = Path(sys.executable).parent / "agent"


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


class Reader:
    """Somebody who follows the page in a folder that has the bakery."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        till, domain = snippets("python")
        (folder / "till.py").write_text(till, "utf-8")
        (folder / "bakery_till.py").write_text(domain, "utf-8")
        exports, *commands = [shlex.split(line, comments=True) for line in snippets("sh")[0].splitlines()]
        given = dict(one.split("=", 1) for one in exports[1:])
        ours = {name: value for name, value in os.environ.items() if not name.startswith("EXPEDIENTE_")}
        self.environment, self.commands = ours | given | {"COLUMNS": "200"}, commands

    def says(self, *arguments: str, exit_code: int = 0) -> str:
        done = subprocess.run(
            [AGENT, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done.stdout

    def edit(self, file: str, before: str, after: str) -> None:
        text = (self.folder / file).read_text("utf-8")
        assert before in text
        (self.folder / file).write_text(text.replace(before, after), "utf-8")

    def review(self) -> None:
        listing, review, pin, _ = (command[1:] for command in self.commands)
        assert "price unreviewed" in self.says(*listing, exit_code=1)
        version = self.says(*review).split("--pin ")[1].split()[0]
        self.says(*[version if word == "VERSION" else word for word in pin])


@pytest.mark.slow
def test_the_server_of_the_page_is_reviewed_called_and_blocked_once_its_words_change(bakery: Path) -> None:
    reader = Reader(bakery)
    reader.review()
    ask = reader.commands[-1][1:]
    assert "goods is bread, cents is 320" in reader.says(*ask)
    reader.edit("till.py", "Say the price of goods", "Say the price of all goods")
    blocked = reader.says(*ask[:-1], "second", exit_code=4)
    assert "1 definition changed" in blocked
    assert "definition_changed mcp till/price" in reader.says("events", "second", "--as", "kim@bakery")


@contextmanager
def over_http(folder: Path, port: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "till.py", "http"], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(port))) == 0:
                    break
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_the_same_server_answers_over_http(bakery: Path) -> None:
    reader = Reader(bakery)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    url = re.search(r'url="[^"]+"', snippets("python")[1])
    assert url is not None
    reader.edit("bakery_till.py", 'command=(sys.executable, str(HERE / "till.py"))', url[0].replace("8000", port))
    reader.edit("till.py", "server.run(", f"server.run(port={port}, ")
    with over_http(bakery, port):
        reader.review()
        assert "goods is bread, cents is 320" in reader.says(*reader.commands[-1][1:])
