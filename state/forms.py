"""The answer forms as the model sees them: every proposal that is not a call of a domain tool (L5)."""

from typing import Any

from state.request import ToolSpec
from state.work import Form


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXTS = {"type": "array", "items": {"type": "string"}}

FORMS: dict[Form, ToolSpec] = {
    Form.ANSWER: ToolSpec(
        name=Form.ANSWER,
        description="Answer the user. Cite the source of every claim exactly as its block names it.",
        parameters=_object(
            ["text", "citations"],
            text={"type": "string"},
            citations={"type": "array", "items": _object(["source"], source={"type": "string"})},
            next_steps=_TEXTS,
        ),
    ),
    Form.SEARCH: ToolSpec(
        name=Form.SEARCH,
        description="Ask for more evidence on one to four short queries before deciding.",
        parameters=_object(["queries"], queries={**_TEXTS, "minItems": 1, "maxItems": 4}),
    ),
    Form.SEARCH_TOOLS: ToolSpec(
        name=Form.SEARCH_TOOLS,
        description="Look for a tool that is not among the offered ones: say what it should do. The next decision "
        "offers what is found.",
        parameters=_object(["query"], query={"type": "string", "minLength": 1, "maxLength": 500}),
    ),
    Form.PLAN: ToolSpec(
        name=Form.PLAN,
        description="Ask to make a change that the offered tools cannot make. Name the goal; where capabilities are "
        "shown, name the steps in order.",
        parameters=_object(["goal"], goal={"type": "string"}, steps={**_TEXTS, "maxItems": 8}),
    ),
    Form.CLARIFY: ToolSpec(
        name=Form.CLARIFY,
        description="Ask the user one question, where the request does not say what is needed.",
        parameters=_object(["question"], question={"type": "string"}, options=_TEXTS),
    ),
    Form.ESCALATE: ToolSpec(
        name=Form.ESCALATE,
        description="Hand over to a person, saying why and what is missing.",
        parameters=_object(["reason"], reason={"type": "string"}, missing=_TEXTS),
    ),
}
