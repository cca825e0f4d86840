"""The end of one exchange with a server: its connection is cut, whatever is being read or written at that moment.

A client's timeout is for each read, and its own code sees a reply only once the head is whole. A server that sends the
head a byte at a time, one interim response after the other, or a chunk's extension without an end never meets either.
"""

import asyncio
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

import httpx2

_CONNECTED = (".connect_tcp.complete", ".start_tls.complete")
_KEY = "expediente.deadline"
TOO_LONG = "the reply took too long as a whole"


class _Clock(Protocol):
    def cancel(self) -> None: ...


class Deadline:
    """Counts from the request on. `passed` says that the connection was cut, since that looks like an end to a reader
    who was told no length."""

    def __init__(self) -> None:
        self.passed = False
        self._clock: _Clock | None = None
        self._socket: Any = None

    def run_by(self, clock: _Clock) -> None:
        """What calls `cut` in time."""
        self._clock = clock

    def stop(self) -> None:
        """The exchange is over."""
        if self._clock is not None:
            self._clock.cancel()

    def cut(self) -> None:
        """The time is over."""
        self.passed = True
        if self._socket is None:
            return
        with suppress(OSError):  # it is closed already
            if isinstance(self._socket, socket.socket):
                # Not as a TLS socket does it: that one forgets its keys while another thread reads with them.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            else:
                self._socket.shutdown(socket.SHUT_RDWR)

    def told(self, event: str, info: Mapping[str, Any]) -> None:
        """What the connection does, as the client's trace has it. Raises httpx2.ReadTimeout for what failed by the cut.

        Another failure than an Exception is the run's own end, which nothing may take the place of.
        """
        if event.endswith(_CONNECTED):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.passed:
                self.cut()
        elif event.endswith(".failed"):
            self.stop()
            if self.passed and isinstance(info["exception"], Exception):
                raise httpx2.ReadTimeout(TOO_LONG) from None

    async def atold(self, event: str, info: Mapping[str, Any]) -> None:
        """The same for an asynchronous client."""
        self.told(event, info)


def begin(request: httpx2.Request, most_s: float) -> None:
    """Bound an exchange that begins now, in a thread."""
    deadline = Deadline()
    timer = threading.Timer(most_s, deadline.cut)
    timer.daemon = True
    deadline.run_by(timer)
    request.extensions = {**request.extensions, "trace": deadline.told, _KEY: deadline}
    timer.start()


def begin_async(request: httpx2.Request, most_s: float) -> None:
    """Bound an exchange that begins now, in the running event loop."""
    deadline = Deadline()
    deadline.run_by(asyncio.get_running_loop().call_later(most_s, deadline.cut))
    request.extensions = {**request.extensions, "trace": deadline.atold, _KEY: deadline}


def of_response(response: httpx2.Response) -> Deadline | None:
    """The deadline of the exchange that this response ends."""
    found = response.request.extensions.get(_KEY)
    return found if isinstance(found, Deadline) else None
