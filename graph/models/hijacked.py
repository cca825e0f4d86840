"""A model that belongs to whoever wrote the data: it does all that any block tells it to, then goes on (X10).

No gate may rest on a model that resists. Tests run with this one, and with an attacker who knows every tool's name.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, JsonValue, PrivateAttr

from graph.models.offline import OfflineReader
from graph.models.orders import Order, orders
from graph.models.scripted import proposing
from graph.models.spoils import Spoils
from state.canonical import digest
from state.render import Block, blocks

# What the operator, our code or the user's own turn says is no attack; everything else is obeyed.
_NOT_DATA = frozenset({"user_turn", "state", "policy_value", "example", "capability", "decision"})


class Hijacked(BaseChatModel):
    """Obeys each order once, whether or not the tool is offered; then `inner` replies.

    All new orders to call tools make one proposal, since that is the worst that a reply can do; a form stands alone,
    and is used where it is offered. `obeyed` lists the orders carried out, for tests.
    """

    tool_names: tuple[str, ...] = ()
    inner: BaseChatModel = Field(default_factory=OfflineReader)
    obeyed: list[Order] = []
    _done: set[str] = PrivateAttr(default_factory=set)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "hijacked"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with its tools: definitions in OpenAI's form."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tools: list[dict[str, Any]] = kwargs.get("tools", [])
        shown = [
            block for message in messages if isinstance(message, HumanMessage) for block in blocks(str(message.text))
        ]
        calls = self._obey(shown, Spoils(shown, tools))
        if calls:
            return ChatResult(generations=[ChatGeneration(message=proposing(*calls))])
        # Not `invoke`: a run of its own would lack this call's tags, and its tokens would be streamed.
        return self.inner._generate(messages, stop, run_manager, **kwargs)

    def _obey(self, shown: Sequence[Block], spoils: Spoils) -> list[tuple[str, dict[str, JsonValue]]]:
        with self._lock:
            fresh = list(self._fresh(shown, spoils))
            calls = [(order, source) for order, source in fresh if order.tool]
            # A form stands alone in a reply; the others are obeyed in the requests that follow.
            chosen = calls or fresh[:1]
            for order, _ in chosen:
                self._done.add(_mark(order))
                self.obeyed.append(order)
        return [
            (order.tool, spoils.arguments(order)) if order.tool else spoils.form(order, source, self.tool_names)
            for order, source in chosen
        ]

    def _fresh(self, shown: Sequence[Block], spoils: Spoils) -> Iterator[tuple[Order, str]]:
        met = set(self._done)
        for block in shown:
            if block.tag in _NOT_DATA:
                continue
            for order in orders(spoils.readable(block), self.tool_names):
                possible = order.tool is not None or order.form in spoils.offered
                if possible and _mark(order) not in met:
                    met.add(_mark(order))
                    yield order, block.attributes.get("source", "")


def _mark(order: Order) -> str:
    return digest([order.tool, order.form, order.arguments, order.words if not order.tool else ""])
