"""A call in a process of its own: one that runs out of its time is killed, with all that it began (L7).

It is no sandbox: the process is the same user's, and may read and write what that user may, and kill what that user may
kill. What it keeps apart are the environment, the folder, time and memory.

What it began is found by its descent. On Linux a keeper (nodes.execute.child) stays above it, so that a daemon is found
too where the tool's own process is gone; a tool that kills its keeper on purpose frees what it began. Elsewhere what
lost its parent and left its session is not found. Where the agent itself is killed, Linux kills keeper and tool, so
that nobody runs the same effect beside it; what the tool began by then goes on.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from select import select
from threading import Thread
from typing import Any

import psutil
from pydantic import JsonValue

from state.contract import ToolContract
from state.tools import Result, ToolContext, ToolError, ToolFunction

CHILD = "nodes.execute.child"
MOST_ANSWER_BYTES = 64_000_000
_READ_BYTES = 1 << 16
_ROUNDS = 10  # a killed one may have begun another just before
_DYING_S, _LOOK_AGAIN_S = 0.2, 0.005


class Killed(Exception):
    """The call did not come back in its time and was killed, with every process that it began."""


class Raised(Exception):
    """The tool raised in its process. `kind` is the name of what it raised, `trace` where."""

    def __init__(self, kind: str, trace: str = "") -> None:
        super().__init__(f"{kind}\n{trace}" if trace else kind)
        self.kind = kind


def in_child(
    function: ToolFunction, contract: ToolContract, context: ToolContext, arguments: Mapping[str, JsonValue]
) -> Result:
    """What a function returns in a process of its own, which has an empty environment and folder and the declared
    credentials. Raises what the function raised as ToolError or Raised, and Killed where it ran out of its time."""
    until = time.monotonic() + contract.timeout_s
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
    with (
        tempfile.TemporaryDirectory(prefix="tool-", ignore_cleanup_errors=True) as folder,
        subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours; what a model wrote is data on its input
            [sys.executable, "-m", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.defpath, "PYTHONPATH": path},
            start_new_session=True,
        ) as child,
    ):
        try:
            # In a thread: a child that does not read must not hold the call beyond its time.
            Thread(target=_write, args=(child, json.dumps(given).encode()), daemon=True).start()
            answered = _line(child, until)
        finally:
            end_process(child.pid)
    return _result(answered)


def _write(child: subprocess.Popen[bytes], given: bytes) -> None:
    assert child.stdin is not None
    with suppress(OSError, ValueError):  # it ended, or was ended, before it had read all
        child.stdin.write(given)
        child.stdin.close()


def _line(child: subprocess.Popen[bytes], until: float) -> bytes:
    """The answer: one line, whoever else holds the pipe open. Raises Killed, and Raised for one that has no end."""
    assert child.stdout is not None
    found = bytearray()
    while not found.endswith(b"\n"):
        ready, _, _ = select([child.stdout], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise Killed
        read = os.read(child.stdout.fileno(), _READ_BYTES)
        if not read:
            break  # it ended without an answer
        found += read
        if len(found) > MOST_ANSWER_BYTES:
            raise Raised("TooLarge")
    return bytes(found)


def end_process(pid: int) -> None:
    """Kill a child and its descendants. It is stopped first: what it begins meanwhile would not be found."""
    with suppress(psutil.NoSuchProcess):
        child = psutil.Process(pid)
        with suppress(psutil.NoSuchProcess):
            child.suspend()
        for _ in range(_ROUNDS):
            begun = [one for one in child.children(recursive=True) if _runs(one)]
            if not begun:
                break
            for one in begun:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            until = time.monotonic() + _DYING_S
            while any(map(_runs, begun)) and time.monotonic() < until:
                time.sleep(_LOOK_AGAIN_S)
        child.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _runs(one: psutil.Process) -> bool:
    """Whether a process still runs. One that is over waits for its parent, which is stopped."""
    try:
        return bool(one.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _result(answered: bytes) -> Result:
    """What a child said. Raises ToolError, Raised."""
    try:
        told: Any = json.loads(answered)
        kind, value = told["kind"], told["value"]
    except (ValueError, TypeError, KeyError, RecursionError):
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
            raise Raised(str(value), str(told.get("trace", "")))
