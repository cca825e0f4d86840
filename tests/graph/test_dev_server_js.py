"""The dev server through the JavaScript SDK, as a web client uses it: stream, interrupt, resume, history (U2)."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.graph.dev_server import DevServer

SDK = "@langchain/langgraph-sdk@1.15.0"
TIMEOUT_S = 120


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.live_js
@pytest.mark.timeout(2 * TIMEOUT_S)
def test_a_javascript_client_streams_answers_an_interrupt_and_reads_history(server: DevServer, tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs Node.js 20 with npm on the path; install it, then: pytest -m live_js")
    run(npm, "install", "--no-audit", "--no-fund", "--silent", SDK, folder=tmp_path)
    told: dict[str, Any] = json.loads(
        run(node, str(Path(__file__).with_name("drive_dev_server.mjs")), server.url, folder=tmp_path)
    )
    assert told["progress"][:3] == ["resolve", "plan", "retrieve"]
    assert told["progress"][-1] == "validate"
    assert told["asked"] == ["rotate_api_key"]
    assert told["status"] == "answered"
    assert "status is rotated" in told["said"]
    assert told["steps"][0] == ["__start__"]
    assert ["execute"] in told["steps"]
    assert told["steps"][-1] == []
