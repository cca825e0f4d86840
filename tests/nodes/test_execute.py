"""execute (L7): only what was allowed runs, each effect once, its result stored before its claim closes (H01)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import JsonValue

from state.checks.binding import arguments_digest
from state.contract import Effect
from state.ports import Claim, LedgerRow
from state.run import Edited, Scope
from state.tools import Observation, ToolContext
from state.verdict import Allowed, Denied, NeedsApproval
from state.work import Search
from tests.desk import AGENT, LEAD, SCOPE
from tests.fakes import NOW
from tests.nodes.executing import APPROVAL, ASKED, PAY, REFUND, RUN, allowed, body, executed, node, reads
from tests.nodes.parts import Parts


def test_a_read_becomes_a_typed_observation_of_the_contracts_fields(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    calls = parts.act(("c1", "get_invoice", {"id": "INV-9"}))
    (seen,) = executed(parts, calls, allowed(parts, "get_invoice", {"id": "INV-9"}))
    shown = {"tool": "get_invoice", "invoice": "INV-9", "total": 40, "memo": "thanks", "artifact_ref": RUN}
    assert body(parts, seen) == shown
    assert seen == Observation(
        call_id="c1",
        tool="get_invoice",
        outcome="ok",
        at=NOW,
        artifact_ref=RUN,
        ref=seen.ref,
        trusted_fields=("invoice", "total"),
        total_bytes=len('{"invoice": "INV-9", "total": 40, "memo": "thanks"}'),
        truncated=False,
        effect=Effect.READ,
        arguments_digest=arguments_digest("get_invoice", {"id": "INV-9"}),
        warnings=("fields_left_out:1",),
    )
    assert parts.artifacts.named("t1", RUN) == seen.ref
    assert parts.ledger.held == {}
    assert "margin" not in "".join(parts.artifacts.bodies.values())
    assert "internal_note" not in f"{seen} {parts.artifacts.bodies}"  # a name may be anybody's: the log alone has it
    assert "get_invoice brought fields that its contract does not have: ('internal_note',)" in caplog.text


def test_a_write_is_claimed_before_and_closed_after_with_its_result(parts: Parts) -> None:
    calls = parts.act(("c1", "refund", REFUND))
    verdict = allowed(parts, "refund", REFUND)
    (seen,) = executed(parts, calls, verdict)
    claim = Claim(
        key=verdict.bound,
        tenant="t1",
        thread="T",
        parent=None,
        ordinal=0,
        call_id="c1",
        tool="refund",
        arguments_digest=arguments_digest("refund", REFUND),
        effect="write",
        proposal_ref=calls,
        opened_by="plan",
    )
    (row,) = parts.ledger.rows("t1", "T")
    assert row == LedgerRow(claim=claim, state="done", at=NOW, result_ref=row.result_ref)
    assert row.result_ref is not None
    assert Observation.model_validate_json(parts.get(row.result_ref)) == seen
    assert parts.desk.effects == [("refund", "A1", "50")]


@pytest.mark.parametrize("times", [2, 3])
def test_an_effect_is_done_once_and_its_result_is_kept(parts: Parts, times: int) -> None:
    calls = parts.act(("c1", "refund", REFUND))
    verdict = allowed(parts, "refund", REFUND)
    results = []
    for _ in range(times):
        results.append(executed(parts, calls, verdict))
        parts.clock.advance(60)
    assert results == [results[0]] * times
    assert parts.desk.effects == [("refund", "A1", "50")]


def test_the_same_call_after_another_record_is_another_effect(parts: Parts) -> None:
    calls = parts.act(("c1", "refund", REFUND))
    executed(parts, calls, allowed(parts, "refund", REFUND))
    later: dict[str, Any] = {"parent": "head", "request_id": "req-2"}
    executed(parts, calls, allowed(parts, "refund", REFUND, **later), **later)
    assert parts.desk.effects == [("refund", "A1", "50")] * 2


def test_the_tool_acts_in_the_owners_scope_with_the_key_of_its_claim(parts: Parts) -> None:
    given: list[ToolContext] = []
    parts.desk.replace("refund", lambda context, **arguments: given.append(context))
    scope = Scope(principal=AGENT, actor=LEAD, thread="T")
    executed(parts, parts.act(("c1", "refund", REFUND)), allowed(parts, "refund", REFUND), scope=scope)
    (key,) = parts.ledger.held
    assert given == [ToolContext(scope=scope, now=NOW, idempotency_key=key)]
    assert given[0].scope.principal == AGENT


def broken(change: Callable[[Allowed], Allowed]) -> Callable[[Parts], tuple[str, Allowed]]:
    def make(parts: Parts) -> tuple[str, Allowed]:
        return parts.act(("c1", "pay", PAY)), change(allowed(parts, "pay", PAY, approval=APPROVAL))

    return make


def unapproved(tool: str, arguments: dict[str, JsonValue]) -> Callable[[Parts], tuple[str, Allowed]]:
    """Without an approval, as no validate would."""
    return lambda parts: (parts.act(("c1", tool, arguments)), allowed(parts, tool, arguments))


REJECTED = APPROVAL.model_copy(update={"decision": "reject"})
NOTE: dict[str, JsonValue] = {"order": "A1", "text": "x"}


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(broken(lambda v: v.model_copy(update={"approval": None})), id="the approval taken away"),
        pytest.param(broken(lambda v: v.model_copy(update={"policy_version": "desk-2"})), id="another policy"),
        pytest.param(broken(lambda v: v.model_copy(update={"bound": "b"})), id="another bound call"),
        pytest.param(unapproved("pay", PAY), id="no approval for what needs confirmation"),
        pytest.param(unapproved("send_note", NOTE), id="no approval for egress"),
        pytest.param(
            lambda p: (p.act(("c1", "pay", PAY)), allowed(p, "pay", PAY, approval=REJECTED)),
            id="a rejection as approval",
        ),
        pytest.param(
            lambda p: (p.act(("c1", "pay", {**PAY, "amount": 1})), allowed(p, "pay", PAY, approval=APPROVAL)),
            id="other arguments",
        ),
        pytest.param(
            lambda p: (p.act(("c1", "refund", REFUND)), allowed(p, "lookup", {"order": "A1"})), id="another tool"
        ),
        pytest.param(lambda p: (p.act(("c1", "fly", {})), allowed(p, "lookup", {})), id="no such tool"),
        pytest.param(
            lambda p: (
                p.act(("c1", "refund", REFUND)),
                allowed(p, "refund", REFUND, "c2").model_copy(update={"call_id": "c1"}),
            ),
            id="another call's verdict",
        ),
    ],
)
def test_a_verdict_that_is_not_for_this_call_runs_nothing(
    parts: Parts, forged: Callable[[Parts], tuple[str, Allowed]]
) -> None:
    calls, verdict = forged(parts)
    assert executed(parts, calls, verdict) == []
    assert (parts.desk.effects, parts.desk.read, parts.ledger.held) == ([], [], {})


@pytest.mark.parametrize(
    "elsewhere",
    [
        pytest.param({"scope": SCOPE.model_copy(update={"thread": "U"})}, id="another thread"),
        pytest.param({"parent": "head"}, id="another record before"),
        pytest.param({"scope": Scope(principal=LEAD, actor=LEAD, thread="T")}, id="another owner"),
    ],
)
def test_a_verdict_belongs_to_its_place(parts: Parts, elsewhere: dict[str, Any]) -> None:
    calls = parts.act(("c1", "refund", REFUND))
    assert executed(parts, calls, allowed(parts, "refund", REFUND), **elsewhere) == []
    assert parts.desk.effects == []


def test_an_edited_lap_runs_nothing(parts: Parts) -> None:
    request = parts.request().model_copy(update={"edited": Edited.LAP})
    lap = reads(parts, parts.act(("c1", "refund", REFUND)), allowed(parts, "refund", REFUND))
    wrote = node(parts).run(lap.model_copy(update={"request": request}), SCOPE)
    assert (wrote.observations, parts.desk.effects, parts.ledger.held) == ((), [], {})


def test_a_definition_that_changed_since_the_verdict_runs_nothing(parts: Parts) -> None:
    verdict = allowed(parts, "refund", REFUND)
    parts.desk.replace("refund", parts.desk.tools["refund"].run, description="Refund everything.")
    assert executed(parts, parts.act(("c1", "refund", REFUND)), verdict) == []
    assert parts.desk.effects == []


def test_one_verdict_that_does_not_fit_stops_the_whole_lap_before_the_first_call(parts: Parts) -> None:
    calls = parts.act(("c1", "refund", REFUND), ("c2", "pay", PAY))
    forged = allowed(parts, "pay", PAY, "c2")
    assert executed(parts, calls, allowed(parts, "refund", REFUND), forged) == []
    assert (parts.desk.effects, parts.ledger.held) == ([], {})


def test_only_allowed_calls_run(parts: Parts) -> None:
    calls = parts.act(
        ("c1", "refund", REFUND), ("c2", "pay", PAY), ("c3", "lookup", {"order": "A1"}), ("c4", "wipe", {})
    )
    seen = executed(
        parts,
        calls,
        Denied(call_id="c1", rule="r", reason="x", policy_version="desk-1"),
        NeedsApproval(call_id="c2", rule="r", policy_version="desk-1", request=ASKED),
        allowed(parts, "lookup", {"order": "A1"}, "c3"),
    )
    assert [(one.call_id, one.artifact_ref) for one in seen] == [("c3", "toolrun://req-1/step-3")]
    assert parts.desk.effects == []


def test_what_is_no_call_runs_nothing(parts: Parts) -> None:
    search = parts.proposal(Search(queries=("x",)))
    assert executed(parts, search, allowed(parts, "lookup", {"order": "A1"})) == []


def test_waiting_in_a_thread_gives_the_same(parts: Parts) -> None:
    calls, verdict = parts.act(("c1", "lookup", {"order": "A1"})), allowed(parts, "lookup", {"order": "A1"})
    waited = asyncio.run(_awaited(node(parts).arun(reads(parts, calls, verdict), SCOPE)))
    assert [*waited.observations] == executed(parts, calls, verdict)


async def _awaited(waiting: Awaitable[Any]) -> Any:
    return await waiting
