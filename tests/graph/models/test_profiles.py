"""Profiles on the wire: one request, in each protocol's words (S1); and replies of the responses API."""

import subprocess
import sys
from typing import Any

import pytest
from pydantic import SecretStr

from graph.models.openai import openai_model
from graph.models.profiles import PROFILES, profile_of
from state.asking import asked, calls_schema
from state.context import RequestSettings
from state.request import Message, Mode, Request, ToolSpec, Usage
from tests.graph.models.stub_server import Answer, completion, serving

LOOK_UP = ToolSpec(
    name="look_up",
    description="Look up a loan.",
    parameters={"type": "object", "properties": {"loan": {"type": "string"}}, "required": ["loan"]},
)
REQUEST = Request(
    messages=(Message(channel="instruction", content="Be brief."), Message(channel="input", content="Loan L-1?")),
    tools=(LOOK_UP,),
    settings=RequestSettings(max_output_tokens=500),
)
SCHEMA = calls_schema((LOOK_UP,))


def response(*output: dict[str, Any], status: str = "completed", **rest: Any) -> Answer:
    """A reply of the responses API."""
    return Answer(
        {
            "id": "r-1",
            "object": "response",
            "created_at": 1,
            "model": "served",
            "status": status,
            "output": list(output),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            **rest,
        }
    )


def said(text: str, kind: str = "output_text") -> dict[str, Any]:
    content: dict[str, Any] = {"type": kind, "refusal" if kind == "refusal" else "text": text}
    if kind == "output_text":
        content["annotations"] = []
    return {"type": "message", "id": "m-1", "role": "assistant", "status": "completed", "content": [content]}


CALL = {"type": "function_call", "id": "f-1", "call_id": "c-1", "name": "look_up", "arguments": '{"loan": "L-1"}'}


def sent(profile: str, mode: Mode) -> dict[str, Any]:
    answer = response(said("hi")) if PROFILES[profile].api == "responses" else completion({"content": "hi"})
    with serving(answer) as stub:
        chat = openai_model("small", api_key=SecretStr("k"), base_url=stub.url, profile=profile)
        chat.reply(asked(REQUEST, mode, (), "m"))
    (body,) = stub.asked
    return body


@pytest.mark.parametrize(
    ("profile", "role", "limit", "choice"),
    [
        ("openai", "developer", "max_completion_tokens", "required"),
        ("compatible", "system", "max_tokens", None),
        ("llama.cpp", "system", "max_tokens", "auto"),
        ("ollama", "system", "max_tokens", None),
        ("vllm", "system", "max_tokens", "required"),
    ],
)
def test_chat_completions_in_the_words_of_each_server(profile: str, role: str, limit: str, choice: str | None) -> None:
    body = sent(profile, "tools")
    assert body["messages"] == [{"role": role, "content": "Be brief."}, {"role": "user", "content": "Loan L-1?"}]
    assert {name: body[name] for name in body if name.startswith("max_")} == {limit: 500}
    assert body.get("tool_choice") == choice
    assert [tool["function"]["name"] for tool in body["tools"]] == ["look_up"]


@pytest.mark.parametrize(
    ("profile", "mode", "expected"),
    [
        ("openai", "json_schema", {"type": "json_schema", "json_schema": {"name": "proposal", "schema": SCHEMA}}),
        ("compatible", "json_object", {"type": "json_object"}),
        ("llama.cpp", "json_object", {"type": "json_object", "schema": SCHEMA}),
        ("ollama", "text", None),
    ],
)
def test_the_form_of_a_reply_without_tool_calls(profile: str, mode: Mode, expected: Any) -> None:
    body = sent(profile, mode)
    assert body.get("response_format") == expected
    assert ("tools" in body, "tool_choice" in body) == (False, False)


def test_the_responses_api_has_its_instructions_at_the_top() -> None:
    body = sent("openai-responses", "tools")
    assert body["instructions"] == "Be brief."
    assert [(item["role"], item["content"]) for item in body["input"]] == [("user", "Loan L-1?")]
    assert (body["max_output_tokens"], body["tool_choice"]) == (500, "required")
    assert [tool["name"] for tool in body["tools"]] == ["look_up"]


def test_the_responses_api_takes_a_schema_as_the_format_of_its_text() -> None:
    body = sent("openai-responses", "json_schema")
    assert body["text"] == {"format": {"type": "json_schema", "name": "proposal", "schema": SCHEMA}}


USAGE = {
    "input_tokens": 40,
    "output_tokens": 9,
    "total_tokens": 49,
    "input_tokens_details": {"cached_tokens": 32},
    "output_tokens_details": {"reasoning_tokens": 6},
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(response(said("hi")), {"text": "hi", "finish_reason": "stop", "usage": Usage()}, id="a text"),
        pytest.param(
            response(said('{"calls"'), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            {"finish_reason": "length"},
            id="cut",
        ),
        pytest.param(
            response(said("x"), status="incomplete", incomplete_details={"reason": "content_filter"}),
            {"finish_reason": "refused"},
            id="stopped by a filter",
        ),
        pytest.param(response(said("No.", "refusal")), {"finish_reason": "refused"}, id="a refusal"),
        pytest.param(response(said("hi"), usage={}), {"usage": Usage()}, id="an empty usage"),
        pytest.param(
            response(said("hi"), usage={"input_tokens": 9}), {"usage": Usage(input_tokens=9)}, id="half a usage"
        ),
        pytest.param(
            response(said(""), usage={"input_tokens": 9, "output_tokens": 0}),
            {"usage": Usage(input_tokens=9, output_tokens=0)},
            id="nothing was written",
        ),
        pytest.param(response(CALL, status="in_progress"), {"finish_reason": "interrupted"}, id="not done"),
        pytest.param(response(CALL, status="failed"), {"finish_reason": "interrupted"}, id="failed"),
        pytest.param(response({**CALL, "status": "incomplete"}), {"finish_reason": "length"}, id="a call that was cut"),
        pytest.param(
            response(said("hi"), usage=USAGE),
            {"usage": Usage(input_tokens=40, output_tokens=9, cached_tokens=32, reasoning_tokens=6)},
            id="usage",
        ),
    ],
)
def test_what_a_reply_of_the_responses_api_says(answer: Answer, expected: dict[str, Any]) -> None:
    with serving(answer) as stub:
        reply = openai_model("small", base_url=stub.url, profile="openai-responses").reply(REQUEST)
    assert {name: getattr(reply, name) for name in expected} == expected


def test_a_call_of_the_responses_api_is_a_call() -> None:
    with serving(response(CALL)) as stub:
        reply = openai_model("small", base_url=stub.url, profile="openai-responses").reply(REQUEST)
    assert [(call.name, call.arguments) for call in reply.calls] == [("look_up", '{"loan": "L-1"}')]


@pytest.mark.parametrize("odd", [5, None, ["LEAKED-PHRASE"], {"a": "LEAKED-PHRASE"}])
def test_a_field_of_another_type_is_printed_nowhere(odd: Any) -> None:
    """In a process of its own: a test's runner has filters of its own."""
    probe = (
        "import sys; from graph.models.openai import openai_model; from state.request import ModelError\n"
        "from tests.graph.models.test_profiles import REQUEST\n"
        "try: openai_model('small', base_url=sys.argv[1], profile='openai-responses').reply(REQUEST)\n"
        "except ModelError as error: print(error.outcome.name)"
    )
    with serving(response({**CALL, "arguments": odd})) as stub:
        done = subprocess.run([sys.executable, "-c", probe, stub.url], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("model_error\n", "")


def test_reasoning_tokens_of_chat_completions_are_reported_apart() -> None:
    usage = {"prompt_tokens": 4, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 6}}
    with serving(completion({"content": "hi"}, usage=usage)) as stub:
        reply = openai_model("small", base_url=stub.url).reply(REQUEST)
    assert reply.usage == Usage(input_tokens=4, output_tokens=9, reasoning_tokens=6)


def test_without_a_name_the_address_decides() -> None:
    assert profile_of(None, None).name == "openai"
    assert profile_of(None, "https://api.openai.com/v1/").name == "openai"
    assert profile_of(None, "http://127.0.0.1:1/v1").name == "compatible"
    assert profile_of("vllm", None).name == "vllm"
