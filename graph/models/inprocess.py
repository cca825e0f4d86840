"""Chat models that answer in this process, without a provider: the shared end of LangChain's interface."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import JsonValue

ToolDefinitions = list[dict[str, Any]]
"""Tools as they come with a request, in OpenAI's form."""


class InProcessModel(BaseChatModel):
    """A chat model that is one function of messages and tool definitions."""

    @abstractmethod
    def replying(self, messages: list[BaseMessage], tools: ToolDefinitions) -> AIMessage:
        """The reply to a request."""

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with its tools."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = self.replying(messages, kwargs.get("tools", []))
        return ChatResult(generations=[ChatGeneration(message=message)])


def proposing(*calls: tuple[str, dict[str, JsonValue]], text: str = "") -> AIMessage:
    """The message of a model that calls tools or answer forms: `proposing(("look_up", {"id": "A-1"}))`.

    It gives its calls no ids: propose then makes some that no other call of the thread has.
    """
    return AIMessage(
        content=text,
        tool_calls=[{"name": name, "args": arguments, "id": None, "type": "tool_call"} for name, arguments in calls],
        response_metadata={"finish_reason": "tool_calls" if calls else "stop"},
    )
