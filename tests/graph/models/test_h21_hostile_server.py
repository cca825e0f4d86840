"""H21 on the real loop and real HTTP: whatever a model server does is a typed outcome; no crash, no leak, no effect."""

import asyncio
import json
import logging

import pytest

from graph.inspection.replay import replay
from graph.inspection.verify import verify
from state.request import Usage
from state.work import Status
from tests.graph.models.hostile import (
    ESCALATE,
    KEY,
    LEAK,
    QUESTION,
    TEXT,
    Open,
    asked_without_a_thread,
    calls,
    kept,
    story,
    written,
)
from tests.graph.models.stub_server import Answer, completion, refusal, tool_call

ROTATE = calls(("rotate_api_key", {"key_id": "K-1007", "note": LEAK}))
CUT = ESCALATE[:-3]

ENDS_WELL = [
    pytest.param(written(f"```json\n{ESCALATE}\n```"), id="1 a fence around JSON"),
    pytest.param(written(f"{ESCALATE}\nhope this helps"), id="2 words behind JSON"),
    pytest.param(written(f"<think>{ROTATE}</think>{ESCALATE}"), id="7 other thoughts before JSON"),
    pytest.param(completion({"content": ESCALATE, "reasoning_content": ROTATE}), id="7 thoughts in a field"),
    pytest.param(written(ESCALATE, None), id="no finish reason"),
    pytest.param(written(ESCALATE, usage={"prompt_tokens": 10**30, "completion_tokens": -1}), id="counts beyond all"),
    pytest.param(written(ESCALATE, model=KEY), id="the key as the model's name"),
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
    assert KEY.encode() not in kept(app)
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
    "a field that stands twice": (
        completion({"tool_calls": [tool_call("rotate_api_key", '{"key_id": "K-1", "key_id": "K-1007"}')]}),
        "malformed",
    ),
    "arguments that are a list": (completion({"tool_calls": [tool_call("escalate", f'["{LEAK}"]')]}), "wrong_schema"),
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
    # Only the one that never gets done is to run out of time, however busy the machine is.
    app, _ = opened(answer, **TEXT, model_timeout_s=1.0 if name == "drips" else 20.0)
    if asynchronous:
        asyncio.run(asked_without_a_thread(app))
        result = app.history("t", as_="ana@acme")
    else:
        result = app.ask(QUESTION, as_="ana@acme", thread="t")
    assert (result.status, result.answer, result.effects) == (Status.FAILED, None, ())
    assert result.error is not None
    assert "; " in result.error, "what to do next"
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
