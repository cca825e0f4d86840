"""The adapter around any chat model: what it hands on, what it hands back, what it lets through."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import ContextOverflowError, ModelRefusalError, ModelTimeoutError
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import proposing
from graph.models.scripted import Scripted, ScriptExhausted
from state.request import ModelError, RawCall, Usage
from tests.graph.models.rendered import Working


class Watching(BaseCallbackHandler):
    """Notes the tags of every model call."""

    def __init__(self) -> None:
        self.tags: list[list[str]] = []

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.tags.append(tags or [])


def test_a_model_is_called_with_the_tag_nostream() -> None:
    watching = Watching()
    adapter = ChatModelAdapter(Scripted(lines=[proposing(), proposing()], callbacks=[watching]), "scripted")
    adapter.reply(Working("Hi").request())
    asyncio.run(adapter.areply(Working("Hi").request()))
    assert watching.tags == [["nostream"], ["nostream"]]


def test_channels_become_roles() -> None:
    script = Scripted(lines=[proposing()])
    request = Working("Where is my book?").request()
    ChatModelAdapter(script, "scripted").reply(request)
    instruction, data = request.messages
    assert script.seen == [[SystemMessage(instruction.content), HumanMessage(data.content)]]


def test_tools_and_settings_are_bound() -> None:
    seen: dict[str, Any] = {}

    class Keyword(Scripted):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            seen.update(kwargs)
            return super()._generate(messages, *args, **kwargs)

    request = Working("Hi").request()
    ChatModelAdapter(Keyword(lines=[proposing()]), "scripted").reply(request)
    assert [tool["function"]["name"] for tool in seen["tools"]] == [tool.name for tool in request.tools]
    assert (seen["max_tokens"], seen["temperature"]) == (500, 0.0)


def test_a_reply_keeps_whole_and_damaged_calls() -> None:
    message = AIMessage(
        "on it",
        tool_calls=[{"name": "a", "args": {"título": "ñ"}, "id": None}],
        invalid_tool_calls=[{"type": "invalid_tool_call", "name": None, "args": '{"x": ', "id": "c2", "error": "cut"}],
    )
    reply = ChatModelAdapter(Scripted(lines=[message]), "scripted").reply(Working("Hi").request())
    assert reply.calls == (
        RawCall(call_id=None, name="a", arguments='{"título": "ñ"}'),
        RawCall(call_id="c2", name="", arguments='{"x": '),
    )
    assert (reply.text, reply.finish_reason, reply.usage, reply.model) == ("on it", "unknown", Usage(), "scripted")


@pytest.mark.parametrize(
    ("metadata", "finish_reason"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "tool_calls"}, "tool_calls"),
        ({"stop_reason": "tool_use"}, "tool_calls"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "refusal"}, "refused"),
        ({"finish_reason": None}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_finish_reasons_of_several_providers(metadata: dict[str, Any], finish_reason: str) -> None:
    message = AIMessage("x", response_metadata=metadata)
    reply = ChatModelAdapter(Scripted(lines=[message]), "scripted").reply(Working("Hi").request())
    assert reply.finish_reason == finish_reason


def test_blocks_of_reasoning_are_not_the_text() -> None:
    message = AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Yes."}])
    assert ChatModelAdapter(Scripted(lines=[message]), "scripted").reply(Working("Hi").request()).text == "Yes."


class Unreachable(Exception):
    """An exception of some other provider, known by its status alone."""

    status_code = 503


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (ModelTimeoutError(), "unreachable"),
        (ConnectionResetError(), "unreachable"),
        (TimeoutError(), "unreachable"),
        (Unreachable(), "unreachable"),
        (ContextOverflowError(), "context_too_long"),
        (ModelRefusalError(), "refused"),
        (ValueError("unauthorised 401 context_length_exceeded"), "model_error"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_exceptions_of_any_provider_are_typed(raised: Exception, outcome: str) -> None:
    def line(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        raise raised

    with pytest.raises(ModelError) as caught:
        ChatModelAdapter(Scripted(lines=[line]), "scripted").reply(Working("Hi").request())
    assert caught.value.outcome.name == outcome


def test_a_script_plays_in_order_and_its_end_is_no_failure_of_the_model() -> None:
    def asks_back(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        return proposing(("clarify", {"question": f"{len(tools)} tools?"}))

    adapter = ChatModelAdapter(Scripted(lines=[proposing(("look_up", {"id": "A-1"})), asks_back]), "scripted")
    request = Working("Hi").request()
    assert adapter.reply(request).calls == (RawCall(call_id=None, name="look_up", arguments='{"id": "A-1"}'),)
    assert adapter.reply(request).calls[0].arguments == '{"question": "6 tools?"}'
    with pytest.raises(ScriptExhausted, match="call 3 of a script with 2 lines"):
        adapter.reply(request)
    with pytest.raises(ScriptExhausted, match="call 3"):
        asyncio.run(adapter.areply(request))
