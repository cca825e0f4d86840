"""A model server of chat completions that takes its time (`python -m evals.bench.slow_server --port N --delay 2`).

It answers as the offline reader does, which is no language model, and reads requests that differ only in their times
and in the name of their run once: such a model computes on another machine.
"""

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from langchain_core.messages import AIMessage, convert_to_messages

from evals.bench.crowd import SlowReader

HOST = "127.0.0.1"


def serve(port: int, delay_s: float) -> None:
    """Serve until the process ends. Whatever is got tells how many requests were asked."""
    reader = SlowReader(delay_s=delay_s)
    asked: list[float] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._say({"asked": len(asked)})

        def do_POST(self) -> None:
            begun = time.monotonic()
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(begun)
            reply = reader.once(convert_to_messages(request["messages"]), request.get("tools", []))
            time.sleep(max(0.0, delay_s - (time.monotonic() - begun)))
            self._say(completion(reply, request["model"]))

        def _say(self, said: dict[str, Any]) -> None:
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """A line for each request would be noise in what is measured."""

    Patient((HOST, port), Handler).serve_forever()


class Patient(ThreadingHTTPServer):
    """Takes as many connections at once as a crowd makes."""

    daemon_threads = True
    request_queue_size = 256


def completion(reply: AIMessage, model: str) -> dict[str, Any]:
    """A reply as chat completions write it."""
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
        }
        for number, call in enumerate(reply.tool_calls)
    ]
    message = {"role": "assistant", "content": reply.text or None} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": reply.response_metadata["finish_reason"]}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--delay", type=float, required=True, help="how long a reply takes, in seconds")
    given = parser.parse_args()
    serve(given.port, given.delay)
