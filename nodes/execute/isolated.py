"""A call in a process of its own: one that runs out of its time is killed, with all that it began (L7)."""

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from state.contract import ToolContract
from state.tools import Result, ToolContext, ToolError, ToolFunction

CHILD = "nodes.execute.child"


class Killed(Exception):
    """The call did not come back in its time and was killed, with every process that it began."""


class Raised(Exception):
    """The tool raised in its process. `kind` is the name of what it raised; what that says stays there."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def in_child(
    function: ToolFunction, contract: ToolContract, context: ToolContext, arguments: Mapping[str, JsonValue]
) -> Result:
    """What a function returns in a process of its own, which has an empty environment and the declared credentials.

    Raises what the function raised as ToolError or Raised, and Killed where it ran out of its time.
    """
    given = {
        "module": function.__module__,
        "name": function.__qualname__,
        "scope": context.scope.model_dump(mode="json"),
        "now": context.now.isoformat(),
        "key": context.idempotency_key,
        "secrets": {name: context.secret(name).get_secret_value() for name in contract.secrets},
        "arguments": dict(arguments),
    }
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    # By standard input: arguments of a process and its environment can be read by others on the machine.
    with subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours; what a model wrote is data on its input
        [sys.executable, "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath, "PYTHONPATH": path},
        start_new_session=True,
    ) as child:
        try:
            answered, _ = child.communicate(json.dumps(given).encode(), contract.timeout_s)
        except subprocess.TimeoutExpired:
            raise Killed from None
        finally:
            # Whatever it began and left behind goes with it, also where it ended by itself.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
    return _result(answered)


def _result(answered: bytes) -> Result:
    """What a child said. Raises ToolError, Raised."""
    try:
        told: Any = json.loads(answered)
        kind, value = told["kind"], told["value"]
    except (ValueError, TypeError, KeyError):
        raise Raised("Died") from None
    match kind:
        case "result":
            returned: Result = value
            return returned
        case "bytes":
            return base64.b64decode(value)
        case "tool_error":
            raise ToolError(str(value["code"]), str(value["detail"]))
        case _:
            raise Raised(str(value))
