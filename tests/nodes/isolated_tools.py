"""Tools that run in a process of their own: at the top of a module, where another process finds them by name."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from state.tools import ToolContext, ToolError


def told(context: ToolContext, *, order: str) -> dict[str, Any]:
    """What the process sees."""
    sys.stdout.write("this is no result\n")
    return {
        "order": order,
        "state": f"{context.scope.principal.name} {context.now.isoformat()} {context.idempotency_key[:4]}",
        "seen": sorted(set(os.environ) - {"LC_CTYPE"}),
        "pid": os.getpid(),
    }


def signed(context: ToolContext, *, order: str) -> dict[str, Any]:
    """A declared credential, and one that is not."""
    try:
        context.secret("other")
    except PermissionError as refused:
        return {
            "order": order,
            "state": f"{len(context.secret('api_key').get_secret_value())} {type(refused).__name__}",
        }
    return {"order": order, "state": "both"}


def text(context: ToolContext, *, order: str) -> bytes:
    """Bytes that are no text."""
    return b"\xff\x00"


def refusing(context: ToolContext, *, order: str) -> None:
    """A failure that the contract declares."""
    raise ToolError("busy", "come back")


def breaking(context: ToolContext, *, order: str) -> None:
    """A bug in a tool."""
    raise ZeroDivisionError("a text that is nobody's business")


def dying(context: ToolContext, *, order: str) -> None:
    """A process that ends before it answers."""
    os._exit(3)


def late(context: ToolContext, *, order: str, amount: int = 0) -> dict[str, Any]:
    """A call that hangs, with a process of its own beside it; a second later either would leave a trace."""
    write = f"import time, pathlib; time.sleep(1); pathlib.Path({order!r}).touch()"
    subprocess.Popen([sys.executable, "-c", write], env={})
    time.sleep(1)
    Path(order).touch()
    time.sleep(60)
    return {"order": order}


def trace(context: ToolContext, *, order: str, amount: int = 0) -> dict[str, Any] | None:
    """Whether that happened."""
    return {"order": order} if Path(order).exists() else None
