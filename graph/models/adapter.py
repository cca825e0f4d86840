"""Any LangChain chat model behind the Model port.

The one mapping of our channels to a provider's roles: durable instructions are the system message, data is the human
message, tools and answer forms are tool definitions. Nothing is parsed here: a reply carries the calls as written.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Context
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context
from pydantic import JsonValue, SecretStr

from graph.models.failures import failure
from graph.models.scripted import ScriptExhausted
from state.context import RequestSettings
from state.request import Message, RawCall, Reply, Request, ToolSpec, Usage

# LangGraph forwards the tokens of every model call to its stream, except of calls with this tag: nothing that was
# not validated leaves propose.
CONFIG: RunnableConfig = {"tags": ["nostream"]}

# A finish reason as OpenAI's protocol and Anthropic's name it.
_FINISH: Mapping[str, str] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refused",
    "refusal": "refused",
}

WriteSettings = Callable[[RequestSettings], dict[str, Any]]


def plain_settings(settings: RequestSettings) -> dict[str, Any]:
    """The settings under the names that most LangChain models take."""
    return {"max_tokens": settings.max_output_tokens, "temperature": settings.temperature}


class ChatModelAdapter:
    """Implements the Model port. `secrets` are masked, by value, in everything that an error says."""

    def __init__(
        self,
        model: BaseChatModel,
        name: str,
        *,
        secrets: Sequence[SecretStr] = (),
        settings: WriteSettings = plain_settings,
    ) -> None:
        self._model = model
        self._name = name
        self._secrets = tuple(secrets)
        self._settings = settings

    @property
    def name(self) -> str:
        """The model's name as records show it."""
        return self._name

    def reply(self, request: Request) -> Reply:
        """One model call. Raises ModelError with a typed outcome; nothing else."""
        try:
            bound = self._bound(request)
            with _apart() as context:
                message = context.run(
                    bound.invoke, _messages(request.messages), CONFIG, **self._settings(request.settings)
                )
            return _reply(message, self._name)
        except ScriptExhausted:
            raise  # the mistake of whoever wrote the script: no record may file it as a failure of the model
        except Exception as error:  # noqa: BLE001  # the port's law: whatever a provider raises becomes a ModelError
            failed = failure(error, self._secrets)
        # Raised outside the handler, so that no traceback shows the provider's exception, which may echo the key.
        raise failed

    async def areply(self, request: Request) -> Reply:
        """The same call without holding a thread."""
        try:
            bound = self._bound(request)
            with _apart() as context:
                call = bound.ainvoke(_messages(request.messages), CONFIG, **self._settings(request.settings))
                message = await asyncio.create_task(_awaited(call), context=context)
            return _reply(message, self._name)
        except ScriptExhausted:
            raise  # as above
        except Exception as error:  # noqa: BLE001  # as above
            failed = failure(error, self._secrets)
        raise failed

    def _bound(self, request: Request) -> Runnable[LanguageModelInput, AIMessage]:
        return self._model.bind_tools([_tool(spec) for spec in request.tools]) if request.tools else self._model


def _apart() -> AbstractContextManager[Context]:
    """A context in which a call inherits no callbacks: those of a client that streams "events" get whole replies."""
    return set_config_context({})


async def _awaited(call: Awaitable[AIMessage]) -> AIMessage:
    return await call


def _messages(messages: Sequence[Message]) -> list[BaseMessage]:
    return [
        SystemMessage(message.content) if message.channel == "instruction" else HumanMessage(message.content)
        for message in messages
    ]


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"type": "function", "function": spec.model_dump(mode="json")}


def _reply(message: AIMessage, name: str) -> Reply:
    reported = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return Reply.model_validate(
        {
            "text": str(message.text),
            "calls": _calls(message),
            "finish_reason": _finish_reason(message),
            "usage": _usage(message),
            "model": str(reported or name),
        }
    )


def _calls(message: AIMessage) -> tuple[RawCall, ...]:
    # LangChain keeps the text of a call only where it could not parse it: a parsed one is written again.
    parsed = [
        RawCall(call_id=call["id"], name=call["name"], arguments=json.dumps(call["args"], ensure_ascii=False))
        for call in message.tool_calls
    ]
    damaged = [
        RawCall(call_id=call["id"], name=call["name"] or "", arguments=call["args"] or "")
        for call in message.invalid_tool_calls
    ]
    return (*parsed, *damaged)


def _finish_reason(message: AIMessage) -> str:
    if message.additional_kwargs.get("refusal"):
        return "refused"
    metadata = message.response_metadata
    return _FINISH.get(str(metadata.get("finish_reason") or metadata.get("stop_reason")), "unknown")


def _usage(message: AIMessage) -> Usage:
    reported = message.usage_metadata
    if reported is None:
        return Usage()
    # LangChain fills a count that the server left out with 0; the raw report beside it tells the two apart.
    raw = message.response_metadata.get("token_usage")
    return Usage(
        input_tokens=_count(reported["input_tokens"], raw, "prompt_tokens"),
        output_tokens=_count(reported["output_tokens"], raw, "completion_tokens"),
        cached_tokens=reported.get("input_token_details", {}).get("cache_read"),
    )


def _count(filled: int, raw: JsonValue, name: str) -> int | None:
    if filled == 0 and isinstance(raw, dict) and raw.get(name) is None:
        return None
    return filled
