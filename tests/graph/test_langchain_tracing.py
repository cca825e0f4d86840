"""What a LangChain tool brings reaches no tracer that the environment names: it is raw, before any masking (X7)."""

import gzip
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import zstandard

from tests.graph.dev_server import ROOT

# Both sides of a tool, each under its contract and bare: what the bare ones send shows that the tracer is at work.
CALLING = """
import asyncio
from langchain_core.tools import StructuredTool
from langchain_core.tracers.langchain import wait_for_all_tracers
from graph.langchain_tools import contracted
from state.contract import Effect, OutputField


def fetch(order: str) -> str:
    return f"the upstream says key-of-{order}"


async def fetch_later(order: str) -> str:
    return fetch(order)


at_once = StructuredTool.from_function(fetch, name="fetch_order", description="Fetch an order.")
later = StructuredTool.from_function(coroutine=fetch_later, name="fetch_order", description="Fetch an order.")
for name, tool in (("once", at_once), ("later", later)):
    made = contracted(tool, effect=Effect.READ, roles=("agent",), output=(OutputField(name="text"),))
    print(made.run(None, order=f"kept-{name}"))
at_once.invoke({"order": "bare-once"})
asyncio.run(later.ainvoke({"order": "bare-later"}))
wait_for_all_tracers()
"""


class _Endpoint(BaseHTTPRequestHandler):
    """Takes what a tracer sends, and keeps it in `bodies`."""

    bodies: list[bytes]

    def do_GET(self) -> None:
        self._say(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        match self.headers.get("content-encoding"):
            case "gzip":
                body = gzip.decompress(body)
            case "zstd":
                body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        self.bodies.append(body)
        self._say(202)

    def _say(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        """Nothing: the test's own output stays its own."""


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[bytes]]]:
    """The address of an endpoint for traces, and all that arrived there."""
    bodies: list[bytes] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Endpoint", (_Endpoint,), {"bodies": bodies}))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    server.server_close()


def test_a_tracer_is_sent_nothing_of_a_tool_under_contract(endpoint: tuple[str, list[bytes]]) -> None:
    url, bodies = endpoint
    tracing = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "lsv2-of-a-test"}
    done = subprocess.run(
        [sys.executable, "-c", CALLING],
        cwd=ROOT,
        env={**tracing, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines() == ["the upstream says key-of-kept-once", "the upstream says key-of-kept-later"]
    sent = b"".join(bodies).decode(errors="replace")
    assert [name for name in ("bare-once", "bare-later", "kept-once", "kept-later") if name in sent] == [
        "bare-once",
        "bare-later",
    ]
