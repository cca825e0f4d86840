"""Spans of a run by the GenAI conventions: what they hold, and what they never hold."""

import asyncio
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import SecretStr

from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import proposing
from graph.models.scripted import Scripted
from graph.settings import Settings
from graph.tracing import Tracing, TracingNotInstalled
from state.request import AttemptOutcome, ModelError
from tests.fakes import FakeClock, FakeModel
from tests.graph.conftest import NOW, OpenApp
from tests.graph.models.rendered import Working
from tests.nodes.proposing import said

QUESTION = "Why is my API key not working?"
PHRASE = "PHRASE-OF-THE-MODEL-77"
NODES = ["resolve", "plan", "retrieve", "pack", "propose", "validate", "log"]


class Spans:
    """A provider that keeps what ended, in order."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))

    @property
    def ended(self) -> tuple[ReadableSpan, ...]:
        return self._kept.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.ended if span.name == name]


def asked(app: App) -> None:
    app.ask(QUESTION, as_="ana@acme", thread="t")


def asked_without_a_thread(app: App) -> None:
    async def ask() -> None:
        async with app.asynchronous() as graph:
            given = {"messages": [HumanMessage(QUESTION, id="m")]}
            await graph.ainvoke(given, {"configurable": {"thread_id": "t"}}, context={"principal": "ana@acme"})

    asyncio.run(ask())


Ask = Callable[[App], None]
BOTH = pytest.mark.parametrize("ask", [asked, asked_without_a_thread], ids=["sync", "async"])


def escalating() -> ChatModelAdapter:
    message = proposing(("escalate", {"reason": PHRASE}))
    message.usage_metadata = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    return ChatModelAdapter(Scripted(lines=[message]), "openai:small")


@BOTH
def test_every_node_and_every_call_is_a_span(start: OpenApp, ask: Ask) -> None:
    spans = Spans()
    ask(start(model=escalating(), tracer_provider=spans.provider))
    assert [span.name for span in spans.ended if span.name.startswith("node ")] == [f"node {name}" for name in NODES]
    (call,) = spans.named("chat small")
    (propose,) = spans.named("node propose")
    assert call.parent is not None
    assert propose.context is not None
    assert call.parent.span_id == propose.context.span_id
    attributes = dict(call.attributes or {})
    assert len(str(attributes.pop("expediente.request_hash"))) == 64
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "gen_ai.request.max_tokens": 1_024,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.output.type": "text",
        "gen_ai.response.model": "openai:small",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
    }


def test_a_run_is_one_trace(start: OpenApp) -> None:
    spans = Spans()
    asked(start(tracer_provider=spans.provider))
    (run,) = spans.named("invoke_agent")
    assert run.parent is None
    assert dict(run.attributes or {})["gen_ai.conversation.id"] == "t"
    assert len({span.context.trace_id for span in spans.ended if span.context is not None}) == 1


@BOTH
def test_no_text_of_anybody_leaves_in_a_span(start: OpenApp, ask: Ask) -> None:
    spans = Spans()
    ask(start(model=escalating(), tracer_provider=spans.provider))
    told = " ".join(span.to_json() for span in spans.ended)
    assert PHRASE not in told
    assert QUESTION not in told
    assert "revoked" not in told


def test_a_failed_call_says_its_outcome_and_no_words(start: OpenApp) -> None:
    spans = Spans()
    asked(
        start(
            model=FakeModel(ModelError(AttemptOutcome(name="unreachable", detail=PHRASE))),
            tracer_provider=spans.provider,
        )
    )
    (call,) = spans.named("chat fake")
    assert dict(call.attributes or {})["error.type"] == "unreachable"
    assert not call.status.is_ok
    assert PHRASE not in " ".join(span.to_json() for span in spans.ended)


@pytest.mark.parametrize(
    ("reported", "told"),
    [("qwen/qwen3-8b:free", "qwen/qwen3-8b:free"), (f"you asked {QUESTION}", None), ("m" * 129, None), ("a\nb", None)],
)
def test_what_a_server_calls_its_model_is_in_a_span_where_it_is_a_name(reported: str, told: str | None) -> None:
    spans = Spans()
    model = Tracing(spans.provider).model(FakeModel(said("x").model_copy(update={"model": reported})))
    model.reply(Working("Hi").request())
    (call,) = spans.named("chat fake")
    assert dict(call.attributes or {}).get("gen_ai.response.model") == told


def test_an_endpoint_without_the_packages_says_which_to_install(monkeypatch: pytest.MonkeyPatch, home: Any) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    settings = Settings.load(home=home, model="offline", otlp_endpoint="http://127.0.0.1:9/v1/traces")
    with pytest.raises(TracingNotInstalled, match=r"pip install -e '\.\[tracing\]'`, or remove the setting"):
        open_app(settings, clock=FakeClock(NOW))


def test_without_an_endpoint_there_is_no_span(start: OpenApp) -> None:
    app = start(model=escalating())
    assert app.ports.model.name == "openai:small"
    assert isinstance(app.ports.model, ChatModelAdapter)


def test_spans_reach_an_address_over_http_with_its_headers(home: Any) -> None:
    seen: list[tuple[str, str | None, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers["x-api-key"], body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        settings = Settings.load(
            home=home,
            model="offline",
            otlp_endpoint=f"http://127.0.0.1:{server.server_port}/v1/traces",
            otlp_headers={"x-api-key": SecretStr("a-key-of-the-collector")},
        )
        with open_app(settings, clock=FakeClock(NOW)) as app:
            asked(app)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert {(path, key) for path, key, _ in seen} == {("/v1/traces", "a-key-of-the-collector")}
    sent = b"".join(body for *_, body in seen)
    assert b"invoke_agent" in sent
    assert b"gen_ai.operation.name" in sent
    assert QUESTION.encode() not in sent
