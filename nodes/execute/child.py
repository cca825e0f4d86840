"""`python -m nodes.execute.child`: runs one isolated tool. It reads the call from its input and writes one line.

On Linux it is two processes. The keeper runs nothing of the tool's: it stays the ancestor of whatever the tool begins,
so that the agent finds it there whatever the tool does to itself. The worker, its child in a session of its own, runs
the tool.
"""

import base64
import ctypes
import importlib
import json
import os
import signal
import sys
import traceback
from contextlib import suppress
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from state.run import Scope
from state.tools import SecretNotDeclared, Tool, ToolContext, ToolError, ToolFunction

_PDEATHSIG, _SUBREAPER = 1, 36  # prctl(2)


def keep() -> None:
    """On Linux: become the worker of a keeper, who stays until the agent kills it, or dies with the agent."""
    if not sys.platform.startswith("linux"):
        return
    prctl = ctypes.CDLL(None).prctl
    _die_with(os.getppid(), prctl)
    prctl(_SUBREAPER, 1, 0, 0, 0)
    keeper = os.getpid()
    if os.fork() == 0:
        _die_with(keeper, prctl)
        os.setsid()  # a signal that the tool sends to its own group does not reach the keeper
        return
    for inherited in (0, 1):
        os.close(inherited)  # where the worker dies, nobody else holds its answer open
    with suppress(ChildProcessError):
        while True:
            os.wait()
    # Nothing is left of what the tool began: there is nobody to keep.
    os._exit(0)


def _die_with(parent: int, prctl: Any) -> None:
    prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended in between
        os._exit(1)


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
        if isinstance(result, bytes):
            return {"kind": "bytes", "value": base64.b64encode(result).decode()}
        # Through JSON within the try: what cannot be written is the tool's failure, told as such.
        return {"kind": "result", "value": json.loads(json.dumps(result, default=_said))}
    except ToolError as error:
        return {"kind": "tool_error", "value": {"code": str(error.code), "detail": str(error.detail)}}
    except BaseException as error:  # noqa: BLE001 - a tool may raise anything; its kind alone is shown
        return {"kind": "raised", "value": type(error).__name__, "trace": traceback.format_exc()}


def _said(value: Any) -> str:
    """What JSON has no form for, as a result in this process would be shown."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def main() -> None:
    """Answer the one call on standard input. What the tool itself prints goes nowhere: the answer stands alone."""
    keep()
    told = os.dup(1)
    os.dup2(2, 1)
    answered = json.dumps(answer(json.load(sys.stdin)))
    with os.fdopen(told, "w") as out:
        out.write(answered + "\n")


if __name__ == "__main__":
    main()
