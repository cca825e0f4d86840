"""A real HTTP server that answers as a test tells it to: what a client meets in the world, on a port of its own."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One answer of the server: a status and a body, text or JSON, after a pause."""

    body: Mapping[str, Any] | str
    status: int = 200
    pause_s: float = 0.0
    content_type: str = "application/json"


@dataclass
class Stub:
    """A running server. `asked` holds the body of every request, `headers` its headers."""

    url: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)


def completion(message: Mapping[str, Any], finish_reason: str | None = "stop", **rest: Any) -> Answer:
    """A chat completion with one choice; without usage unless it is given."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish_reason}
    return Answer(
        {"id": "c-1", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice], **rest}
    )


def tool_call(name: str | None, arguments: str | None, call_id: str | None = "call_1") -> dict[str, Any]:
    """A tool call as the protocol writes it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def refusal(status: int, **error: Any) -> Answer:
    """An error body in the protocol's form."""
    return Answer({"error": {"message": "no", "type": None, "param": None, "code": None, **error}}, status)


@contextmanager
def serving(answer: Answer | Callable[[int], Answer]) -> Iterator[Stub]:
    """A server that always gives this answer, or the one that a function chooses by the number of the request."""
    stopping = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            stub.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            stub.headers.append({name.lower(): value for name, value in self.headers.items()})
            given = answer(len(stub.asked)) if callable(answer) else answer
            deadline = time.monotonic() + given.pause_s
            while time.monotonic() < deadline and not stopping.is_set():
                time.sleep(0.01)
            body = (given.body if isinstance(given.body, str) else json.dumps(given.body)).encode()
            try:
                self.send_response(given.status)
                self.send_header("Content-Type", given.content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                return  # the client gave up waiting, which is what the test is about

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub = Stub(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
