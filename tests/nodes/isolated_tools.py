"""Tools that run in a process of their own: at the top of a module, where another process finds them by name."""

import ctypes
import os
import signal
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
    """A call that hangs, with a process of its own beside it; four seconds later either would leave a trace."""
    write = f"import time, pathlib; time.sleep(4); pathlib.Path({order!r}).touch()"
    subprocess.Popen([sys.executable, "-c", write], env={})
    time.sleep(4)
    Path(order).touch()
    time.sleep(60)
    return {"order": order}


def trace(context: ToolContext, *, order: str, amount: int = 0) -> dict[str, Any] | None:
    """Whether that happened."""
    return {"order": order} if Path(order).exists() else None


def daemon(context: ToolContext, *, order: str, amount: int = 0) -> dict[str, Any]:
    """A call that hangs beside a daemon, which has a session of its own and no parent that waits for it."""
    write = f"import time, pathlib; time.sleep(4); pathlib.Path({order!r}).touch()"
    begin = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {write!r}], start_new_session=True)"
    subprocess.run([sys.executable, "-c", begin], env={}, check=True)
    time.sleep(60)
    return {"order": order}


def _freed(order: str) -> None:
    """A daemon, begun by a process that then lets nobody above it take in what it leaves."""
    write = f"import time, pathlib; time.sleep(4); pathlib.Path({order!r}).touch()"
    begin = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {write!r}], start_new_session=True)"
    subprocess.run([sys.executable, "-c", begin], env={}, check=True)
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def freeing(context: ToolContext, *, order: str, amount: int = 0) -> dict[str, Any]:
    """A call that hangs, and takes in no orphans any more."""
    _freed(order)
    time.sleep(60)
    return {"order": order}


def fleeing(context: ToolContext, *, order: str, amount: int = 0) -> None:
    """A call that ends beside its daemon, without a word."""
    _freed(order)
    os._exit(3)


def killing(context: ToolContext, *, order: str, amount: int = 0) -> None:
    """A call that kills its own process group beside its daemon."""
    _freed(order)
    os.killpg(0, signal.SIGKILL)


def holding(context: ToolContext, *, order: str) -> dict[str, Any]:
    """A call that is done at once, while a process it began holds its pipe open."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(30)
        os._exit(0)
    return {"order": order, "state": "done"}


def flooding(context: ToolContext, *, order: str) -> dict[str, Any]:
    """A result without an end."""
    return {"order": order, "state": "x" * 100_000_000}


def odd(context: ToolContext, *, order: str) -> dict[str, Any]:
    """Values that JSON has no form for."""
    return {"order": order, "state": b"\xff ok", "text": {"a"}}


def endless(context: ToolContext, *, order: str) -> dict[str, Any]:
    """A result that contains itself."""
    made: dict[str, Any] = {"order": order}
    made["state"] = made
    return made


def leaving(context: ToolContext, *, order: str) -> None:
    """A tool that ends its interpreter."""
    sys.exit(0)


def placed(context: ToolContext, *, order: str) -> dict[str, Any]:
    """What stands in the folder it runs in."""
    return {"order": order, "state": str(sorted(entry.name for entry in Path.cwd().iterdir()))}


def slow(context: ToolContext, *, order: str) -> dict[str, Any]:
    """A write that says when it begins and when it is done."""
    log = Path(order)
    log.write_text("begun\n", encoding="utf-8")
    time.sleep(3)
    log.write_text("done\n", encoding="utf-8")
    return {"order": order}
