"""What a server's tool brought, as a result of the house: what failed, what is text, what does not agree (S8)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from graph.mcp.fault import FaultCode
from state.mcp import ServerTool
from state.tools import Result, ToolError, Warned
from state.value import Value

TEXT, MEDIA = "text", "media"
DISAGREE, MEDIA_LEFT_OUT, LINKS_LEFT_OUT = "content_disagrees", "media_left_out", "links_left_out"


class Part(Value):
    """A part of an answer: `text`, or of what is none the kind alone (`image/png`, how many bytes), or a link."""

    text: str | None = None
    media_type: str | None = None
    size_bytes: int = 0


class Answer(Value):
    """An answer as it came. `structured` is None where there was none."""

    parts: tuple[Part, ...]
    structured: JsonValue = None
    is_error: bool = False


def result_of(answer: Answer, tool: ServerTool) -> Result | Warned:
    """The result, for the projection by the contract. Raises ToolError where the server says that the call failed.

    Structured content is the result, a list in its field `rows` where the tool names one. Without any, text is: as the
    field `text` where the contract has it, else as the JSON that stands there. Of images and other bytes the type and
    the size are shown, in the field `media` where the contract has it; what stands behind a link is not fetched.
    """
    if answer.is_error:
        raise ToolError(FaultCode.REPORTED.value)
    fields = {field.name for field in tool.output}
    texts = [part.text for part in answer.parts if part.text is not None]
    media = [part for part in answer.parts if part.text is None and part.media_type is not None]
    warnings = []
    if any(part.text is None and part.media_type is None for part in answer.parts):
        warnings.append(LINKS_LEFT_OUT)
    if answer.structured is None:
        result = _of_texts(texts, fields)
    else:
        result = answer.structured
        if not agree(texts, answer.structured):
            warnings.append(DISAGREE)
        if tool.rows is not None and isinstance(result, dict):
            result = result.get(tool.rows)
        if TEXT in fields and isinstance(result, dict) and TEXT not in result:
            result = {**result, TEXT: "\n".join(texts)}
    if media and MEDIA in fields and isinstance(result, dict | None):
        shown: list[JsonValue] = [{"media_type": part.media_type, "bytes": part.size_bytes} for part in media]
        result = {**(result or {}), MEDIA: shown}
    elif media:
        warnings.append(MEDIA_LEFT_OUT)
    given: Any = result  # what is no object, no list of objects and no text is refused where it is projected
    return Warned(given, tuple(warnings)) if warnings else given


def agree(texts: Sequence[str], structured: JsonValue) -> bool:
    """Whether the text says what the structured content says. Prose is not compared: only JSON beside JSON is.

    A server may write its texts as the whole, or as what the one field of the whole holds, or one by one as its rows.
    """
    said = [_parsed(text) for text in texts]
    if not said or any(isinstance(one, _Prose) for one in said):
        return True
    within = next(iter(structured.values())) if isinstance(structured, Mapping) and len(structured) == 1 else structured
    return any(
        _same(one, whole) for one in (said[0] if len(said) == 1 else said, said) for whole in (structured, within)
    )


class _Prose:
    """A text that is no JSON."""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _Prose()


def _same(one: Any, other: Any) -> bool:
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except (ValueError, RecursionError):
        return False


def _of_texts(texts: Sequence[str], fields: set[str]) -> JsonValue:
    text = "\n".join(texts)
    if not text:
        return None
    if TEXT in fields:
        return {TEXT: text}
    parsed = _parsed(text)
    if isinstance(parsed, dict) or (isinstance(parsed, list) and all(isinstance(row, dict) for row in parsed)):
        found: JsonValue = parsed
        return found
    return text
