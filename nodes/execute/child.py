"""`python -m nodes.execute.child`: runs one isolated tool. It reads the call from its input and writes the result."""

import base64
import importlib
import json
import os
import sys
from datetime import datetime
from typing import Any

from pydantic import SecretStr
from pydantic_core import to_jsonable_python

from state.run import Scope
from state.tools import SecretNotDeclared, Tool, ToolContext, ToolError, ToolFunction


def found(module: str, name: str) -> ToolFunction:
    """The function of that name. Where the module holds a tool under it, what the tool runs."""
    held: Any = importlib.import_module(module)
    for part in name.split("."):
        held = getattr(held, part)
    function: ToolFunction = held.run if isinstance(held, Tool) else held
    return function


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """What became of a call, as JSON data."""
    secrets: dict[str, str] = call["secrets"]

    def resolve(name: str) -> SecretStr:
        if name not in secrets:
            raise SecretNotDeclared(name)
        return SecretStr(secrets[name])

    context = ToolContext(
        scope=Scope.model_validate(call["scope"]),
        now=datetime.fromisoformat(call["now"]),
        idempotency_key=call["key"],
        resolve=resolve,
    )
    try:
        result = found(call["module"], call["name"])(context, **call["arguments"])
    except ToolError as error:
        return {"kind": "tool_error", "value": {"code": str(error.code), "detail": str(error.detail)}}
    except Exception as error:  # noqa: BLE001 - a tool may raise anything; its kind alone is told
        return {"kind": "raised", "value": type(error).__name__}
    if isinstance(result, bytes):
        return {"kind": "bytes", "value": base64.b64encode(result).decode()}
    return {"kind": "result", "value": to_jsonable_python(result, bytes_mode="utf8", fallback=str)}


def main() -> None:
    """Answer the one call on standard input. What the tool itself prints goes nowhere: the answer stands alone."""
    told = os.dup(1)
    os.dup2(2, 1)
    answered = json.dumps(answer(json.load(sys.stdin)))
    with os.fdopen(told, "w") as out:
        out.write(answered)


if __name__ == "__main__":
    main()
