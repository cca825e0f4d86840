"""A bound on what a model server may send: so many bytes, in so much time, uncompressed.

A server that never stops sending fills the memory.
"""

import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

import httpx2

from graph.models.deadline import TOO_LONG, Deadline, begin, begin_async, of_response
from graph.models.failures import ReplyTooLarge

MOST_BYTES = 8_000_000  # some two million tokens


class _Measure:
    """How much came, and whether it came in time."""

    def __init__(self, deadline: Deadline | None, refused: Callable[[], None] = lambda: None) -> None:
        self._deadline, self._refused = deadline, refused
        self._size = 0

    def add(self, chunk: bytes) -> bytes:
        """The chunk. Raises ReplyTooLarge."""
        self._size += len(chunk)
        if self._size > MOST_BYTES:
            self._refused()
            raise ReplyTooLarge
        return chunk

    def ended(self) -> None:
        """Nothing more comes. Raises httpx2.ReadTimeout where that is since the connection was cut."""
        if self._deadline is not None and self._deadline.passed:
            raise httpx2.ReadTimeout(TOO_LONG)

    def close(self) -> None:
        """Nothing more is read."""
        if self._deadline is not None:
            self._deadline.stop()


class _Stream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, measure: _Measure) -> None:
        self._inner, self._measure = inner, measure

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            yield self._measure.add(chunk)
        self._measure.ended()

    def close(self) -> None:
        self._measure.close()
        self._inner.close()


class _AsyncStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, measure: _Measure) -> None:
        self._inner, self._measure = inner, measure

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield self._measure.add(chunk)
        self._measure.ended()

    async def aclose(self) -> None:
        self._measure.close()
        await self._inner.aclose()


# Runs wait for each other nowhere but at the server. No connection is kept: one that a server closed meanwhile fails
# the next call, and one that belongs to an event loop outlives it. Beside a model's seconds a handshake is nothing.
_LIMITS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=0)
_HEADERS = {"Accept-Encoding": "identity"}


def bounded_client(timeout_s: float) -> httpx2.Client:
    """A client whose replies are bounded in size and in whole time. Proxies of the environment hold, as elsewhere."""

    def begun(request: httpx2.Request) -> None:
        begin(request, timeout_s)

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Stream(response.stream, _Measure(of_response(response)))
        _refuse_packed(response)

    return httpx2.Client(
        timeout=timeout_s, limits=_LIMITS, headers=_HEADERS, event_hooks={"request": [begun], "response": [bound]}
    )


def bounded_async_client(
    timeout_s: float,
    *,
    whole_s: float | None = None,
    headers: Mapping[str, str] | None = None,
    refused: Callable[[], None] = lambda: None,
) -> httpx2.AsyncClient:
    """The same without holding a thread. `whole_s` bounds a reply's whole time, where that is not `timeout_s`; under an
    infinite one a server may keep silent within a reply as well. `refused` is told of a reply that is too large."""
    whole_s = timeout_s if whole_s is None else whole_s
    reading = httpx2.Timeout(timeout_s, read=None) if math.isinf(whole_s) else httpx2.Timeout(timeout_s)

    async def begun(request: httpx2.Request) -> None:
        if not math.isinf(whole_s):
            begin_async(request, whole_s)

    async def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _AsyncStream(response.stream, _Measure(of_response(response), refused))
        _refuse_packed(response)

    return httpx2.AsyncClient(
        timeout=reading,
        limits=_LIMITS,
        headers={**(headers or {}), **_HEADERS},
        event_hooks={"request": [begun], "response": [bound]},
    )


def _refuse_packed(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ReplyTooLarge
