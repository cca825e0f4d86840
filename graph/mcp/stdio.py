"""A server as a process of its own, spoken to in lines of JSON (S8).

The SDK's own transport gives a server part of our environment and reads lines of any length; this one does neither. It
is no sandbox: the process is the same user's.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.abc import Process
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from graph.mcp import launch
from graph.mcp.fault import FaultCode, ServerFault
from nodes.execute.isolated import end_process

MOST_MESSAGE_BYTES = 8_000_000
_MOST_GARBAGE = 100  # lines that are no message: a server that logs into its own channel is borne with for a while
_CHUNK_BYTES = 1 << 16
_MOST_SAID_BYTES = 4_000  # of the end of its standard error
_GRACE_S = 1.0
_POLL_S = 0.01

Streams = tuple[
    "anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage | Exception]",
    "anyio.streams.memory.MemoryObjectSendStream[SessionMessage]",
]


class Noticed:
    """What a transport saw that ends a connection, for whoever asks why it was lost."""

    def __init__(self) -> None:
        self.code: FaultCode | None = None
        self._said = bytearray()
        self._cut = False

    def heard(self, chunk: bytes) -> None:
        """Keep the end of what a process writes to its standard error."""
        self._said += chunk
        self._cut = self._cut or len(self._said) > _MOST_SAID_BYTES
        del self._said[:-_MOST_SAID_BYTES]

    def said(self) -> str:
        """The end of it in whole lines: what is masked is known by its beginning too."""
        whole = self._said.partition(b"\n")[2] if self._cut else self._said
        return whole.decode("utf-8", "replace")

    def too_large(self) -> None:
        """Note that more came than is taken."""
        self.code = FaultCode.TOO_LARGE


@asynccontextmanager
async def stdio(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None, noticed: Noticed
) -> AsyncIterator[Streams]:
    """A server's two streams, for the SDK's session. Its process, with all that it began, is ended afterwards.

    Its environment is `PATH` and what is given. Raises ServerFault where the command cannot be run.
    """
    program = shutil.which(command[0])
    if program is None:
        raise ServerFault(FaultCode.COMMAND_NOT_FOUND, f"got the command {command[0]!r:.200}")
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    with tempfile.TemporaryDirectory(prefix="server-", ignore_cleanup_errors=True) as empty:
        try:
            process = await anyio.open_process(
                # Bare: no site packages, no user's files, no variables are read before it becomes the command.
                [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), program, *command[1:]],
                stderr=subprocess.PIPE,
                cwd=folder or empty,
                env={"PATH": os.defpath, **environment},
                start_new_session=True,
            )
        except OSError as error:
            raise ServerFault(FaultCode.COMMAND_NOT_FOUND, error.strerror or "") from None

        async def reading() -> None:
            async with to_session:
                await _read(process, to_session, noticed)

        heard = anyio.Event()

        async def hearing() -> None:
            assert process.stderr is not None
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                async for chunk in process.stderr:
                    noticed.heard(chunk)
            heard.set()

        async def writing() -> None:
            assert process.stdin is not None
            async with from_session:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                    async for message in from_session:
                        line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                        await process.stdin.send(line.encode() + b"\n")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reading)
            tasks.start_soon(writing)
            tasks.start_soon(hearing)
            try:
                yield from_server, to_server
            finally:
                # Whoever waits for this may have been cancelled: a process is ended all the same.
                with anyio.CancelScope(shield=True):
                    from_server.close()
                    to_server.close()
                    await _ended(process, heard)
                tasks.cancel_scope.cancel()


async def _read(
    process: Process,
    to_session: "anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception]",
    noticed: Noticed,
) -> None:
    """Hand on the messages until the stream ends, or until what comes is no message any more."""
    assert process.stdout is not None
    held, garbage = bytearray(), 0
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        while True:
            chunk = await process.stdout.receive(_CHUNK_BYTES)
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                held += line
                try:
                    message = jsonrpc_message_adapter.validate_json(bytes(held), by_name=False)
                except ValueError:
                    noticed.code = FaultCode.GARBLED
                    garbage += bool(held.strip())
                    if garbage > _MOST_GARBAGE:
                        return
                else:
                    await to_session.send(SessionMessage(message))
                held.clear()
            held += rest
            if len(held) > MOST_MESSAGE_BYTES:
                noticed.too_large()
                return


async def _ended(process: Process, heard: anyio.Event) -> None:
    """Close a server's input, by which it knows that it is over; after a while end it, with all that it began."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdin is not None:
            await process.stdin.aclose()
    with anyio.move_on_after(_GRACE_S):
        while process.returncode is None:  # not `wait`, which waits for whoever inherited the pipes too
            await anyio.sleep(_POLL_S)
    # Also where it went by itself: what it began may not have.
    await anyio.to_thread.run_sync(end_process, process.pid)
    with anyio.move_on_after(_GRACE_S):  # what it wrote last is in the pipe
        await heard.wait()
    with anyio.move_on_after(_GRACE_S):
        await process.aclose()
