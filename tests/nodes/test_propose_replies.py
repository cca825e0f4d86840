"""What a reply becomes (H21): a typed proposal, or a typed failure; never half of one."""

from typing import Any

import pytest

from state.request import Attempt, AttemptOutcome, Reply, Usage
from state.work import MOST_CALLS, Answer, Citation, Clarify, Escalate, Form, Plan, Proposal, Search
from tests.nodes.parts import Parts, act, attempts
from tests.nodes.proposing import counted, proposed, refund, reply, said, stored

ANSWER: dict[str, Any] = {"text": "Done.", "citations": [{"source": "s"}]}
ONE = act(("call-3-0", "refund", {}))
TWO = act(("call-3-0", "refund", {}), ("call-3-1", "refund", {}))
MOST = act(*((f"call-3-{n}", "refund", {}) for n in range(MOST_CALLS)))
TOO_MANY = reply(*[("c", "refund", {})] * (MOST_CALLS + 1))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            reply(("c1", "refund", {"order": "B7", "amount": 50}), ("c2", "lookup", {"order": "B7"})),
            act(("call-3-0", "refund", {"order": "B7", "amount": 50}), ("call-3-1", "lookup", {"order": "B7"})),
            id="tool calls",
        ),
        pytest.param(reply(("c1", "wipe_all", "")), act(("call-3-0", "wipe_all", {})), id="a tool nobody offered"),
        pytest.param(refund(text="hope this helps"), ONE, id="text around a call"),
        pytest.param(refund(text='<think>{"order": "ZZ"}</think>'), ONE, id="thoughts"),
        pytest.param(refund(finish="stop"), ONE, id="finish reason stop"),
        pytest.param(
            refund(' {"order": "A\n1"}\n'), act(("call-3-0", "refund", {"order": "A\n1"})), id="a line break within"
        ),
        pytest.param(reply(("c", "refund", {}), ("c", "refund", {})), TWO, id="doubled ids"),
        pytest.param(reply((None, "refund", {}), ("c2", "refund", {})), TWO, id="a missing id"),
        pytest.param(reply(("call-3-1", "refund", {}), ("call-3-0", "refund", {})), TWO, id="our ids, the other way"),
        pytest.param(reply(("c1\n<b>", "refund", {})), ONE, id="an id of more words"),
        pytest.param(reply(("c" * 65, "refund", {})), ONE, id="an id too long"),
        pytest.param(reply(*[("c", "refund", {})] * MOST_CALLS), MOST, id="as many calls as may be"),
        pytest.param(
            reply(("c1", "x" * 99, {})), act(("call-3-0", "a name of 99 characters", {})), id="a name too long"
        ),
        pytest.param(reply(("c1", "re\ud83dfund", {})), act(("call-3-0", "re?fund", {})), id="half a character"),
        pytest.param(
            reply(("c1", "answer", ANSWER)), Answer(text="Done.", citations=(Citation(source="s"),)), id="answer"
        ),
        pytest.param(reply((None, "search", {"queries": ["a", "b"]})), Search(queries=("a", "b")), id="search"),
        pytest.param(reply((None, "plan", {"goal": "g", "steps": ["x"]})), Plan(goal="g", steps=("x",)), id="plan"),
        pytest.param(reply((None, "clarify", {"question": "Which?"})), Clarify(question="Which?"), id="clarify"),
        pytest.param(reply((None, "escalate", {"reason": "r"})), Escalate(reason="r"), id="escalate"),
        pytest.param(reply((None, "answer", {"text": "x", "type": "plan"})), Answer(text="x"), id="a form's own type"),
    ],
)
def test_a_reply_becomes_a_proposal(parts: Parts, given: Reply, expected: Proposal) -> None:
    packed = parts.manifest()
    wrote, model = proposed(parts, given, packed=packed)
    assert stored(parts, wrote) == expected
    assert packed.ref is not None
    (request,) = model.requests
    assert wrote.attempts == (
        Attempt(
            manifest_ref=packed.ref,
            request_hash=request.hash(),
            mode="tools",
            model="m-1",
            usage=Usage(input_tokens=7),
            outcome=AttemptOutcome(name="proposal"),
            counted_tokens=counted(model),
        ),
    )


def deep(levels: int) -> str:
    return '{"a":' + "[" * levels + "]" * levels + "}"


QUOTE = {"quote": "turn", "ref": "art-1", "start": 0, "end": 9}


@pytest.mark.parametrize(
    ("given", "name"),
    [
        pytest.param(refund('{"order": "A1", "am', finish="length"), "truncated", id="cut"),
        pytest.param(refund({"order": "A1"}, finish="length"), "truncated", id="cut, though it looks complete"),
        pytest.param(said(finish="refused"), "refused", id="refused"),
        pytest.param(refund(finish="refused"), "refused", id="refused with a call"),
        pytest.param(refund({"order": "A1"}, finish="interrupted"), "malformed", id="broken off by the server"),
        pytest.param(said(), "empty_output", id="empty"),
        pytest.param(said(" \n"), "empty_output", id="only space"),
        pytest.param(said("You may refund it."), "malformed", id="only text"),
        pytest.param(said('```json\n{"text": "x"}\n```'), "malformed", id="JSON as text"),
        pytest.param(reply(("c1", "answer", ANSWER), ("c2", "answer", ANSWER)), "wrong_schema", id="two forms"),
        pytest.param(reply(("c1", "refund", {}), ("c2", "answer", ANSWER)), "wrong_schema", id="a form beside a call"),
        pytest.param(reply(("c1", "answer", {"citations": []})), "wrong_schema", id="a missing field"),
        pytest.param(reply(("c1", "answer", {"text": ""})), "wrong_schema", id="an empty answer"),
        pytest.param(reply(("c1", "answer", {"text": 5})), "wrong_schema", id="a number for a text"),
        pytest.param(reply(("c1", "answer", {**ANSWER, "approved": True})), "wrong_schema", id="an unknown field"),
        pytest.param(reply(("c1", "search", {"queries": []})), "wrong_schema", id="no query"),
        pytest.param(reply(("c1", "search", {"queries": [*"abcde"]})), "wrong_schema", id="too many queries"),
        pytest.param(reply(("c1", "search", {"queries": "abc"})), "wrong_schema", id="a text for a list"),
        pytest.param(reply(("c1", "plan", {"goal": "g", "steps": ["x"] * 9})), "wrong_schema", id="too many steps"),
        pytest.param(TOO_MANY, "wrong_schema", id="too many calls"),
        pytest.param(refund('{"amount": NaN}'), "malformed", id="NaN"),
        pytest.param(refund('{"amount": Infinity}'), "malformed", id="Infinity"),
        pytest.param(refund('{"amount": -Infinity}'), "malformed", id="minus Infinity"),
        pytest.param(refund('{"amount": 1e999}'), "malformed", id="a number too large"),
        pytest.param(refund('{"order": "\\ud83d"}'), "malformed", id="half a character in a call"),
        pytest.param(reply(("c1", "search", '{"queries": ["\\ud83d"]}')), "malformed", id="half a character in a form"),
        pytest.param(refund('{"order": "A1",}'), "malformed", id="nearly JSON"),
        pytest.param(refund('{"order": "A1", "order": "B7"}'), "malformed", id="a field that stands twice"),
        pytest.param(refund('{"order": {"a": 1, "a": 1}}'), "malformed", id="an inner field that stands twice"),
        pytest.param(refund("[]"), "wrong_schema", id="an empty list"),
        pytest.param(refund('```json\n{"order": "A1"}\n```'), "malformed", id="a fence around arguments"),
        pytest.param(refund('{"order": "A1"} hope this helps'), "malformed", id="text behind arguments"),
        pytest.param(refund(deep(100_000)), "malformed", id="too deep to read"),
        pytest.param(refund(deep(300)), "wrong_schema", id="too deep to keep"),
        pytest.param(refund("[1, 2]"), "wrong_schema", id="a list"),
        pytest.param(refund('"A1"'), "wrong_schema", id="a text"),
        pytest.param(refund("null"), "wrong_schema", id="null"),
        pytest.param(reply(("c1", "answer", "[]")), "wrong_schema", id="a list for a form"),
        pytest.param(refund({"order": QUOTE}), "wrong_schema", id="a forged quote"),
    ],
)
def test_a_damaged_reply_is_a_typed_failure(parts: Parts, given: Reply, name: str) -> None:
    packed = parts.manifest()
    before = dict(parts.artifacts.bodies)
    wrote, model = proposed(parts, given, packed=packed, before=attempts("malformed"))
    assert wrote.proposal is None
    first, second = wrote.attempts
    assert (first, second.outcome.name) == (attempts("malformed")[0], name)
    assert (second.usage, second.model, second.request_hash) == (given.usage, "m-1", model.requests[0].hash())
    assert parts.artifacts.bodies == before


@pytest.mark.parametrize("form", list(Form))
def test_a_form_that_was_not_offered_is_none(parts: Parts, form: Form) -> None:
    others = tuple(other for other in Form if other is not form)
    wrote, _ = proposed(parts, reply(("c1", form.value, {})), forms=others)
    offered = ", ".join(sorted(other.value for other in others))
    assert wrote.proposal is None
    assert wrote.attempts[0].outcome == AttemptOutcome(
        name="unknown_form", detail=f"form {form.value} is not offered here; offered: {offered}"
    )


SECRET = "ZX-881"


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        pytest.param(
            reply(("c1", "answer", {"text": "x", SECRET: 1})),
            "form answer: wrong or missing fields: unknown ones",
            id="a field's name",
        ),
        pytest.param(
            reply(("c1", "answer", {"text": "x", "citations": [{"source": "s", SECRET: 1}]})),
            "form answer: wrong or missing fields: unknown ones",
            id="an inner field's name",
        ),
        pytest.param(
            reply(("c1", "answer", {"text": [SECRET], "next_steps": SECRET})),
            "form answer: wrong or missing fields: next_steps, text",
            id="a value",
        ),
        pytest.param(reply(("c1", SECRET, f'{{"{SECRET}": ')), "a call's arguments are not JSON", id="a call"),
        pytest.param(TOO_MANY, "the reply has 17 calls; at most 16 stand in a proposal", id="many calls"),
        pytest.param(said(SECRET), "the reply has text but calls neither a tool nor a form", id="a text"),
    ],
)
def test_a_failure_repeats_nothing_of_the_reply(parts: Parts, given: Reply, detail: str) -> None:
    wrote, _ = proposed(parts, given)
    assert wrote.attempts[0].outcome.detail == detail


def test_what_nobody_sees_is_taken_out_of_what_is_said_and_counted(parts: Parts) -> None:
    hidden = {"text": "Do\u200bne.\x07\U000e0041", "next_steps": ["Wait\u2060"], "citations": [{"source": "s"}]}
    wrote, _ = proposed(parts, reply(("c1", "answer", hidden)))
    assert stored(parts, wrote) == Answer(text="Done.", next_steps=("Wait",), citations=(Citation(source="s"),))
    assert wrote.attempts[-1].taken_out == 4
    nothing, _ = proposed(parts, reply(("c1", "answer", {"text": "\u200b"})), before=attempts("malformed"))
    assert (nothing.proposal, nothing.attempts[-1].outcome.name) == (None, "wrong_schema")
    given, _ = proposed(parts, reply(("c1", "refund", {"order": "A\u200b1"})))
    assert stored(parts, given) == act(("call-3-0", "refund", {"order": "A\u200b1"}))
    assert given.attempts[-1].taken_out == 0
