"""A line to the database server that a test can cut or hold up: every connection goes through it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import make_url


class WeakLine:
    """A TCP proxy on a free port. Cut, it ends what is open and takes nothing new; held, it forwards nothing."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._flowing = threading.Event()
        self._flowing.set()
        self.whole = threading.Event()
        self.whole.set()
        self._open: set[socket.socket] = set()
        self.port = self._listening.getsockname()[1]
        self._start(self._accept)

    def cut(self) -> None:
        """As if the server were gone."""
        self.whole.clear()
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        """As if the network stood still."""
        self._flowing.clear()

    def mend(self) -> None:
        """All is well again."""
        self.whole.set()
        self._flowing.set()

    def close(self) -> None:
        self._flowing.set()
        self.cut()
        self._listening.close()

    def _start(self, run: object, *given: object) -> None:
        threading.Thread(target=run, args=given, daemon=True).start()  # type: ignore[arg-type]  # any function will do

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listening.accept()
                if not self.whole.is_set():
                    caller.close()
                    continue
                server = socket.create_connection(self._server)
                self._open |= {caller, server}
                self._start(self._forward, caller, server)
                self._start(self._forward, server, caller)

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while sent := source.recv(65_536):
                self._flowing.wait()
                sink.sendall(sent)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.discard(source)
        source.close()


@contextmanager
def weak_line(url: str) -> Iterator[tuple[WeakLine, str]]:
    """A line to the server of a URL, and the URL that goes through it."""
    made = make_url(url)
    line = WeakLine(made.host or "127.0.0.1", made.port or 5432)
    try:
        yield line, made.set(host="127.0.0.1", port=line.port).render_as_string(hide_password=False)
    finally:
        line.close()
