"""The adapter of the MCP SDK: one open session with one server, in values of ours. Nothing else imports the SDK."""

import logging
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskStatus
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import JsonValue, ValidationError

from graph.mcp.answer import Answer, Part
from graph.mcp.fault import FaultCode, ServerFault
from graph.mcp.stdio import MOST_MESSAGE_BYTES, Noticed, stdio
from graph.models.bounded import bounded_async_client
from graph.models.failures import ReplyTooLarge
from state.mcp import Definition, McpServer

# The SDK logs what it cannot read, which is a server's text.
logging.getLogger("mcp").setLevel(logging.CRITICAL)

_MOST_PAGES, _MOST_TOOLS = 50, 1_000
# The server never began: everything else may have happened in the middle of a call.
_NOT_BEGUN = (types.INVALID_REQUEST, types.METHOD_NOT_FOUND, types.INVALID_PARAMS)


class Connection:
    """A session that `hold` keeps open until `close`. All of it runs on the loop that `hold` runs on."""

    def __init__(self, server: McpServer, credentials: Mapping[str, str]) -> None:
        self._server, self._credentials = server, credentials
        self._noticed = Noticed()
        self._closing = anyio.Event()
        self._client: Client | None = None
        self.listed_anew = False  # the server said that its tools changed

    async def hold(self, *, task_status: TaskStatus[tuple[Definition, ...]]) -> None:
        """Open, list, and stay open. Gives what was listed as the task's status. Raises ServerFault."""
        with anyio.CancelScope(deadline=anyio.current_time() + self._server.timeout_s) as scope:
            try:
                async with Client(self._transport(), message_handler=self._heard, cache=None) as client:
                    self._client = client
                    listed = await self.listed()
                    scope.deadline = math.inf
                    task_status.started(listed)
                    await self._closing.wait()
            except Exception as error:  # noqa: BLE001 - a task group's; what it holds may be anything
                fault = self._fault(error, FaultCode.UNAVAILABLE)
                raise ServerFault(fault.code, fault.detail, self._noticed.said()) from None
            finally:
                self._client = None
        if scope.cancelled_caught:
            code = self._noticed.code or FaultCode.NOT_ANSWERING
            raise ServerFault(code, f"within {self._server.timeout_s:g} s", self._noticed.said())

    async def close(self) -> None:
        """Let `hold` end."""
        self._closing.set()

    async def listed(self) -> tuple[Definition, ...]:
        """What the server lists now. Raises ServerFault."""
        found: list[types.Tool] = []
        cursor: str | None = None
        self.listed_anew = False
        for _ in range(_MOST_PAGES):
            page = await self._open().session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > _MOST_TOOLS:
                break
        if cursor is not None or len(found) > _MOST_TOOLS:
            raise ServerFault(FaultCode.LISTING_INVALID, f"got more than {_MOST_TOOLS} tools or {_MOST_PAGES} pages")
        try:
            return tuple(_definition(tool) for tool in found)
        except ValidationError:
            raise ServerFault(FaultCode.LISTING_INVALID, "got a definition that is no JSON") from None

    async def relisted(self) -> tuple[Definition, ...]:
        """`listed`, within the server's time. Raises ServerFault."""
        with anyio.move_on_after(self._server.timeout_s):
            try:
                return await self.listed()
            except ServerFault:
                raise
            except Exception as error:  # noqa: BLE001 - as in `hold`
                raise self._fault(error, FaultCode.LISTING_INVALID) from None
        raise ServerFault(self._noticed.code or FaultCode.NOT_ANSWERING, f"within {self._server.timeout_s:g} s")

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], timeout_s: float) -> Answer:
        """Call a tool by the server's own name for it. Raises ServerFault."""
        # Not the client's own way to call: it would check the answer by a schema of the server's, which may never end,
        # and would answer what a server asks back.
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=dict(arguments)))
        with anyio.move_on_after(timeout_s):
            try:
                return _answer(await self._open().session.send_request(request, types.CallToolResult))
            except Exception as error:  # noqa: BLE001 - as in `hold`
                raise self._fault(error, FaultCode.FAILED) from None
        raise ServerFault(FaultCode.TIMED_OUT, f"within {timeout_s:g} s")

    def _open(self) -> Client:
        if self._client is None:
            raise ServerFault(FaultCode.LOST)
        return self._client

    def _transport(self) -> Any:
        return self._process() if self._server.command else self._http()

    def _process(self) -> Any:
        secret = {variable: self._credentials[name] for variable, name in self._server.secrets.items()}
        environment = {**self._server.environment, **secret}
        return stdio(self._server.command, environment, self._server.folder, self._noticed)

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        server = self._server
        assert server.url is not None
        headers = {header: self._credentials[name] for header, name in server.headers.items()}
        if server.bearer is not None:
            headers["Authorization"] = f"Bearer {self._credentials[server.bearer]}"
        async with (
            # A stream of the server's stays open between calls; each call has a time of its own.
            bounded_async_client(
                server.timeout_s, whole_s=math.inf, headers=headers, refused=self._noticed.too_large
            ) as client,
            streamable_http_client(server.url, http_client=client, max_sse_event_size=MOST_MESSAGE_BYTES) as streams,
        ):
            yield streams

    async def _heard(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.listed_anew = True

    def _fault(self, error: BaseException, otherwise: FaultCode) -> ServerFault:
        """The fault that an error of the SDK, or of what it runs on, stands for. Its words are a server's: not told."""
        while isinstance(error, BaseExceptionGroup):
            ours = [one for one in error.exceptions if isinstance(one, ServerFault)]
            error = (ours or error.exceptions)[0]
        match error:
            case ServerFault():
                return error
            case ReplyTooLarge():
                return ServerFault(FaultCode.TOO_LARGE)
            case MCPError(code=types.CONNECTION_CLOSED):
                return ServerFault(self._noticed.code or FaultCode.LOST)
            case MCPError(code=code):
                return ServerFault(FaultCode.REFUSED if code in _NOT_BEGUN else otherwise, f"JSON-RPC {code}")
            case ValidationError() | RuntimeError():
                return ServerFault(FaultCode.GARBLED, type(error).__name__)
            case _:
                return ServerFault(otherwise, type(error).__name__)


def _definition(tool: types.Tool) -> Definition:
    return Definition(
        name=tool.name,
        title=tool.title,
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True)
        if tool.annotations
        else {},
    )


def _answer(result: types.CallToolResult) -> Answer:
    return Answer(
        parts=tuple(map(_part, result.content)), structured=result.structured_content, is_error=result.is_error
    )


def _part(block: types.ContentBlock) -> Part:
    match block:
        case types.TextContent(text=text):
            return Part(text=text)
        case types.ImageContent(data=data, mime_type=kind) | types.AudioContent(data=data, mime_type=kind):
            return Part(media_type=kind, size_bytes=len(data) * 3 // 4)
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return Part(text=text)
        case types.EmbeddedResource(resource=types.BlobResourceContents(blob=blob, mime_type=kind)):
            return Part(media_type=kind or "application/octet-stream", size_bytes=len(blob) * 3 // 4)
        case _:
            return Part()
