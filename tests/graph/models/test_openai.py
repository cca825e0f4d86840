"""ChatOpenAI behind the port, against a real HTTP server."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from graph.models.adapter import ChatModelAdapter
from graph.models.openai import openai_model
from state.request import ModelError, Reply, Request, ToolSpec, Usage
from tests.graph.models.rendered import Working
from tests.graph.models.stub_server import Answer, completion, refusal, serving, tool_call

KEY = "sk-live-4f9d2c7b1a"
LOOK_UP = ToolSpec(
    name="look_up",
    description="Look up a loan.",
    parameters={"type": "object", "properties": {"loan": {"type": "string"}}, "required": ["loan"]},
)


def a_request() -> Request:
    return Working("Where is my book?", tools=[LOOK_UP], forms=()).request()


def model(url: str, timeout_s: float = 5.0) -> ChatModelAdapter:
    return openai_model("small", api_key=SecretStr(KEY), base_url=url, timeout_s=timeout_s)


def sync(adapter: ChatModelAdapter, request: Request) -> Reply:
    return adapter.reply(request)


def through_async(adapter: ChatModelAdapter, request: Request) -> Reply:
    return asyncio.run(adapter.areply(request))


Way = Callable[[ChatModelAdapter, Request], Reply]
BOTH = pytest.mark.parametrize("ask", [sync, through_async], ids=["sync", "async"])


def failed(ask: Way, adapter: ChatModelAdapter) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(adapter, a_request())
    error = caught.value
    assert KEY not in str(error)
    assert KEY not in repr(error.outcome)
    assert (error.__cause__, error.__context__) == (None, None), "the provider's exception may echo the key"
    assert "\n" not in error.outcome.detail
    return error


@BOTH
def test_channels_tools_and_settings_reach_the_server(ask: Way) -> None:
    usage = {"prompt_tokens": 40, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 32}}
    with serving(
        completion({"tool_calls": [tool_call("look_up", '{"loan": "L-1"}')]}, "tool_calls", usage=usage)
    ) as stub:
        reply = ask(model(stub.url), a_request())
    (sent,) = stub.asked
    request = a_request()
    assert [(message["role"], message["content"]) for message in sent["messages"]] == [
        ("system", request.messages[0].content),
        ("user", request.messages[1].content),
    ]
    assert sent["tools"] == [{"type": "function", "function": LOOK_UP.model_dump()}]
    assert (sent["max_tokens"], sent.get("max_completion_tokens"), sent["temperature"]) == (500, None, 0.0)
    assert (sent.get("tool_choice"), sent["stream"]) == (None, False)
    assert stub.headers[0]["authorization"] == f"Bearer {KEY}"
    (call,) = reply.calls
    assert (call.call_id, call.name, json.loads(call.arguments)) == ("call_1", "look_up", {"loan": "L-1"})
    assert reply.finish_reason == "tool_calls"
    assert reply.usage == Usage(input_tokens=40, output_tokens=7, cached_tokens=32)
    assert reply.model == "served"


REPLIES: dict[str, tuple[Answer, dict[str, Any]]] = {
    "no usage is unknown, not zero": (completion({"content": "hi"}), {"usage": Usage(), "text": "hi"}),
    "a usage without counts is unknown": (
        completion({"content": "hi"}, usage={"prompt_tokens": None, "completion_tokens": None}),
        {"usage": Usage()},
    ),
    "a count that is reported as zero is zero": (
        completion({"content": ""}, usage={"prompt_tokens": 9, "completion_tokens": 0}),
        {"usage": Usage(input_tokens=9, output_tokens=0)},
    ),
    "what is no count is unknown": (
        completion({"content": ""}, usage={"prompt_tokens": -9, "completion_tokens": 10**30, "total_tokens": 1.5}),
        {"usage": Usage()},
    ),
    "a half, a text and a truth are no counts": (
        completion({"content": ""}, usage={"prompt_tokens": 1.5, "completion_tokens": True, "total_tokens": "x"}),
        {"usage": Usage()},
    ),
    "cached tokens of a service tier": (
        completion(
            {"content": ""},
            service_tier="flex",
            usage={
                "prompt_tokens": 40,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 32},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        ),
        {"usage": Usage(input_tokens=40, output_tokens=7, cached_tokens=32, reasoning_tokens=3)},
    ),
    "a model's name that is the key": (completion({"content": ""}, model=f"m {KEY}"), {"model": "m ***"}),
    "a model's name that colours the screen": (completion({"content": ""}, model="a\x1b[31mb"), {"model": "a[31mb"}),
    "a model's name without an end": (completion({"content": ""}, model="m" * 9_999), {"model": f"{'m' * 128}..."}),
    "cut at the limit": (completion({"content": '{"a": 1'}, "length"), {"finish_reason": "length", "text": '{"a": 1'}),
    "the filter stopped it": (completion({"content": ""}, "content_filter"), {"finish_reason": "refused"}),
    "the model refused": (completion({"refusal": "I cannot."}), {"finish_reason": "refused"}),
    "no finish reason": (completion({"content": "hi"}, None), {"finish_reason": "unknown"}),
    "a finish reason nobody knows": (completion({"content": "hi"}, "paused"), {"finish_reason": "unknown"}),
    "null content": (completion({"content": None}), {"text": "", "calls": ()}),
}


@BOTH
@pytest.mark.parametrize("name", REPLIES)
def test_what_a_reply_says(name: str, ask: Way) -> None:
    answer, expected = REPLIES[name]
    with serving(answer) as stub:
        reply = ask(model(stub.url), a_request())
    assert {field: getattr(reply, field) for field in expected} == expected


ERRORS: dict[str, tuple[Answer, str, str]] = {
    "wrong key": (
        refusal(401, message=f"Incorrect API key provided: {KEY}", code="invalid_api_key"),
        "unauthorised",
        "EXPEDIENTE_OPENAI_API_KEY",
    ),
    "a key without the right": (refusal(403), "unauthorised", "EXPEDIENTE_OPENAI_API_KEY"),
    "too long, as OpenAI and vLLM say it": (
        refusal(400, code="context_length_exceeded"),
        "context_too_long",
        "EXPEDIENTE_WINDOW_TOKENS",
    ),
    "too long, as llama.cpp says it": (
        refusal(400, code=400, type="exceed_context_size_error", n_ctx=2048),
        "context_too_long",
        "EXPEDIENTE_WINDOW_TOKENS",
    ),
    "too long for a proxy": (refusal(413), "context_too_long", "EXPEDIENTE_WINDOW_TOKENS"),
    "the filter refused the request": (refusal(400, code="content_filter"), "refused", "filter"),
    "a field the server does not know": (
        refusal(400, message=f"unknown field; your key is {KEY}", code="unsupported_parameter", param="temperature"),
        "unsupported",
        "unsupported_parameter, temperature",
    ),
    "a code that is the key": (refusal(400, code=KEY), "unsupported", "400"),
    "no such model": (refusal(404), "model_error", "EXPEDIENTE_OPENAI_MODEL"),
    "rate limit": (refusal(429, code="rate_limit_exceeded"), "rate_limited", "rate"),
    "server error": (refusal(500, message=f"boom {KEY}"), "model_error", "500"),
    "a gateway without a server": (
        Answer("<html>bad gateway</html>", 502, content_type="text/html"),
        "unreachable",
        "502",
    ),
    "not JSON": (Answer("<html>welcome</html>", content_type="text/html"), "model_error", "server"),
    "JSON that is no completion": (Answer({"hello": KEY}), "model_error", "server"),
    "no choices": (Answer({"choices": None, "model": KEY}), "model_error", "server"),
    "an empty list of choices": (Answer({"choices": []}), "model_error", "server"),
    "an error with status 200": (Answer({"error": {"message": KEY}}), "model_error", "server"),
    "arguments that are a list": (completion({"tool_calls": [tool_call("look_up", "[1]")]}), "wrong_schema", "object"),
    "a call without a function": (completion({"tool_calls": [{"id": "x"}]}), "model_error", "server"),
}


@BOTH
@pytest.mark.parametrize("name", ERRORS)
def test_every_failure_is_typed_and_says_what_to_do(name: str, ask: Way) -> None:
    answer, outcome, says = ERRORS[name]
    with serving(answer) as stub:
        error = failed(ask, model(stub.url))
        assert len(stub.asked) <= 1, "whether it is asked again is for propose to say"
    assert error.outcome.name == outcome
    assert says in error.outcome.detail


def test_the_wording_of_a_message_decides_nothing() -> None:
    with serving(refusal(401, message="context_length_exceeded: this exceeds the context window")) as stub:
        assert failed(sync, model(stub.url)).outcome.name == "unauthorised"


def test_the_prompt_is_not_repeated_in_an_error() -> None:
    with serving(refusal(400, message=a_request().messages[1].content)) as stub:
        assert "book" not in failed(sync, model(stub.url)).outcome.detail


def until(date: str, now: str = "Wed, 15 Jul 2026 09:30:00 GMT") -> Answer:
    return refusal(429).with_headers({"Retry-After": date, "Date": now})


PASSING: dict[str, tuple[Answer, tuple[bool, float | None]]] = {
    "a storm, with its end": (refusal(429).with_headers({"Retry-After": "7"}), (True, 7.0)),
    "in milliseconds": (refusal(429).with_headers({"Retry-After-Ms": "1500"}), (True, 1.5)),
    "a date": (until("Wed, 15 Jul 2026 09:30:07 GMT"), (True, 7.0)),
    "a date in an old form": (until("Wednesday, 15-Jul-26 09:30:07 GMT"), (True, 7.0)),
    "a date that is past": (until("Wed, 15 Jul 2026 09:29:00 GMT"), (True, 0.0)),
    "a date in years": (until("Tue, 15 Jul 2036 09:30:00 GMT"), (True, 86_400.0)),
    "a date of no year": (until(f"Wed, 15 Jul {10**30} 09:30:07 GMT"), (True, None)),
    "a date without the server's own": (until("Wed, 15 Jul 2026 09:30:07 GMT", now=""), (True, None)),
    "no number": (refusal(503).with_headers({"Retry-After": "soon"}), (True, None)),
    "not a number": (refusal(503).with_headers({"Retry-After": "nan"}), (True, None)),
    "the past": (refusal(503).with_headers({"Retry-After": "-5"}), (True, None)),
    "for ever": (refusal(503).with_headers({"Retry-After": "inf"}), (True, 86_400.0)),
    "a quota that is used up": (refusal(429, code="insufficient_quota"), (False, None)),
    "a broken server": (refusal(500), (True, None)),
    "a wrong request": (refusal(400), (False, None)),
    "a wrong key": (refusal(401), (False, None)),
    "no completion": (Answer({"hello": 1}), (False, None)),
}


@BOTH
@pytest.mark.parametrize("name", PASSING)
def test_whether_and_when_another_try_makes_sense(name: str, ask: Way) -> None:
    answer, expected = PASSING[name]
    with serving(answer) as stub:
        error = failed(ask, model(stub.url))
    assert (error.passing, error.retry_after_s) == expected


@BOTH
def test_a_slow_server_is_given_up(ask: Way) -> None:
    with serving(Answer({}, pause_s=30.0)) as stub:
        started = time.monotonic()
        error = failed(ask, model(stub.url, timeout_s=0.2))
    assert error.outcome.name == "unreachable"
    assert time.monotonic() - started < 10


@BOTH
def test_a_redirect_takes_the_request_nowhere(ask: Way) -> None:
    with serving(completion({"content": "hi"})) as elsewhere:
        moved = Answer({}, 307).with_headers({"Location": f"{elsewhere.url}/chat/completions"})
        with serving(moved) as stub:
            assert failed(ask, model(stub.url)).outcome.name == "model_error"
    assert elsewhere.asked == []


@BOTH
def test_a_refused_connection_names_the_address_setting(ask: Way) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    error = failed(ask, model(url))
    assert error.outcome.name == "unreachable"
    assert "EXPEDIENTE_OPENAI_BASE_URL" in error.outcome.detail


def test_the_environment_supplies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: from-the-environment")
    with serving(completion({"content": "hi"})) as stub:
        adapter = openai_model("small", base_url=stub.url)
        adapter.reply(a_request())
        asyncio.run(adapter.areply(a_request()))
    assert len(stub.headers) == 2
    assert "from-the-environment" not in str(stub.headers)


def test_the_key_is_in_no_text_of_the_adapter() -> None:
    adapter = model("http://127.0.0.1:9/v1")
    assert KEY not in repr(adapter) + repr(vars(adapter)) + adapter.name
