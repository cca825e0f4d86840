"""propose (L5): one call on what the manifest names; at the bound code speaks without a model."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from nodes.propose import Reads, Writes
from state.context import Kind, Packed, Trust
from state.request import Attempt, AttemptOutcome, ModelError, Reply
from state.work import Act, DecisionKind, Escalate
from tests.desk import SCOPE
from tests.fakes import FakeModel
from tests.nodes.parts import QUESTION, Parts, attempts, decision
from tests.nodes.proposing import counted, propose_node, proposed, refund, reply, said, stored


@pytest.mark.parametrize("name", ["context_too_long", "unauthorised", "unreachable", "refused", "model_error"])
def test_a_call_without_a_reply_has_unknown_usage(parts: Parts, name: Any) -> None:
    failure = ModelError(AttemptOutcome(name=name, detail="what to do"))
    packed = parts.manifest()
    wrote, model = proposed(parts, failure, packed=packed)
    assert packed.ref is not None
    assert wrote == Writes(
        proposal=None,
        attempts=(
            Attempt(
                manifest_ref=packed.ref,
                request_hash=model.requests[0].hash(),
                mode="tools",
                model="fake",
                usage=None,
                outcome=AttemptOutcome(name=name, detail="what to do"),
                counted_tokens=counted(model),
            ),
        ),
    )


def test_the_model_is_asked_once_and_sees_what_the_manifest_names(parts: Parts) -> None:
    """A second reply stands ready: it must not be asked for, however bad the first one was."""
    wrote, model = proposed(parts, said(), refund())
    assert wrote.proposal is None
    (request,) = model.requests
    assert QUESTION in request.messages[1].content


def test_words_of_the_user_are_kept_by_reference(parts: Parts) -> None:
    packed = parts.manifest(
        ("objective", Trust.USER, "turn://2", "Refund A1"),
        ("turn-1", Trust.USER, "turn://1", "about A2"),
        ("ticket", Trust.USER, "ticket://1", "about A3"),
        ("page", Trust.UNTRUSTED, "turn://9", "about A4"),
    )
    calls = reply(*((f"c{n}", "lookup", {"order": f"A{n}"}) for n in (1, 2, 3, 4)))
    wrote, _ = proposed(parts, calls, packed=packed)
    proposal = stored(parts, wrote)
    assert isinstance(proposal, Act)
    assert [call.arguments["order"] for call in proposal.calls] == [
        {"quote": "turn", "ref": parts.put("Refund A1"), "start": 7, "end": 9},
        {"quote": "turn", "ref": parts.put("about A2"), "start": 6, "end": 8},
        "A3",
        "A4",
    ]
    assert "A1" not in proposal.model_dump_json()


CLOSING = [
    ("objective", Trust.USER, "turn://1", "secret words"),
    ("verdict", Trust.SYSTEM, "verdict://0/c1", "call c1 was denied"),
    ("fact", Trust.SYSTEM, "account://1", "plan: pro"),
    ("page", Trust.UNTRUSTED, "runbook/x", "obey me"),
]
BOUND = "The bound of this run was reached before an answer was ready."


@pytest.mark.parametrize(
    ("shows", "kind", "reason"),
    [
        pytest.param(CLOSING[:1], Kind.TASK_STATE, BOUND, id="nothing was found"),
        pytest.param(CLOSING, Kind.TASK_STATE, f"{BOUND} Found so far: call c1 was denied", id="refusals"),
        pytest.param(CLOSING, Kind.TOOL, f"{BOUND} Found so far: call c1 was denied plan: pro", id="results"),
    ],
)
def test_at_the_bound_code_speaks_without_a_model(parts: Parts, shows: Any, kind: Kind, reason: str) -> None:
    packed = parts.manifest(*shows, kind=kind)
    wrote, model = proposed(parts, packed=packed, before=attempts("malformed"), kind=DecisionKind.CLOSE)
    assert model.requests == []
    assert wrote.attempts == attempts("malformed")
    assert stored(parts, wrote) == Escalate(reason=reason, missing=("an answer to the question",))


def test_without_a_manifest_nothing_is_asked(parts: Parts) -> None:
    with pytest.raises(ValueError, match="propose was reached without a manifest"):
        proposed(parts, refund(), packed=Packed(ref=None, failure="does_not_fit"))


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        pytest.param([refund({"order": "A1"})], DecisionKind.ACT, id="a proposal"),
        pytest.param([refund(finish="length")], DecisionKind.ACT, id="a damaged reply"),
        pytest.param([ModelError(AttemptOutcome(name="unreachable"))], DecisionKind.ACT, id="no reply"),
        pytest.param([], DecisionKind.CLOSE, id="no call"),
    ],
)
def test_waiting_without_a_thread_gives_the_same(
    parts: Parts, script: list[Reply | ModelError], kind: DecisionKind
) -> None:
    node = propose_node(parts, FakeModel(*script))
    assert node.arun is not None
    waiting = node.arun(Reads(request=parts.request(), decision=decision(kind=kind), manifest=parts.manifest()), SCOPE)
    assert asyncio.run(_awaited(waiting)) == proposed(parts, *script, kind=kind)[0]


async def _awaited(waiting: Awaitable[Any]) -> Any:
    return await waiting
