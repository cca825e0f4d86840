"""llama.cpp's server with a small model, in a process of its own, one for all tests of this folder."""

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = os.environ.get("EXPEDIENTE_MODEL_SERVER")
ALIAS = "smollm2"
WINDOW_TOKENS = 4_096
STARTS_IN_S = 120.0


@pytest.fixture(scope="session")
def live_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base address of the running server."""
    if HOME is None:
        pytest.skip("EXPEDIENTE_MODEL_SERVER names no folder of a model server; run `make live`")
    (weights,) = Path(HOME).rglob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(HOME) / "bin" / "python"), "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--model", str(weights), "--model_alias", ALIAS, "--n_ctx", str(WINDOW_TOKENS), "--n_threads", "2"]
    command += ["--chat_format", "chatml-function-calling"]
    log = tmp_path_factory.mktemp("model-server") / "log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _wait(url, process, log)
            yield url
        finally:
            process.kill()  # it would first end the reply that nobody waits for


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_IN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/models", timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    if process.poll() == -signal.SIGILL:
        pytest.skip("the model server was built for another processor: it holds instructions that this one has not")
    raise RuntimeError(f"the model server did not start: {log.read_text(encoding='utf-8', errors='replace')[-2_000:]}")
