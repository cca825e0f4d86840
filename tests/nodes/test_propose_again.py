"""A decision's model is asked again within bounds, each attempt on record, told what was wrong (H21)."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from nodes.propose import Reads
from state.asking import CallTerms
from state.request import Attempt, AttemptOutcome, ModelError, Reply
from tests.desk import SCOPE
from tests.fakes import FakeModel, FakeWaiting
from tests.nodes.parts import Parts, act, attempts, decision
from tests.nodes.proposing import propose_node, proposed, refund, reply, said, stored

WRITTEN = '{"calls": [{"name": "refund", "arguments": {"order": "B7"}}]}'
FOUND = act(("call-3-0", "refund", {"order": "B7"}))
GOOD = refund({"order": "B7"})
TERMS = CallTerms(modes=("tools", "json_object", "text"), retries=2, wait_s=10.0)


def error(name: Any, passing: bool = False, after_s: float | None = None) -> ModelError:
    return ModelError(AttemptOutcome(name=name, detail="why"), passing=passing, retry_after_s=after_s)


Script = Sequence[Reply | ModelError]


def story(made: tuple[Attempt, ...]) -> list[tuple[str, str]]:
    return [(attempt.mode, attempt.outcome.name) for attempt in made]


BUSY = error("rate_limited", passing=True)
AWAY = error("unreachable", passing=True)
UNKNOWN = error("unsupported")

STORIES: dict[str, tuple[Script, list[tuple[str, str]]]] = {
    "a proposal at once": ([GOOD], [("tools", "proposal")]),
    "one fault is corrected in the same mode": ([said("x"), GOOD], [("tools", "malformed"), ("tools", "proposal")]),
    "arguments that no client can read are corrected as well": (
        [error("wrong_schema"), GOOD],
        [("tools", "wrong_schema"), ("tools", "proposal")],
    ),
    "two faults of form change the mode, once": (
        [said("x"), said("x"), said(WRITTEN)],
        [("tools", "malformed"), ("tools", "malformed"), ("json_object", "proposal")],
    ),
    "three faults are the end": (
        [said("x"), said("x"), said("x"), said(WRITTEN)],
        [("tools", "malformed"), ("tools", "malformed"), ("json_object", "malformed")],
    ),
    "a cut reply is asked for again in the same mode": (
        [refund(finish="length")] * 3 + [GOOD],
        [("tools", "truncated")] * 3,
    ),
    "a mode that the server does not know is left at once": (
        [UNKNOWN, said(WRITTEN)],
        [("tools", "unsupported"), ("json_object", "proposal")],
    ),
    "a second one is the end": (
        [UNKNOWN, UNKNOWN, said(WRITTEN)],
        [("tools", "unsupported"), ("json_object", "unsupported")],
    ),
    "leaving a mode is no retry": (
        [UNKNOWN, said("x"), said("x"), said(WRITTEN)],
        [("tools", "unsupported"), *[("json_object", "malformed")] * 2, ("json_object", "proposal")],
    ),
    "a refusal is the model's last word": ([said(finish="refused"), GOOD], [("tools", "refused")]),
    "a refused request too": ([error("refused"), GOOD], [("tools", "refused")]),
    "a wrong key stays wrong": ([error("unauthorised"), GOOD], [("tools", "unauthorised")]),
    "what is too long goes back to pack": ([error("context_too_long"), GOOD], [("tools", "context_too_long")]),
    "a server that fails for good": ([error("model_error"), GOOD], [("tools", "model_error")]),
    "a server that was away": ([AWAY, AWAY, GOOD], [("tools", "unreachable")] * 2 + [("tools", "proposal")]),
    "a storm ends": ([BUSY] * 5, [("tools", "rate_limited")] * 3),
    "faults and failures share the bound": (
        [BUSY, said("x"), AWAY, GOOD],
        [("tools", "rate_limited"), ("tools", "malformed"), ("tools", "unreachable")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_decision_is_asked_within_its_terms(parts: Parts, name: str, asynchronous: bool) -> None:
    script, expected = STORIES[name]
    if not asynchronous:
        wrote, model = proposed(parts, *script, terms=TERMS)
    else:
        model = FakeModel(*script)
        node = propose_node(parts, model, terms=TERMS)
        assert node.arun is not None
        reads = Reads(request=parts.request(), decision=decision(), manifest=parts.manifest())
        wrote = asyncio.run(_awaited(node.arun(reads, SCOPE)))
    assert story(wrote.attempts) == expected
    assert [request.hash() for request in model.requests] == [made.request_hash for made in wrote.attempts]
    assert (wrote.proposal is not None) == (expected[-1][1] == "proposal")
    if wrote.proposal is not None:
        assert stored(parts, wrote) == FOUND


def test_without_retries_a_decision_has_one_attempt_and_one_change_of_mode(parts: Parts) -> None:
    wrote, _ = proposed(parts, said("x"), GOOD, terms=CallTerms())
    assert story(wrote.attempts) == [("tools", "malformed")]
    wrote, _ = proposed(parts, UNKNOWN, said("x"), GOOD, terms=CallTerms(modes=("tools", "text")))
    assert story(wrote.attempts) == [("tools", "unsupported"), ("text", "malformed")]


def test_the_model_is_told_what_was_wrong_and_nothing_it_said(parts: Parts) -> None:
    _, model = proposed(parts, said("ZX-881 is my answer"), GOOD, terms=TERMS)
    first, second = (request.messages[-1].content for request in model.requests)
    assert "<correction" not in first
    assert second.removeprefix(first).strip() == (
        '<correction outcome="malformed">\n'
        "Your reply to this was not used: the reply has text but calls neither a tool nor a form. "
        "Reply again, in the form that is asked for and with nothing else.\n</correction>"
    )


@pytest.mark.parametrize(
    ("script", "waits_s", "asked"),
    [
        pytest.param([AWAY, AWAY, GOOD], [0.5, 1.0], 3, id="longer each time"),
        pytest.param([error("rate_limited", True, 7.0), GOOD], [7.0], 2, id="as long as the server says"),
        pytest.param([error("rate_limited", True, 0.0), GOOD], [], 2, id="not at all"),
        pytest.param([error("rate_limited", True, 11.0), GOOD], [], 1, id="longer than the terms allow"),
        pytest.param(
            [error("rate_limited", True, 7.0)] * 2 + [GOOD], [7.0], 2, id="longer in all than the terms allow"
        ),
        pytest.param([said("x"), GOOD], [], 2, id="a correction does not wait"),
    ],
)
def test_how_long_is_waited(parts: Parts, script: Script, waits_s: list[float], asked: int) -> None:
    waiting = FakeWaiting()
    _, model = proposed(parts, *script, terms=TERMS, waiting=waiting)
    assert (waiting.waits_s, len(model.requests)) == (waits_s, asked)


def test_the_bound_is_the_decisions_and_its_mode_stays_when_pack_makes_the_request_shorter(parts: Parts) -> None:
    before = (
        *attempts("malformed"),
        attempts("context_too_long")[0].model_copy(update={"mode": "json_object"}),
    )
    wrote, _ = proposed(parts, said("x"), said("x"), said(WRITTEN), before=before, terms=TERMS)
    assert story(wrote.attempts[2:]) == [("json_object", "malformed"), ("json_object", "malformed")]


def test_what_was_wrong_with_another_working_set_is_not_told(parts: Parts) -> None:
    _, model = proposed(parts, GOOD, before=(*attempts("malformed"), *attempts("context_too_long")), terms=TERMS)
    assert "<correction" not in model.requests[0].messages[-1].content


def test_a_call_id_is_of_the_decision_whatever_the_attempt(parts: Parts) -> None:
    wrote, _ = proposed(parts, said("x"), reply((None, "refund", {"order": "B7"})), terms=TERMS)
    assert stored(parts, wrote) == FOUND


async def _awaited(waiting: Awaitable[Any]) -> Any:
    return await waiting
