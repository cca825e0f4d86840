"""The crowd of `evals.bench.crowd` through LangGraph's dev server and a model over HTTP, all on one machine.

What stands above the ratio in one process is the server's own: its queue, its API, its events.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from evals.bench.crowd import QUESTION, Crowd
from evals.bench.slow_server import HOST

_ROOT = Path(__file__).resolve().parents[2]
_START_TIMEOUT_S = 120.0
_ROOMS = ("graph", "nodes", "retrieval", "state", "domain")
_GRAPH = "expediente"


def served_crowd(runs: int, delay_s: float, folder: Path) -> Crowd:
    """Measure on a server of its own, which works on as many runs at once. Every run answers, or this raises."""
    model, api = _free_port(), _free_port()
    slow = [sys.executable, "-m", "evals.bench.slow_server", "--port", str(model), "--delay", str(delay_s)]
    server = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(api)]
    for room in _ROOMS:  # the server keeps its threads where it is started
        (folder / room).symlink_to(_ROOT / room)
    (folder / "langgraph.json").write_text(
        json.dumps({"dependencies": ["."], "graphs": {_GRAPH: "./graph/agent.py:graph"}}), encoding="utf-8"
    )
    settings = {
        "EXPEDIENTE_HOME": str(folder / "home"),
        "EXPEDIENTE_MODEL": "openai",
        "EXPEDIENTE_OPENAI_BASE_URL": f"http://{HOST}:{model}/v1",
        "EXPEDIENTE_OPENAI_API_KEY": "none",
        "EXPEDIENTE_OPENAI_MODEL": "slow",
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    }
    with (
        _running(slow, _ROOT, {}, f"http://{HOST}:{model}"),
        _running([*server, "--n-jobs-per-worker", str(runs)], folder, settings, f"http://{HOST}:{api}/ok") as process,
    ):
        return asyncio.run(_measured(f"http://{HOST}:{api}", process, f"http://{HOST}:{model}", runs, delay_s))


async def _measured(url: str, server: "subprocess.Popen[bytes]", model: str, runs: int, delay_s: float) -> Crowd:
    async with get_client(url=url) as client:
        await _asked(client)  # what is loaded once is loaded now
        before, begun = _calls(model), time.perf_counter()
        await _asked(client)
        one_s, calls = time.perf_counter() - begun, _calls(model) - before
        begun, computed = time.perf_counter(), _cpu_s(server.pid)
        await asyncio.gather(*(_asked(client) for _ in range(runs)))
        all_s, all_cpu_s = time.perf_counter() - begun, _cpu_s(server.pid) - computed
    return Crowd(runs=runs, delay_s=delay_s, calls=calls, one_s=one_s, all_s=all_s, all_cpu_s=all_cpu_s)


async def _asked(client: LangGraphClient) -> None:
    """Run a turn to its end on a thread of its own."""
    thread = (await client.threads.create())["thread_id"]
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": QUESTION}]}
    done = await client.runs.wait(thread, _GRAPH, input=asked, raise_error=True)
    if not isinstance(done, dict) or done["task"]["status"] != "answered":
        raise RuntimeError(f"a run ended as {done!r:.300}; it was to be answered")


def _calls(model: str) -> int:
    """How many replies the model's server was asked for so far."""
    with urllib.request.urlopen(model, timeout=2) as told:  # noqa: S310  # our own address
        asked: int = json.load(told)["asked"]
        return asked


def _cpu_s(pid: int) -> float:
    """What a process has computed so far, read from the kernel; the clock's ticks are hundredths of a second."""
    after_name = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def _running(
    command: list[str], folder: Path, settings: Mapping[str, str], url: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that answers at `url`, ended at the end. Raises RuntimeError where it does not come up."""
    given = [f"{name}={value}" for name, value in {"PYTHONPATH": str(folder), **settings}.items()]
    process = subprocess.Popen(  # noqa: S603  # our own words, no shell; `env` adds to its environment
        ["/usr/bin/env", *given, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + _START_TIMEOUT_S
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command[2]} did not come up at {url}")
            time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310  # our own address
            return True
    except (urllib.error.URLError, OSError):
        return False
