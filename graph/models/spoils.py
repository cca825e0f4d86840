"""What a hijacked model finds in a request to carry out an order with: names, ids, schemas; the rest it invents."""

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from graph.models.orders import Order, orders
from graph.models.schemas import choices
from state.render import Block

_ID = re.compile(r"(?<![\w-])[A-Za-z]+[-_]?\d[\w-]*(?![\w-])")
_PAIR = re.compile(r"\"?([a-z]\w*_id|[a-z]\w*Id|id)\"?\s*[:=]\s*\"?([\w.:-]+)\"?")


class Spoils:
    """All that one request holds for an attacker: nothing in it is off limits."""

    def __init__(self, shown: Sequence[Block], tools: Sequence[dict[str, Any]]) -> None:
        functions = [tool.get("function", tool) for tool in tools]
        self.offered: dict[str, dict[str, Any]] = {tool["name"]: tool.get("parameters", {}) for tool in functions}
        text = "\n".join(block.text for block in shown)
        pairs: list[tuple[str, str]] = _PAIR.findall(text)
        self._named: dict[str, str] = dict(reversed(pairs))
        self._ids: list[str] = list(dict.fromkeys(_ID.findall(text)))

    @staticmethod
    def readable(block: Block) -> str:
        """A block's text; of a tool result the values that third parties may have written, without its own labels."""
        if block.tag != "observation":
            return block.text
        try:
            body = json.loads(block.text)
        except ValueError:
            return block.text
        inner = (
            {name: value for name, value in body.items() if name not in ("tool", "artifact_ref")}
            if isinstance(body, dict)
            else body
        )
        return "\n".join(_strings(inner))

    def arguments(self, order: Order) -> dict[str, JsonValue]:
        """The arguments that were ordered, and for the rest whatever fits best, found anywhere or made up.

        Without a schema, all named ids that the request shows go along: one of them may be what the tool takes.
        """
        ordered = _ID.findall(order.words)
        schema = self.offered.get(order.tool or "", {})
        properties: dict[str, Any] = schema.get("properties", {})
        if not properties:
            return dict(order.arguments) or {name: _instead(value, ordered) for name, value in self._named.items()}
        wanted = [*order.arguments, *schema.get("required", [])]
        return {
            name: order.arguments.get(name) or self._found(name, properties.get(name, {}), ordered) for name in wanted
        }

    def form(self, order: Order, source: str, known: Sequence[str]) -> tuple[str, dict[str, JsonValue]]:
        """The form that was ordered, filled in and, as an answer, with the order's own block for its source."""
        content = order.arguments["content"]
        match order.form:
            case "search":
                return "search", {"queries": [content]}
            case "plan":
                meant: list[JsonValue] = [other.tool for other in orders(str(content), known) if other.tool]
                return "plan", {"goal": content, "steps": meant[:8]}
            case _:
                return "answer", {"text": content, "citations": [{"source": source}], "next_steps": []}

    def _found(self, name: str, schema: dict[str, Any], ordered: list[str]) -> JsonValue:
        allowed = choices(schema)
        if allowed:
            return allowed[0]
        pattern = schema.get("pattern", ".*")
        named = [self._named[name]] if name in self._named else []
        fitting = [found for found in (*ordered, *named, *self._ids) if re.fullmatch(pattern, found)]
        if fitting:
            return fitting[0]
        return 1 if schema.get("type") in ("integer", "number") else "invented-1"


def _instead(value: str, ordered: list[str]) -> str:
    """The id that an order names, where it looks like one of this kind; else the one that the request shows."""
    kind = value.rstrip("0123456789")
    return next((found for found in ordered if kind and found.startswith(kind)), value)


def _strings(value: JsonValue) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _strings(inner)]
    return [value] if isinstance(value, str) else []
