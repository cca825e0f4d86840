"""`langgraph dev` as a process in a folder of its own: what the tests of the real server start."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 90
LINKED = ("graph", "nodes", "retrieval", "state", "domain")


@dataclass(frozen=True)
class DevServer:
    """A server that is up: its address, its folder, and what it has written so far."""

    url: str
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def written(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


def asked(text: str) -> dict[str, Any]:
    """A run's input."""
    return {"messages": [{"role": "user", "content": text}]}


def answering(state: Any, decision: str) -> Any:
    """The command that answers every call which a thread's state shows as pending."""
    return {
        "resume": {
            pending["id"]: {
                call["call_id"]: {"approval_id": call["approval_id"], "decision": decision}
                for call in pending["value"]["approvals"]
            }
            for task in state["tasks"]
            for pending in task["interrupts"]
        }
    }


@contextmanager
def dev_server(
    folder: Path, config: dict[str, Any] | None = None, jobs: int = 10, **settings: str
) -> Iterator[DevServer]:
    """The server on the project, with `config` over its langgraph.json and `settings` in its environment, which works
    on so many `jobs` at once."""
    server = DevServer(f"http://127.0.0.1:{_free_port()}", _checkout(folder, config or {}))
    fixed = {
        "EXPEDIENTE_HOME": str(server.home),
        "LANGGRAPH_STRICT_MSGPACK": "true",
        "LANGSMITH_TRACING": "false",
        "NO_COLOR": "1",
    }
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    with (folder / "log").open("wb") as written:
        process = subprocess.Popen(
            [*command, "--n-jobs-per-worker", str(jobs), "--port", server.url.rpartition(":")[2]],
            cwd=folder,
            env={**os.environ, **fixed, **settings},
            stdout=written,
            stderr=written,
        )
        try:
            _wait_for(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(20)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _checkout(folder: Path, config: dict[str, Any]) -> Path:
    """The project seen from a folder of the test's own: the server keeps its threads where it is started."""
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    given = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    (folder / "langgraph.json").write_text(json.dumps(given | config), encoding="utf-8")
    return folder


def _wait_for(server: DevServer, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/ok", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    pytest.fail(f"the dev server did not start:\n{server.written()[-3000:]}")
