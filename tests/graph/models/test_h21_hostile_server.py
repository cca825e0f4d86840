"""H21 on the real loop and real HTTP: whatever a model server does is a typed outcome; no crash, no leak, no effect."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph.app import App, open_app
from graph.inspection.replay import replay
from graph.inspection.verify import verify
from graph.settings import Settings
from state.request import Attempt, Usage
from state.work import Status
from tests.fakes import FakeClock, FakeWaiting
from tests.graph.conftest import NOW
from tests.graph.models.stub_server import Answer, Stub, completion, refusal, serving, tool_call
from tests.graph.stored_bytes import stored

QUESTION = "Why is my API key not working?"
KEY = "sk-live-4f9d2c7b1a"
LEAK = "LEAKED-PHRASE-77"

Serve = Answer | Callable[[int], Answer]
Open = Callable[..., tuple[App, Stub]]


@pytest.fixture
def opened(home: Path) -> Iterator[Open]:
    """An app whose model is this server."""
    with ExitStack() as stack:

        def make(serve: Serve, **given: Any) -> tuple[App, Stub]:
            stub = stack.enter_context(serving(serve))
            settings = Settings.load(
                home=home,
                model="openai",
                openai_model="small",
                openai_base_url=stub.url,
                openai_api_key=SecretStr(KEY),
                **{"model_timeout_s": 5.0, **given},
            )
            app = open_app(settings, clock=FakeClock(NOW), waiting=FakeWaiting())
            return stack.enter_context(app), stub

        yield make


def kept(app: App) -> bytes:
    return b"".join(data for _, data in stored(app.settings.home, but=frozenset({"library"})))


def story(attempts: tuple[Attempt, ...]) -> list[tuple[str, str]]:
    return [(attempt.mode, attempt.outcome.name) for attempt in attempts]


def calls(*made: tuple[str, dict[str, Any]]) -> str:
    return json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in made]})


ESCALATE = calls(("escalate", {"reason": "A person has to look."}))
ROTATE = calls(("rotate_api_key", {"key_id": "K-1007", "note": LEAK}))
CUT = ESCALATE[:-3]
TEXT = {"model_modes": ("text",), "model_retries": 0}


def written(content: str | None, finish: str | None = "stop", **rest: Any) -> Answer:
    return completion({"content": content}, finish, **rest)


ENDS_WELL = [
    pytest.param(written(f"```json\n{ESCALATE}\n```"), id="1 a fence around JSON"),
    pytest.param(written(f"{ESCALATE}\nhope this helps"), id="2 words behind JSON"),
    pytest.param(written(f"<think>{ROTATE}</think>{ESCALATE}"), id="7 other thoughts before JSON"),
    pytest.param(completion({"content": ESCALATE, "reasoning_content": ROTATE}), id="7 thoughts in a field"),
    pytest.param(written(ESCALATE, None), id="no finish reason"),
    pytest.param(
        completion({"content": ESCALATE, "tool_calls": None, "function_call": None, "refusal": None}, usage=None),
        id="null fields",
    ),
]


@pytest.mark.parametrize("answer", ENDS_WELL)
def test_what_a_reply_means_beyond_doubt_is_used(opened: Open, answer: Answer) -> None:
    app, stub = opened(answer, **TEXT)
    result = app.ask(QUESTION, as_="ana@acme", thread="t")
    assert (result.status, result.effects) == (Status.ESCALATED, ())
    (decision,) = result.decisions
    assert story(decision.attempts) == [("text", "proposal")]
    assert LEAK.encode() not in kept(app)
    assert len(stub.asked) == 1


HOSTILE = {
    "3 cut": (written(CUT, "length"), "truncated"),
    "4 whole, and cut": (written(ESCALATE, "length"), "truncated"),
    "5 empty": (written(""), "empty_output"),
    "5 null": (written(None), "empty_output"),
    "6 a refusal": (completion({"content": None, "refusal": f"No: {LEAK}"}), "refused"),
    "6 stopped by a filter": (written(ROTATE, "content_filter"), "refused"),
    "7 nothing but thoughts": (written(f"<think>{ROTATE}</think>"), "empty_output"),
    "7 thoughts without an end": (written(f"<think>{ROTATE}"), "empty_output"),
    "two objects": (written(ESCALATE + ROTATE), "malformed"),
    "a damaged object around a whole one": (written('{"calls": ' + ROTATE), "malformed"),
    "words": (written(f"I rotated it. {LEAK}"), "malformed"),
    "calls nobody can read": (completion({"tool_calls": [tool_call("rotate_api_key", '{"key_id": ')]}), "malformed"),
    "a wrong field": (written(calls(("escalate", {"reason": LEAK, "approved": True}))), "wrong_schema"),
    "a form not offered": (written(calls(("plan", {"goal": 5}))), "wrong_schema"),
    "not JSON at all": (Answer("<html>hello</html>", content_type="text/html"), "model_error"),
    "JSON of another type": (Answer("[1, 2]"), "model_error"),
    "JSON with a wrong content type": (Answer('{"x": ', content_type="text/plain"), "model_error"),
    "no choices": (Answer({"choices": []}), "model_error"),
    "a choice without a message": (Answer({"choices": [{"index": 0, "finish_reason": "stop"}]}), "model_error"),
    "a message that is null": (Answer({"choices": [{"index": 0, "message": None}]}), "model_error"),
    "bytes that are no text": (Answer("\x00\x01\x02", content_type="application/octet-stream"), "model_error"),
    "an error with status 200": (Answer({"error": {"message": f"{KEY} {LEAK}"}}), "model_error"),
    "a redirect to nowhere": (Answer({}, 302), "model_error"),
    "a wrong key": (refusal(401, message=f"{KEY} {LEAK}"), "unauthorised"),
    "a storm": (refusal(429, message=KEY), "rate_limited"),
    "a broken server": (refusal(500, message=f"{KEY} {LEAK}"), "model_error"),
    "hangs up": (Answer({}, hangs_up=True), "unreachable"),
    "hangs up in the middle": (Answer(json.dumps(written(ESCALATE).body), promised=100_000), "unreachable"),
    "broken chunks": (Answer({}, chunks=b"zz\r\nnot a chunk"), "unreachable"),
    "never ends": (Answer(LEAK * 10_000, endless=True), "model_error"),
    "packed": (Answer({}).with_headers({"Content-Encoding": "gzip"}), "model_error"),
    "drips": (Answer(json.dumps(written(ESCALATE).body), drip_s=0.2), "unreachable"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_anything_else_is_a_typed_outcome(
    opened: Open, name: str, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer, outcome = HOSTILE[name]
    app, _ = opened(answer, **TEXT, model_timeout_s=1.0)
    if asynchronous:
        asyncio.run(asked_without_a_thread(app))
        result = app.history("t", as_="ana@acme")
    else:
        result = app.ask(QUESTION, as_="ana@acme", thread="t")
    assert (result.status, result.answer, result.effects) == (Status.FAILED, None, ())
    attempts = result.decisions[-1].attempts
    assert attempts[-1].outcome.name == outcome
    assert {attempt.outcome.name for attempt in attempts} == {outcome}
    assert all(attempt.usage in (None, Usage()) for attempt in attempts), "unknown is null, never 0"
    told = f"{result.model_dump_json()} {caplog.text}".encode() + kept(app)
    assert KEY.encode() not in told
    assert LEAK.encode() not in told
    checked = verify(app, "t", as_="ana@acme")
    assert checked.faults == ()
    assert checked.attempts == len(attempts)


async def asked_without_a_thread(app: App) -> None:
    from langchain_core.messages import HumanMessage

    async with app.asynchronous() as graph:
        await graph.ainvoke(
            {"messages": [HumanMessage(QUESTION, id="m")]},
            {"configurable": {"thread_id": "t"}},
            context={"principal": "ana@acme"},
        )


def test_8_a_server_without_the_feature_is_asked_once_in_a_lower_mode(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def answer(number: int) -> Answer:
        if "response_format" in stub.asked[-1]:
            return refusal(400, message=f"response_format is not supported; your key {KEY}", param="response_format")
        return written(ESCALATE)

    app, stub = opened(answer, model_modes=("json_schema", "text"))
    result = app.ask(QUESTION, as_="ana@acme", thread="t")
    (decision,) = result.decisions
    assert story(decision.attempts) == [("json_schema", "unsupported"), ("text", "proposal")]
    assert result.status is Status.ESCALATED
    assert ["response_format" in sent for sent in stub.asked] == [True, False]
    assert KEY.encode() not in f"{result.model_dump_json()} {caplog.text}".encode() + kept(app)
    for number in (0, 1):
        assert replay(app, "t", 0, as_="ana@acme", attempt=number).proved


def test_a_request_that_is_too_long_for_good_ends_with_what_is_known(opened: Open) -> None:
    """Once more with half of it, and not again: code speaks then, without the model."""
    app, stub = opened(refusal(400, code="context_length_exceeded", message=LEAK))
    result = app.ask(QUESTION, as_="ana@acme", thread="t")
    assert (result.status, result.effects) == (Status.ESCALATED, ())
    tried = [attempt.outcome.name for decision in result.decisions for attempt in decision.attempts]
    assert tried == ["context_too_long"] * len(stub.asked)
    assert all(len(decision.attempts) <= 2 for decision in result.decisions)
    assert LEAK.encode() not in kept(app)


def test_9_no_usage_is_unknown(opened: Open) -> None:
    app, _ = opened(written(ESCALATE), **TEXT)
    (decision,) = app.ask(QUESTION, as_="ana@acme").decisions
    assert decision.attempts[0].usage == Usage()


def test_a_corrected_reply_goes_on_and_every_attempt_is_proved(opened: Open) -> None:
    """Tools in silence, then told, then as JSON: the three attempts stand in the record and rebuild byte by byte."""

    def answer(number: int) -> Answer:
        return written(ESCALATE) if number == 3 else written(f"I would hand over. {LEAK}")

    app, stub = opened(answer, model_modes=("tools", "json_object", "text"))
    result = app.ask(QUESTION, as_="ana@acme", thread="t")
    (decision,) = result.decisions
    expected = [("tools", "malformed"), ("tools", "malformed"), ("json_object", "proposal")]
    assert story(decision.attempts) == expected
    assert ["tools" in sent for sent in stub.asked] == [True, True, False]
    assert ["<correction" in sent["messages"][1]["content"] for sent in stub.asked] == [False, True, True]
    assert [sent.get("response_format") for sent in stub.asked] == [None, None, {"type": "json_object"}]
    for number, sent in enumerate(stub.asked):
        found = replay(app, "t", 0, as_="ana@acme", attempt=number)
        assert found.proved
        assert found.request is not None
        assert [message.content for message in found.request.messages] == [m["content"] for m in sent["messages"]]
    assert LEAK.encode() not in kept(app)


def test_a_storm_is_waited_out_within_its_bound(opened: Open) -> None:
    app, stub = opened(
        lambda number: refusal(429).with_headers({"Retry-After": "3"}) if number < 3 else written(ESCALATE),
        model_modes=("text",),
        model_retries=2,
        model_wait_s=6.0,
    )
    assert app.ask(QUESTION, as_="ana@acme").status is Status.ESCALATED
    assert len(stub.asked) == 3
    waiting = app.ports.waiting
    assert isinstance(waiting, FakeWaiting)
    assert waiting.waits_s == [3.0, 3.0]


def test_parallel_calls_with_one_id_or_none_are_told_apart(opened: Open) -> None:
    """Both reads run, each under an id of ours; what the server called them stands nowhere."""
    first = completion(
        {
            "tool_calls": [
                tool_call("search_incidents", '{"query": "api"}', LEAK),
                tool_call("search_incidents", '{"query": "keys"}', LEAK),
            ]
        },
        "tool_calls",
    )
    second = completion({"tool_calls": [tool_call("escalate", '{"reason": "A person has to look."}', None)]})
    app, _ = opened(lambda number: first if number == 1 else second)
    result = app.ask(QUESTION, as_="ana@acme")
    verdicts = [verdict.call_id for verdict in result.decisions[0].verdicts]
    assert verdicts == ["call-0-0", "call-0-1"]
    assert result.status is Status.ESCALATED
    assert LEAK.encode() not in kept(app)


def test_a_run_that_is_cancelled_hangs_up_and_files_nothing(opened: Open) -> None:
    app, stub = opened(Answer({}, pause_s=60.0), model_timeout_s=60.0)

    async def cancelled() -> None:
        run = asyncio.create_task(asked_without_a_thread(app))
        while not stub.asked:
            await asyncio.sleep(0.02)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    found = app.history("t", as_="ana@acme")
    assert (found.status, found.effects) == (Status.FAILED, ())
    assert [decision.attempts for decision in found.decisions] == [()]
