"""A LangChain tool under a contract (S7): what it takes is closed, what it brings is projected, and it gets no run."""

import asyncio
import json
import re
from collections.abc import Mapping
from contextvars import Context
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools import Tool as SingleInputTool
from langsmith import tracing_context
from pydantic import BaseModel, ValidationError
from typing_extensions import Unpack

from state.checks.hidden import unseen
from state.checks.schema import SchemaRefused, check_closed
from state.contract import Effect, OutputField, ToolContract
from state.tools import Result, Terms, Tool, ToolContext, ToolError, ToolFunction, closed_parameters, snake_name

TOOL_EXCEPTION = "tool_exception"
ARGUMENTS_REFUSED = "arguments_refused"

_NAME = re.compile(r"[a-z][a-z0-9_]{2,63}")
_VARIADIC = ("args", "kwargs")  # what LangChain makes of *args and **kwargs: anything may stand in them


class ToolNotContracted(ValueError):
    """A LangChain tool that no contract fits. The text says what was got, what is allowed, and what to do."""


def contracted(
    lc_tool: BaseTool,
    *,
    effect: Effect,
    roles: tuple[str, ...],
    output: tuple[OutputField, ...],
    read_back: ToolFunction | None = None,
    **terms: Unpack[Terms],
) -> Tool:
    """A Tool of the house that runs a LangChain tool: parameters are its `args_schema`, unknown ones forbidden.

    It is called without the run's callbacks, configuration and state, and without tracing. What raises ToolException
    fails with the code `tool_exception`, arguments that its own validators refuse with `arguments_refused`; `failures`
    may say more of both. Text comes back as the field `text`, of `content_and_artifact` tools beside the artifact's
    fields; so do the elements of a list that are no objects. The name becomes lower case with underscores.
    Raises ToolNotContracted for a name that cannot be mapped, for a description with characters that nobody sees, for
    arguments that only a run could inject, and for a schema of arguments that is open or not safe to check by.
    """
    contract = ToolContract(
        name=_named(lc_tool.name),
        description=_described(lc_tool),
        effect=effect,
        parameters=_parameters(lc_tool),
        roles=roles,
        output=output,
        reads_back=read_back is not None,
        **terms,
    )
    # A handled failure would come back as the tool's text, and pass for a result (H19).
    bare = lc_tool.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})

    def run(context: ToolContext, **arguments: Any) -> Result:
        _validated(bare, arguments)
        try:
            # An empty context: the run's configuration travels in context variables, and callbacks with it.
            return _result(Context().run(_invoked, bare, arguments))
        except ToolException as error:
            raise ToolError(TOOL_EXCEPTION, str(error)) from error

    return Tool(contract, run, read_back)


def _named(name: str) -> str:
    made = snake_name(name)
    if not _NAME.fullmatch(made):
        raise ToolNotContracted(
            f"got the LangChain tool {name!r:.80}; allowed: a name that begins with a letter and has 3 to 64 letters, "
            "digits or underscores; give it one with `lc_tool.name = ...` before it is contracted"
        )
    return made


def _described(lc_tool: BaseTool) -> str:
    """The first paragraph of what the tool says of itself. The model reads it, so a reviewer must be able to."""
    told = " ".join(lc_tool.description.strip().split("\n\n")[0].split())
    if unseen(told):
        raise ToolNotContracted(
            f"got the LangChain tool {lc_tool.name!r:.80}, whose description holds characters that nobody sees; "
            "allowed: a text as it is read; look at what the tool does, and set `lc_tool.description = ...`"
        )
    return told


def _parameters(lc_tool: BaseTool) -> dict[str, Any]:
    if isinstance(lc_tool, SingleInputTool) and lc_tool.args_schema is None:
        schema: Any = {"type": "object", "properties": lc_tool.args, "required": [*lc_tool.args]}
    elif isinstance(lc_tool.args_schema, dict):
        schema = lc_tool.args_schema
    else:
        taken = lc_tool.tool_call_schema
        whole = lc_tool.get_input_schema()
        if not (issubclass(whole, BaseModel) and isinstance(taken, type) and issubclass(taken, BaseModel)):
            raise ToolNotContracted(
                f"got the LangChain tool {lc_tool.name!r:.80} with arguments of pydantic 1; allowed: pydantic 2, "
                "or a JSON schema, as args_schema"
            )
        injected = sorted(whole.model_fields.keys() - taken.model_fields.keys())
        if injected:
            raise ToolNotContracted(
                f"got the LangChain tool {lc_tool.name!r:.80}, whose arguments {', '.join(injected)} a run injects; "
                "allowed: arguments that a call states; bind the others before, in a function around the tool"
            )
        schema = taken.model_json_schema()
    made = closed_parameters(schema)
    required = made.get("required", [])
    properties = made["properties"].items()
    made["properties"] = {name: field for name, field in properties if name not in _VARIADIC or name in required}
    try:
        check_closed(made)
    except SchemaRefused as refused:
        raise ToolNotContracted(
            f"got the LangChain tool {lc_tool.name!r:.80}, whose arguments no contract takes: {refused}"
        ) from None
    return made


def _validated(lc_tool: BaseTool, arguments: dict[str, Any]) -> None:
    """Asked before the call: what LangChain raises in the middle of one could also come from an effect half done."""
    model = lc_tool.args_schema
    if isinstance(model, type) and issubclass(model, BaseModel):
        try:
            model.model_validate(arguments)
        except ValidationError as error:
            where = ", ".join(sorted({str(one["loc"][0]) for one in error.errors() if one["loc"]}))
            raise ToolError(ARGUMENTS_REFUSED, where) from None


def _invoked(lc_tool: BaseTool, arguments: dict[str, Any]) -> Any:
    # A tracer that the environment names would be sent the raw result, before anything is masked or projected (X7).
    with tracing_context(enabled=False, parent=False):
        return _answer(lc_tool, arguments)


def _answer(lc_tool: BaseTool, arguments: dict[str, Any]) -> Any:
    given: Any = arguments
    if lc_tool.response_format == "content_and_artifact":
        # Only the answer to a whole call carries the artifact.
        given = {"type": "tool_call", "id": lc_tool.name, "name": lc_tool.name, "args": arguments}
    if isinstance(lc_tool, StructuredTool | SingleInputTool) and lc_tool.func is None:
        return asyncio.run(lc_tool.ainvoke(given))
    try:
        return lc_tool.invoke(given)
    except NotImplementedError:
        if isinstance(lc_tool, StructuredTool | SingleInputTool) or type(lc_tool)._arun is BaseTool._arun:
            raise
        return asyncio.run(lc_tool.ainvoke(given))  # a class that only has an asynchronous side says so


def _result(given: Any) -> Result:
    """What a LangChain tool returned as what a tool of the house returns."""
    match given:
        case ToolMessage():
            return _of_message(given)
        case BaseModel():
            return given.model_dump(mode="json")
        case bool() | int() | float():
            return json.dumps(given)
        case list() | tuple():
            return [_row(each) for each in given]
        case _:
            return given  # type: ignore[no-any-return]  # what is no result is refused where it is projected


def _row(given: Any) -> Mapping[str, Any]:
    row = _result(given)
    return row if isinstance(row, Mapping) else {"text": row}


def _of_message(message: ToolMessage) -> Result:
    if message.status == "error":
        raise ToolError(TOOL_EXCEPTION, str(message.text))
    artifact = _result(message.artifact)
    if isinstance(artifact, list):
        return artifact
    return {"text": str(message.text), **(artifact if isinstance(artifact, Mapping) else {})}
