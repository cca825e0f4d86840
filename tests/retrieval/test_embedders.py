"""Embedders by name, and the one that asks a server, against a real HTTP server."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from retrieval.embed import MiniLM
from retrieval.embed_openai import BATCH, OpenAIEmbedder
from retrieval.embedders import EmbedderName, open_embedder
from retrieval.faults import EmbedderUnavailable

KEY = "key-for-the-embeddings"


class Server(ThreadingHTTPServer):
    """Answers with vectors of the texts' lengths, in reverse order; `status` and `answer` change that."""

    status = 200
    answer: Any = None
    asked: list[dict[str, Any]]
    keys: list[str | None]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:  # the name is http.server's
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.append(self.headers["Authorization"])
        rows = [{"index": n, "embedding": [len(text), 1.0, 0.0]} for n, text in enumerate(asked["input"])]
        body = json.dumps({"data": rows[::-1]} if self.server.answer is None else self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as opened:
        opened.asked, opened.keys = [], []
        threading.Thread(target=opened.serve_forever, daemon=True).start()
        yield opened
        opened.shutdown()


def embedder(server: Server, dimension: int = 3) -> OpenAIEmbedder:
    return OpenAIEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "small", dimension, KEY)


def test_vectors_come_as_units_in_the_order_of_the_texts(server: Server) -> None:
    short, long = embedder(server).embed(["abc", "a" * 40])
    assert short == pytest.approx([3 / 10**0.5, 1 / 10**0.5, 0.0])
    assert long[0] > short[0]
    assert server.keys == [f"Bearer {KEY}"]
    assert server.asked[0]["model"] == "small"


def test_many_texts_go_in_batches(server: Server) -> None:
    assert len(embedder(server).embed(["x"] * (BATCH + 1))) == BATCH + 1
    assert [len(asked["input"]) for asked in server.asked] == [BATCH, 1]


@pytest.mark.parametrize(
    ("status", "answer", "dimension", "told"),
    [
        pytest.param(401, {"error": KEY}, 3, "the server answered 401; check the model", id="refused"),
        pytest.param(200, {"error": KEY}, 3, "has no embeddings", id="another shape"),
        pytest.param(200, None, 4, "got 1 vectors of 3 numbers for 1 texts, expected 4", id="another dimension"),
    ],
)
def test_a_wrong_answer_is_told_without_the_key(
    server: Server, status: int, answer: Any, dimension: int, told: str
) -> None:
    server.status, server.answer = status, answer
    with pytest.raises(EmbedderUnavailable, match=told) as fault:
        embedder(server, dimension).embed(["a"])
    assert KEY not in str(fault.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(EmbedderUnavailable, match=r"http://127\.0\.0\.1:9/ cannot be reached"):
        OpenAIEmbedder("http://127.0.0.1:9", "small", 3).embed(["a"])


def opened(name: EmbedderName, **given: Any) -> object:
    return open_embedder(name, **{"model": None, "dimension": None, "base_url": None, "api_key": "", **given})


def test_embedders_are_opened_by_name() -> None:
    assert isinstance(opened(EmbedderName.MINILM), MiniLM)
    assert isinstance(opened(EmbedderName.OPENAI, model="m", dimension=3, base_url="http://h"), OpenAIEmbedder)


@pytest.mark.parametrize("name", [EmbedderName.OPENAI, EmbedderName.SBERT])
def test_what_an_embedder_lacks_is_named(name: EmbedderName) -> None:
    with pytest.raises(EmbedderUnavailable, match="EXPEDIENTE_EMBEDDER_MODEL"):
        opened(name)
