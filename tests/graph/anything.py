"""A model that proposes whatever chance says: any proposal meets the gates, any reply the record."""

import json
from collections import Counter
from random import Random
from typing import Any

from state.request import AttemptOutcome, ModelError, RawCall, Reply, Request, ToolSpec
from state.work import Form

VALUES: tuple[Any, ...] = ("A1", "A2", "B7", "INV-9", "vendor", 20, 250, -1, True, None, ["A1"], "x" * 300)
FAILURES: tuple[Any, ...] = ("context_too_long", "unreachable", "refused", "truncated")
WRITES = ("refund", "pay", "send_note")
FORMS: dict[str, Any] = {
    Form.ANSWER: {"text": "That is all.", "citations": []},
    Form.CLARIFY: {"question": "Which one?"},
    Form.ESCALATE: {"reason": "Too hard."},
    Form.SEARCH: {"queries": ["orders"]},
}


class Anything:
    """Keeps the bytes of every request it was sent, and the steps of the plans it proposed where no tool was offered.

    An `eager` one makes straight for effects, where chance alone would seldom get.
    """

    name = "anything"

    def __init__(self, chance: Random, eager: bool = False) -> None:
        self.chance, self.eager = chance, eager
        self.sent: list[bytes] = []
        self.planned: Counter[str] = Counter()

    def reply(self, request: Request) -> Reply:
        self.sent.append(request.canonical_bytes())
        if self.chance.random() < 0.1 or not request.tools:  # which a manifest written from outside may bring about
            raise ModelError(AttemptOutcome(name=self.chance.choice(FAILURES)))
        count = self.chance.choice((1, 1, 1, 2))
        tools = [tool for tool in request.tools if tool.name not in FORMS and tool.name != Form.PLAN]
        calls: tuple[RawCall, ...]
        if self.chance.random() < 0.05:
            calls = (RawCall(call_id=None, name="no_such_tool", arguments="{"),)
        elif tools and self.chance.random() < self._acting(tools):
            calls = tuple(self._call(self._tool(tools)) for _ in range(count))
        else:
            # A plan is what leads to effects: without a push chance would seldom get there.
            forms = [tool for tool in request.tools if tool not in tools]
            push = 0.95 if self.eager else 0.6
            likely = [tool for tool in forms if tool.name == Form.PLAN and self.chance.random() < push]
            # A lap written from outside may offer no form.
            calls = (self._call(self.chance.choice(likely or forms or tools)),)
        if not tools and calls[0].name == Form.PLAN:
            self.planned.update(json.loads(calls[0].arguments).get("steps", ()))
        return Reply(text="", calls=calls, finish_reason="tool_calls", model=self.name)

    async def areply(self, request: Request) -> Reply:
        return self.reply(request)

    def _acting(self, tools: list[ToolSpec]) -> float:
        """How likely a tool is called: where none writes, an eager model plans first."""
        if not self.eager:
            return 0.5
        return 0.9 if any(tool.name in WRITES for tool in tools) else 0.1

    def _tool(self, tools: list[ToolSpec]) -> ToolSpec:
        writes = [tool for tool in tools if tool.name in WRITES]
        return self.chance.choice(writes if self.eager and writes else tools)

    def _call(self, tool: ToolSpec) -> RawCall:
        if tool.name == Form.PLAN:
            steps = self.chance.choices(
                ("refund", "pay", "send_note", "wipe"), (4, 3, 2, 1), k=self.chance.randrange(4)
            )
            given: dict[str, Any] = {"goal": "as asked", "steps": steps}
        elif tool.name in FORMS:
            given = FORMS[tool.name]
        else:
            parameters: Any = tool.parameters.get("properties", {})
            given = {
                name: self._value(name, schema) for name, schema in parameters.items() if self.chance.random() < 0.97
            }
        return RawCall(call_id=None, name=tool.name, arguments=json.dumps(given))

    def _value(self, name: str, schema: dict[str, Any]) -> Any:
        if self.chance.random() < 0.1:
            return self.chance.choice(VALUES)
        if schema.get("type") in ("number", "integer"):
            return self.chance.choice((20, 150, 250))
        return {"id": "INV-9", "order": "A1"}.get(name, "vendor")
