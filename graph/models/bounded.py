"""A bound on what a model server may send: so many bytes, in so much time, uncompressed.

A client's timeout is for each read. A server that sends a byte a second never meets it, and one that never stops
sending fills the memory.
"""

import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

import httpx2

from graph.models.failures import ReplyTooLarge

MOST_BYTES = 8_000_000  # some two million tokens


class _Measure:
    """How much came, and how long it took."""

    def __init__(self, most_s: float, refused: Callable[[], None] = lambda: None) -> None:
        self._deadline, self._refused = time.monotonic() + most_s, refused
        self._size = 0

    def add(self, chunk: bytes) -> bytes:
        """The chunk. Raises ReplyTooLarge, httpx2.ReadTimeout."""
        self._size += len(chunk)
        if self._size > MOST_BYTES:
            self._refused()
            raise ReplyTooLarge
        if time.monotonic() > self._deadline:
            raise httpx2.ReadTimeout("the reply took too long as a whole")
        return chunk


class _Stream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, measure: _Measure) -> None:
        self._inner, self._measure = inner, measure

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            yield self._measure.add(chunk)

    def close(self) -> None:
        self._inner.close()


class _AsyncStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, measure: _Measure) -> None:
        self._inner, self._measure = inner, measure

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield self._measure.add(chunk)

    async def aclose(self) -> None:
        await self._inner.aclose()


# Runs wait for each other nowhere but at the server. No connection is kept: one that a server closed meanwhile fails
# the next call, and one that belongs to an event loop outlives it. Beside a model's seconds a handshake is nothing.
_LIMITS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=0)
_HEADERS = {"Accept-Encoding": "identity"}


def bounded_client(timeout_s: float) -> httpx2.Client:
    """A client whose replies are bounded in size and in whole time. Proxies of the environment hold, as elsewhere."""

    def bound(response: httpx2.Response) -> None:
        _refuse_packed(response)
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Stream(response.stream, _Measure(timeout_s))

    return httpx2.Client(timeout=timeout_s, limits=_LIMITS, headers=_HEADERS, event_hooks={"response": [bound]})


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

    async def bound(response: httpx2.Response) -> None:
        _refuse_packed(response)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _AsyncStream(response.stream, _Measure(whole_s, refused))

    return httpx2.AsyncClient(
        timeout=reading, limits=_LIMITS, headers={**(headers or {}), **_HEADERS}, event_hooks={"response": [bound]}
    )


def _refuse_packed(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ReplyTooLarge
