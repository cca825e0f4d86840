"""A local HTTP server in LangSmith's place: takes what a tracer sends, and keeps it."""

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import zstandard

_RUN = re.compile(r'^\{"id":".*\}\r?$', re.MULTILINE)


@dataclass
class TraceEndpoint:
    """Its address, and the bodies of all requests."""

    url: str
    bodies: list[bytes] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, str]:
        """The environment of a process that is to send its traces here."""
        return {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": self.url, "LANGSMITH_API_KEY": "lsv2-of-a-test"}

    def sent(self) -> str:
        """All that arrived."""
        return b"\n".join(self.bodies).decode(errors="replace")

    def runs(self) -> list[dict[str, Any]]:
        """The runs that were told of, each with its name, its id and its parent's."""
        return [run for found in _RUN.findall(self.sent()) if "name" in (run := json.loads(found))]


@contextmanager
def trace_endpoint() -> Iterator[TraceEndpoint]:
    """The server, as long as it is needed."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(200)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            match self.headers.get("content-encoding"):
                case "gzip":
                    body = gzip.decompress(body)
                case "zstd":
                    body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
            endpoint.bodies.append(body)
            self._say(202)

        def do_PATCH(self) -> None:
            self.do_POST()  # how a client without a thread that batches tells of an end

        def _say(self, status: int) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: object) -> None:
            """Nothing: the test's own output stays its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = TraceEndpoint(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
