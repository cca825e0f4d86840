"""Calls as the server wrote them, whichever of OpenAI's protocols it speaks, and how a reply says that it ended."""

import pytest

from graph.models.openai import openai_model
from state.request import RawCall
from tests.graph.models.stub_server import completion, serving, tool_call
from tests.graph.models.test_openai import BOTH, Way, a_request, model
from tests.graph.models.test_profiles import CALL, REQUEST, response


def test_damaged_calls_keep_their_text_beside_whole_ones() -> None:
    calls = [
        tool_call("look_up", '{"loan": "L-'),
        tool_call("look_up", '{"loan": "L-2"}', None),
        tool_call("open", "{"),
    ]
    with serving(completion({"tool_calls": calls}, "tool_calls")) as stub:
        reply = model(stub.url).reply(a_request())
    assert {(call.name, call.arguments) for call in reply.calls} == {
        ("look_up", '{"loan": "L-'),
        ("look_up", '{"loan": "L-2"}'),
        ("open", "{"),
    }


WRITTEN = ['{"loan": "L-1", "loan": "L-2"}', "[]", "null", "0", '""', '{ "loan":"L-1" }', '{"loan": "L\n1"}']


@BOTH
@pytest.mark.parametrize("arguments", WRITTEN)
def test_a_calls_arguments_come_as_the_server_wrote_them(ask: Way, arguments: str) -> None:
    with serving(completion({"tool_calls": [tool_call("look_up", arguments)]}, "tool_calls")) as stub:
        reply = ask(model(stub.url), a_request())
    assert reply.calls == (RawCall(call_id="call_1", name="look_up", arguments=arguments),)


def test_calls_that_cannot_be_read_stand_among_the_others_in_order() -> None:
    calls = [tool_call("first", "{"), tool_call("second", "{}"), tool_call("third", None)]
    with serving(completion({"tool_calls": calls}, "tool_calls")) as stub:
        reply = model(stub.url).reply(a_request())
    assert [(call.name, call.arguments) for call in reply.calls] == [("first", "{"), ("second", "{}"), ("third", "")]


@pytest.mark.parametrize("arguments", ['{"loan": "L-1", "loan": "L-2"}', '{"loan": ', '{ "loan":"L-1" }', ""])
def test_a_calls_arguments_come_as_the_responses_api_wrote_them(arguments: str) -> None:
    with serving(response(CALL, {**CALL, "call_id": "c-2", "arguments": arguments})) as stub:
        reply = openai_model("small", base_url=stub.url, profile="openai-responses").reply(REQUEST)
    assert [(call.call_id, call.arguments) for call in reply.calls] == [("c-1", CALL["arguments"]), ("c-2", arguments)]


@pytest.mark.parametrize(
    ("named", "finish_reason"),
    [
        ("LENGTH", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("SAFETY", "refused"),
        ("STOP", "stop"),
        ("error", "interrupted"),
        ("abort", "interrupted"),
        ("insufficient_system_resource", "interrupted"),
        ("paused", "unknown"),
    ],
)
def test_a_finish_reason_is_known_by_the_names_that_servers_give_it(named: str, finish_reason: str) -> None:
    with serving(completion({"content": "hi"}, named)) as stub:
        assert model(stub.url).reply(a_request()).finish_reason == finish_reason
