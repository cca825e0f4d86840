"""A chat model that plays a script: each call takes the next line, and a script that runs out is an error."""

import threading
from collections.abc import Callable, Sequence

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr, SkipValidation

from graph.models.inprocess import InProcessModel, ToolDefinitions

# A line may look at the request: the messages and the tool definitions that came with them.
Line = AIMessage | Callable[[list[BaseMessage], ToolDefinitions], AIMessage]


class ScriptExhausted(Exception):
    """The model was called more often than its script has lines."""


class Scripted(InProcessModel):
    """Plays `lines` in order. `seen` holds the messages of every call, for tests to look at."""

    lines: SkipValidation[Sequence[Line]]
    seen: list[list[BaseMessage]] = []
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def replying(self, messages: list[BaseMessage], tools: ToolDefinitions) -> AIMessage:
        """The next line. Raises ScriptExhausted."""
        with self._lock:
            number = len(self.seen)
            if number >= len(self.lines):
                raise ScriptExhausted(
                    f"call {number + 1} of a script with {len(self.lines)} lines: add a line, or find out why the run"
                    " asks once more than you expected"
                )
            self.seen.append(messages)
        line = self.lines[number]
        message = line if isinstance(line, AIMessage) else line(messages, tools)
        return message.model_copy(deep=True)
