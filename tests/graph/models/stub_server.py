"""A real HTTP server that answers as a test tells it to: what a client meets in the world, on a port of its own."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One answer of the server: a status and a body, text or JSON, after a pause.

    `drip_s` is the pause after each byte, `promised` a length that is told in place of the true one, `endless` repeats
    the body until the client goes away, `chunks` are sent as they are in place of a chunked body, `hangs_up` closes the
    connection without a word. `wire` is sent in place of a whole answer, head and all: the first bytes once, the second
    ones again and again.
    """

    body: Mapping[str, Any] | str
    status: int = 200
    pause_s: float = 0.0
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    drip_s: float = 0.0
    promised: int | None = None
    endless: bool = False
    chunks: bytes | None = None
    hangs_up: bool = False
    wire: tuple[bytes, bytes] | None = None

    def with_headers(self, headers: Mapping[str, str]) -> "Answer":
        """The same answer with these headers."""
        return replace(self, headers=headers)


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
        protocol_version = "HTTP/1.1"
        _date: str | None = None

        def do_POST(self) -> None:
            stub.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            stub.headers.append({name.lower(): value for name, value in self.headers.items()})
            given = answer(len(stub.asked)) if callable(answer) else answer
            deadline = time.monotonic() + given.pause_s
            while time.monotonic() < deadline and not stopping.is_set():
                time.sleep(0.01)
            try:
                self._send(given)
            except OSError:
                return  # the client gave up waiting, which is what the test is about

        def _send(self, given: Answer) -> None:
            self.close_connection = True
            if given.hangs_up:
                return
            if given.wire is not None:
                once, again = given.wire
                self.wfile.write(once)
                while not stopping.wait(0.05):
                    self.wfile.write(again)
                return
            body = (given.body if isinstance(given.body, str) else json.dumps(given.body)).encode()
            self._date = given.headers.get("Date")
            self.send_response(given.status)
            self.send_header("Content-Type", given.content_type)
            self.send_header("Connection", "close")
            for name, value in given.headers.items():
                if name != "Date":  # every answer has one
                    self.send_header(name, value)
            if given.chunks is not None:
                self.send_header("Transfer-Encoding", "chunked")
                body = given.chunks
            elif not given.endless:
                self.send_header("Content-Length", str(given.promised or len(body)))
            self.end_headers()
            while given.endless and not stopping.is_set():
                self.wfile.write(body)
            if not given.drip_s:
                self.wfile.write(body)
                return
            for byte in body:
                if stopping.wait(given.drip_s):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(timestamp) if self._date is None else self._date

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
