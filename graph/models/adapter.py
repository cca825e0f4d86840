"""Any LangChain chat model behind the Model port.

Durable instructions are the system message, data is the human message, tools and answer forms are tool definitions;
what a provider calls them otherwise is its writing's (graph.models.openai). Nothing is parsed here: a reply carries the
calls as written.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Context
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context
from langsmith import tracing_context
from pydantic import JsonValue, SecretStr

from graph.masking import masked as said
from graph.models.failures import failure, masked
from graph.models.scripted import ScriptExhausted
from state.checks.hidden import visible
from state.request import RawCall, Reply, Request, ToolSpec, Usage

# LangGraph forwards the tokens of every model call to its stream, except of calls with this tag: nothing that was
# not validated leaves propose.
CONFIG: RunnableConfig = {"tags": ["nostream"]}

Bound = Runnable[LanguageModelInput, AIMessage]
"""A chat model with its tools."""

WRITTEN_CALLS = "tool_calls"
"""Where clients of OpenAI's protocol keep the calls as the server sent them, among a message's additional_kwargs."""

# A finish reason, in small letters, as OpenAI's protocols, Anthropic's and Gemini's name it, and servers that speak the
# first in words of their own.
_FINISH: Mapping[str, str] = {
    name: meant
    for meant, names in {
        "stop": ("stop", "end_turn", "stop_sequence", "completed"),
        "tool_calls": ("tool_calls", "function_call", "tool_use"),
        "length": ("length", "max_tokens", "model_length", "max_output_tokens"),
        "refused": ("content_filter", "refusal", "safety", "recitation", "prohibited_content"),
        "interrupted": (
            *("error", "abort", "failed", "cancelled", "in_progress", "queued"),
            *("insufficient_system_resource", "malformed_function_call"),
        ),
    }.items()
    for name in names
}
_LONGEST_NAME = 128  # characters of a model's name
_INCOMPLETE: Mapping[str, str] = {"max_output_tokens": "length", "content_filter": "refused"}


class Writing(Protocol):
    """A request in a provider's words."""

    @property
    def tool_choice(self) -> str | None:
        """What goes with tools, where it is not left to the server."""
        ...

    def messages(self, request: Request) -> list[BaseMessage]: ...

    def settings(self, request: Request) -> dict[str, Any]:
        """What goes with the messages, by keyword: the form of the reply, limits."""
        ...


class PlainWriting:
    """The words that most LangChain models take. A form of the reply is asked for in the instructions alone."""

    tool_choice = None

    def messages(self, request: Request) -> list[BaseMessage]:
        """Channels as roles; a model class makes its provider's out of them."""
        return [
            SystemMessage(message.content) if message.channel == "instruction" else HumanMessage(message.content)
            for message in request.messages
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        """The output limit and the temperature."""
        return {"max_tokens": request.settings.max_output_tokens, "temperature": request.settings.temperature}


class ChatModelAdapter:
    """Implements the Model port. `secrets` are masked, by value, in everything that an error says."""

    def __init__(
        self,
        model: BaseChatModel,
        name: str,
        *,
        secrets: Sequence[SecretStr] = (),
        writing: Writing | None = None,
    ) -> None:
        self._model = model
        self._name = name
        self._secrets = tuple(secrets)
        self._writing = writing or PlainWriting()

    @property
    def name(self) -> str:
        """The model's name as records show it."""
        return self._name

    def reply(self, request: Request) -> Reply:
        """One model call. Raises ModelError with a typed outcome; nothing else."""
        try:
            bound, messages, settings = self._bound(request), *self._written(request)
            with _apart() as context:
                message = context.run(_invoked, bound, messages, settings)
            return _reply(message, self._name, self._secrets)
        except ScriptExhausted:
            raise  # the mistake of whoever wrote the script: no record may file it as a failure of the model
        except Exception as error:  # noqa: BLE001  # the port's law: whatever a provider raises becomes a ModelError
            failed = failure(error, self._secrets)
        # Raised outside the handler, so that no traceback shows the provider's exception, which may echo the key.
        raise failed

    async def areply(self, request: Request) -> Reply:
        """The same call without holding a thread."""
        try:
            bound, messages, settings = self._bound(request), *self._written(request)
            with _apart() as context:
                message = await asyncio.create_task(_ainvoked(bound, messages, settings), context=context)
            return _reply(message, self._name, self._secrets)
        except ScriptExhausted:
            raise  # as above
        except Exception as error:  # noqa: BLE001  # as above
            failed = failure(error, self._secrets)
        raise failed

    def _written(self, request: Request) -> tuple[list[BaseMessage], dict[str, Any]]:
        return self._writing.messages(request), self._writing.settings(request)

    def _bound(self, request: Request) -> Bound:
        if not request.tools:
            return self._model
        choice = {} if self._writing.tool_choice is None else {"tool_choice": self._writing.tool_choice}
        return self._model.bind_tools([_tool(spec) for spec in request.tools], **choice)


def _apart() -> AbstractContextManager[Context]:
    """A context in which a call inherits no callbacks: those of a client that streams "events" get whole replies."""
    return set_config_context({})


def _invoked(bound: Bound, messages: list[BaseMessage], settings: dict[str, Any]) -> AIMessage:
    # A tracer of the environment would be given the whole request and the reply before anybody validated it.
    with tracing_context(enabled=False):
        return bound.invoke(messages, CONFIG, **settings)


async def _ainvoked(bound: Bound, messages: list[BaseMessage], settings: dict[str, Any]) -> AIMessage:
    with tracing_context(enabled=False):  # as above
        return await bound.ainvoke(messages, CONFIG, **settings)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"type": "function", "function": spec.model_dump(mode="json")}


def _reply(message: AIMessage, name: str, secrets: Sequence[SecretStr]) -> Reply:
    reported = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return Reply.model_validate(
        {
            "text": str(message.text),
            "calls": _calls(message),
            "finish_reason": _finish_reason(message),
            "usage": _usage(message),
            "model": _told_name(str(reported or name), secrets),
        }
    )


def _told_name(reported: str, secrets: Sequence[SecretStr]) -> str:
    """A model's name for records, traces and the screen: the server may have written anything, the key it was sent
    too. Cut after it is masked, else half a key would stay."""
    seen = said(masked(visible(reported), secrets))
    return seen if len(seen) <= _LONGEST_NAME else f"{seen[:_LONGEST_NAME]}..."


def _calls(message: AIMessage) -> tuple[RawCall, ...]:
    written = [
        RawCall(call_id=call_id, name=name or "", arguments=arguments or "")
        for call_id, name, arguments in _written_calls(message)
        if isinstance(arguments, str | None)
    ]
    if len(written) == len(message.tool_calls) + len(message.invalid_tool_calls):
        return tuple(written)
    # The client keeps the text of a call only where it could not parse it: a parsed one is written again.
    parsed = [
        RawCall(call_id=call["id"], name=call["name"], arguments=json.dumps(call["args"], ensure_ascii=False))
        for call in message.tool_calls
    ]
    damaged = [
        RawCall(call_id=call["id"], name=call["name"] or "", arguments=call["args"] or "")
        for call in message.invalid_tool_calls
    ]
    return (*parsed, *damaged)


def _written_calls(message: AIMessage) -> Iterator[tuple[Any, Any, Any]]:
    """Id, name and arguments of each call as the server wrote it, where the client kept that: beside the message, or
    with the responses API among its parts."""
    for call in message.additional_kwargs.get(WRITTEN_CALLS) or ():
        match call:
            case {"function": {"name": name, "arguments": arguments}}:
                yield call.get("id"), name, arguments
    for block in message.content:
        if isinstance(block, dict) and block.get("type") == "function_call":
            yield block.get("call_id"), block.get("name"), block.get("arguments")


def _finish_reason(message: AIMessage) -> str:
    if message.additional_kwargs.get("refusal"):
        return "refused"
    if any(isinstance(block, dict) and block.get("type") == "refusal" for block in message.content):
        return "refused"
    if any(isinstance(block, dict) and block.get("status") == "incomplete" for block in message.content):
        return "length"
    metadata = message.response_metadata
    if metadata.get("status") == "incomplete":  # OpenAI's responses API, which has no finish reason
        why = metadata.get("incomplete_details")
        return _INCOMPLETE.get(str(why.get("reason") if isinstance(why, dict) else None), "length")
    reason = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("status")
    return _FINISH.get(str(reason).casefold(), "unknown")


def _usage(message: AIMessage) -> Usage:
    reported = message.usage_metadata
    if reported is None:
        return Usage()
    # LangChain fills a count that the server left out with 0; the raw report beside it tells the two apart.
    raw = message.response_metadata.get("token_usage")
    return Usage(
        input_tokens=_count(reported["input_tokens"], raw, "prompt_tokens", could_be_none=False),
        output_tokens=_count(
            reported["output_tokens"], raw, "completion_tokens", could_be_none=not (message.text or _calls(message))
        ),
        cached_tokens=_detail(reported.get("input_token_details", {}), "cache_read"),
        reasoning_tokens=_detail(reported.get("output_token_details", {}), "reasoning"),
    )


def _detail(details: Mapping[str, Any], name: str) -> int | None:
    """A count by its name, before which LangChain writes the service tier where the server reports one."""
    return next((count for key, count in details.items() if key == name or key.endswith(f"_{name}")), None)


def _count(filled: int, raw: JsonValue, name: str, *, could_be_none: bool) -> int | None:
    """A count, null where it was filled in. Without a raw report that is one of zero where zero cannot be."""
    if filled == 0 and (raw.get(name) is None if isinstance(raw, dict) else not could_be_none):
        return None
    return filled
