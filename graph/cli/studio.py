"""`agent studio`: LangGraph's dev server for Studio and the SDK, offline, on exactly the port that was asked for."""

import os
import socket
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from graph.cli.exits import FAILED
from graph.cli.screen import Screen

HOST = "127.0.0.1"
LAST_PORT = 65_535
_CONFIG = "langgraph.json"
_OFFLINE = ("LANGSMITH_TRACING=false", "LANGGRAPH_CLI_NO_ANALYTICS=1")


def studio(screen: Screen, *, port: int) -> int:
    """Become the dev server. Comes back only where that cannot be, and gives 1."""
    screen.error(_in_the_way(port) or _become_the_server(port))
    return FAILED


def _in_the_way(port: int) -> str:
    """What keeps the server from starting, looked at before anything starts; empty where nothing does."""
    if not all(map(find_spec, ("langgraph_cli", "langgraph_api"))):
        return "got no dev server in this environment; run `make dev`, or `pip install -e '.[studio]'`"
    if not Path(_CONFIG).is_file():
        return f"got no {_CONFIG} in this folder; run it in the project's root"
    reason = _taken(port)
    if not reason:
        return ""
    # The server itself would take any other port, and what was told to use this one would talk to a stranger.
    free = next((other for other in range(port + 1, LAST_PORT + 1) if not _taken(other)), None)
    step = f"; `agent studio --port {free}` or `make studio PORT={free}`" if free else ""
    return f"got port {port} ({reason}); allowed: a port that is free on {HOST}{step}"


def _taken(port: int) -> str:
    """Why nothing can listen on a port; empty where something can."""
    with closing(socket.socket()) as tried:
        # As servers do: a port whose last connections are still closing is free.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _become_the_server(port: int) -> str:
    """Replace this process; `env` adds to its environment. Gives what was in the way where that fails."""
    server = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--host", HOST, "--port", str(port)]
    try:
        os.execvp("env", ["env", *_OFFLINE, *server])  # noqa: S606, S607  # our own words, no shell; env is POSIX's
    except OSError as error:
        return f"the dev server cannot be started: {error.strerror}; start it with `langgraph dev --port {port}`"
