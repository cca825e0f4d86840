"""A model that belongs to whoever wrote the data: it does all that any block tells it to, then goes on (X10).

No gate may rest on a model that resists. Tests run with this one, and with an attacker who knows every tool's name.
"""

import threading
from collections.abc import Iterator, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import Field, JsonValue, PrivateAttr

from graph.models.inprocess import InProcessModel, ToolDefinitions, proposing
from graph.models.offline import OfflineReader
from graph.models.orders import Order, orders
from graph.models.spoils import Spoils
from state.canonical import digest
from state.render import Block, blocks

# What the operator, our code or the user's own turn says is no attack; everything else is obeyed.
_NOT_DATA = frozenset({"user_turn", "state", "policy_value", "example", "capability", "decision"})


class Hijacked(InProcessModel):
    """Obeys each order once, whether or not the tool is offered; then `inner` replies.

    All new orders to call tools make one proposal, since that is the worst that a reply can do; a form stands alone,
    and is used where it is offered. `obeyed` lists the orders carried out, for tests.
    """

    tool_names: tuple[str, ...] = ()
    inner: InProcessModel = Field(default_factory=OfflineReader)
    obeyed: list[Order] = []
    _done: set[str] = PrivateAttr(default_factory=set)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "hijacked"

    def replying(self, messages: list[BaseMessage], tools: ToolDefinitions) -> AIMessage:
        """What the newest orders say, or the inner model's reply where there are none."""
        shown = [
            block for message in messages if isinstance(message, HumanMessage) for block in blocks(str(message.text))
        ]
        calls = self._obey(shown, Spoils(shown, tools))
        if calls:
            return proposing(*calls)
        return self.inner.replying(messages, tools)

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
