"""OpenTelemetry spans of runs, nodes and model calls, by the GenAI conventions. Off unless an endpoint is set.

A span holds names, counts, ids, hashes and outcomes; never a text that a user, a model or a document wrote, and of an
error only its kind. What was said is in the record, under its tenant's rights; a trace leaves the house. LangSmith
takes the same spans at its OTLP address.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langgraph.errors import GraphBubbleUp
from pydantic import SecretStr

from graph.masking import masked
from state.node import Node
from state.ports import Model
from state.request import ModelError, Reply, Request
from state.run import Scope
from state.value import Value

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_NAME = "expediente"
_MODEL_NAME = re.compile(r"[\w.:/@+-]{1,128}")


class TracingNotInstalled(ImportError):
    """Tracing is asked for, and its packages are not there."""


def open_provider(endpoint: str, headers: Mapping[str, SecretStr]) -> "TracerProvider":
    """A provider that sends spans to an OTLP address over HTTP, in the background. Raises TracingNotInstalled.

    `shutdown` sends what is left.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise TracingNotInstalled(
            "EXPEDIENTE_OTLP_ENDPOINT is set, and the packages for tracing are not installed; "
            "run `pip install -e '.[tracing]'`, or remove the setting"
        ) from error
    plain = {name: value.get_secret_value() for name, value in headers.items()}
    provider = TracerProvider(resource=Resource({"service.name": _NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, headers=plain)))
    return provider


class Tracing:
    """Spans from one provider."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._tracer: Tracer = provider.get_tracer(_NAME)

    @contextmanager
    def run(self, scope: Scope) -> Iterator[None]:
        """The span of a run: everything below hangs on it."""
        with self._span("invoke_agent", {"gen_ai.operation.name": "invoke_agent", **_of(scope)}):
            yield

    def node(self, node: Node) -> Node:
        """The node, each run of it in a span."""
        name = f"node {node.name}"

        def run(reads: Any, scope: Scope) -> Value | Mapping[str, Any]:
            with self._span(name, {"expediente.node": node.name, **_of(scope)}):
                return node.run(reads, scope)

        if node.arun is None:
            return replace(node, run=run)
        waiting = node.arun

        async def arun(reads: Any, scope: Scope) -> Value | Mapping[str, Any]:
            with self._span(name, {"expediente.node": node.name, **_of(scope)}):
                return await waiting(reads, scope)

        return replace(node, run=run, arun=arun)

    def model(self, model: Model) -> Model:
        """The model, each call in a span."""
        return TracedModel(model, self)

    @contextmanager
    def call(self, model: str, request: Request) -> Iterator["Span"]:
        """The span of a model call."""
        provider, _, name = model.rpartition(":")
        settings = request.settings
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider or _NAME,
            "gen_ai.request.model": name,
            "gen_ai.request.max_tokens": settings.max_output_tokens,
            "gen_ai.request.temperature": settings.temperature,
            "gen_ai.output.type": "text" if request.reply_form is None else "json",
            "expediente.request_hash": request.hash(),
        }
        with self._span(f"chat {name}", attributes, client=True) as span:
            yield span

    @contextmanager
    def _span(self, name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Iterator["Span"]:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
        said = {key: masked(value) if isinstance(value, str) else value for key, value in attributes.items()}
        # What an exception says may hold anything: its kind is enough, and the record has the rest.
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=said, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except GraphBubbleUp:
                raise  # a pause for a person is no error
            except BaseException as error:
                kind_of = error.outcome.name if isinstance(error, ModelError) else type(error).__name__
                span.set_attribute("error.type", kind_of)
                span.set_status(Status(StatusCode.ERROR))
                raise


class TracedModel:
    """The Model port with a span around each call."""

    def __init__(self, model: Model, tracing: Tracing) -> None:
        self._model, self._tracing = model, tracing

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    def reply(self, request: Request) -> Reply:
        """The inner model's reply. Raises ModelError."""
        with self._tracing.call(self.name, request) as span:
            return _told(span, self._model.reply(request))

    async def areply(self, request: Request) -> Reply:
        """The same without holding a thread."""
        with self._tracing.call(self.name, request) as span:
            return _told(span, await self._model.areply(request))


def _of(scope: Scope) -> dict[str, str]:
    return {"gen_ai.conversation.id": scope.thread, "expediente.tenant": scope.tenant}


def _told(span: "Span", reply: Reply) -> Reply:
    usage = reply.usage
    counts = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    }
    if _MODEL_NAME.fullmatch(reply.model):  # a server may write what it was asked there
        span.set_attribute("gen_ai.response.model", masked(reply.model))
    span.set_attribute("gen_ai.response.finish_reasons", [reply.finish_reason])
    for name, count in counts.items():
        if count is not None:
            span.set_attribute(name, count)
    return reply
