"""A chat model that plays a script: each call takes the next line, and a script that runs out is an error."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import JsonValue, PrivateAttr, SkipValidation

# A line may look at the request: the messages and the tool definitions that came with them.
Line = AIMessage | Callable[[list[BaseMessage], list[dict[str, Any]]], AIMessage]


class ScriptExhausted(Exception):
    """The model was called more often than its script has lines."""


def proposing(*calls: tuple[str, dict[str, JsonValue]], text: str = "") -> AIMessage:
    """The message of a model that calls tools or answer forms: `proposing(("look_up", {"id": "A-1"}))`.

    It gives its calls no ids: propose then makes some that no other call of the thread has.
    """
    return AIMessage(
        content=text,
        tool_calls=[{"name": name, "args": arguments, "id": None, "type": "tool_call"} for name, arguments in calls],
        response_metadata={"finish_reason": "tool_calls" if calls else "stop"},
    )


class Scripted(BaseChatModel):
    """Plays `lines` in order. `seen` holds the messages of every call, for tests to look at."""

    lines: SkipValidation[Sequence[Line]]
    seen: list[list[BaseMessage]] = []
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with its tools; a line that is a function gets to see them."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            number = len(self.seen)
            if number >= len(self.lines):
                raise ScriptExhausted(
                    f"call {number + 1} of a script with {len(self.lines)} lines: add a line, or find out why the run"
                    " asks once more than you expected"
                )
            self.seen.append(messages)
        line = self.lines[number]
        message = line if isinstance(line, AIMessage) else line(messages, kwargs.get("tools", []))
        return ChatResult(generations=[ChatGeneration(message=message.model_copy(deep=True))])
