"""A server that drags a reply out is cut off after its time, on real HTTP, in whatever part of the reply it is."""

import asyncio
import time

import pytest

from graph.models.openai import openai_model
from state.request import ModelError
from tests.graph.models.rendered import Working
from tests.graph.models.stub_server import Answer, serving

REQUEST = Working("Where is my book?").request()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
NEVER_DONE = {
    "a head": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a"),
    "heads before the head": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "a body": (HEAD + b"Content-Length: 9999\r\n\r\n", b" "),
    "a body of no length": (HEAD + b"\r\n{}", b" "),
    "a chunk's extension": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;", b"a"),
    "what follows the chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"X-T: a\r\n"),
    "the body of an error": (b"HTTP/1.1 500 No\r\nContent-Length: 9999\r\n\r\n", b" "),
}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("part", NEVER_DONE)
def test_no_part_of_a_reply_may_take_longer_than_the_whole(part: str, asynchronous: bool) -> None:
    with serving(Answer({}, wire=NEVER_DONE[part])) as stub:
        started = time.monotonic()
        model = openai_model("small", base_url=stub.url, timeout_s=0.5)
        with pytest.raises(ModelError) as caught:
            asyncio.run(model.areply(REQUEST)) if asynchronous else model.reply(REQUEST)
    error = caught.value
    assert error.outcome.name == "unreachable"
    assert "OpenAITimeoutError" in error.outcome.detail
    assert time.monotonic() - started < 10
