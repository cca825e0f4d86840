"""validate (L6): one verdict per call; what a call may not do is told without a word of foreign data (H18)."""

import json
from typing import Any

import pytest
from pydantic import JsonValue

from nodes.execute import Reads as ExecuteReads
from nodes.execute import make_execute
from state.checks.binding import arguments_digest, call_digest
from state.context import Packed, Trust
from state.contract import Effect
from state.labels import Label, Traced
from state.ports import Claim
from state.verdict import Allowed, ApprovalRequest, NeedsApproval
from state.work import (
    Clarify,
    Escalate,
    LapOutcome,
    Plan,
    Proposal,
    Search,
    Status,
)
from tests.desk import POLICY, SCOPE
from tests.fakes import NOW
from tests.nodes.parts import Parts, decision, observation
from tests.nodes.validating import Validating

REFUND: dict[str, JsonValue] = {"order": "A1", "amount": 50}
ORDER_SAID = Traced(argument="order", label=Label.USER, item_ids=("objective",), chosen="named")


def bound(parts: Parts, tool: str, arguments: dict[str, JsonValue], parent: str | None = None) -> str:
    return call_digest(SCOPE, parent, "c1", arguments, parts.desk.contracts[tool], POLICY.version)


def test_a_call_for_a_person_is_first_written_then_asked(parts: Parts) -> None:
    validating = Validating(parts)
    (verdict,) = validating.run(parts.act(("c1", "refund", {**REFUND, "amount": 201})), opened=["refund"])
    assert isinstance(verdict, NeedsApproval)
    digest = bound(parts, "refund", {**REFUND, "amount": 201}, parts.planned("refund"))
    request = ApprovalRequest(
        approval_id=verdict.request.approval_id,
        requested_at=NOW,
        expires_at=NOW.replace(hour=10),
        digest=digest,
        approver_roles=("lead",),
        reason="argument amount is over the limit refund_limit",
    )
    trace = (ORDER_SAID, Traced(argument="amount", label=Label.NOWHERE))
    assert verdict == NeedsApproval(
        call_id="c1", rule="over_limit", policy_version="desk-1", trace=trace, request=request
    )
    assert verdict.request.approval_id.startswith("apr-")
    assert validating.questions == []


def test_every_call_gets_a_verdict_in_order(parts: Parts) -> None:
    calls = parts.act(
        ("c1", "lookup", {"order": "A1"}),
        ("c2", "no_such_tool", {}),
        ("c3", "refund", REFUND),
        ("c4", "get_invoice", {"id": "INV-9"}),
        ("c5", "pay", {"vendor": "V", "amount": 1}),
    )
    verdicts = Validating(parts).run(calls, opened=["pay"])
    assert [(verdict.call_id, verdict.verdict, verdict.rule) for verdict in verdicts] == [
        ("c1", "allowed", "read_in_scope"),
        ("c2", "denied", "unknown_tool"),
        ("c3", "denied", "effect_not_opened"),
        ("c4", "allowed", "read_in_scope"),
        ("c5", "needs_approval", "needs_confirmation"),
    ]


H18: dict[str, tuple[str, dict[str, JsonValue], str, str]] = {
    "a tenant of the model's choice": (
        "get_invoice",
        {"id": "INV-9", "tenant_id": "t2"},
        "denied",
        "arguments_invalid",
    ),
    "another tenant's invoice": ("get_invoice", {"id": "INV-t2-1"}, "denied", "resource_not_owned"),
    "below zero": ("refund", {"order": "A1", "amount": -5}, "denied", "arguments_invalid"),
    "a truth value": ("refund", {"order": "A1", "amount": True}, "denied", "arguments_invalid"),
    "a text with a comma": ("refund", {"order": "A1", "amount": "12,50"}, "denied", "arguments_invalid"),
    "approved by the model": ("refund", {**REFUND, "approved": True}, "denied", "arguments_invalid"),
    "over the limit": ("refund", {"order": "A1", "amount": 201}, "needs_approval", "over_limit"),
    "within the limit": ("refund", {"order": "A1", "amount": 200}, "allowed", "write_opened"),
    "an order of another tenant": ("refund", {"order": "B7", "amount": 5}, "denied", "resource_not_owned"),
}


@pytest.mark.parametrize(("tool", "arguments", "verdict", "rule"), H18.values(), ids=H18.keys())
def test_valid_by_schema_is_not_allowed_by_rights(
    parts: Parts, tool: str, arguments: dict[str, JsonValue], verdict: str, rule: str
) -> None:
    turn = parts.manifest(("objective", Trust.USER, "turn://1", "refund A1, INV-9, see INV-t2-1 and B7"))
    calls, request = parts.act(("c1", tool, arguments)), parts.request(parent=parts.planned("refund"))
    (found,) = Validating(parts).run(calls, manifest=turn, request=request)
    assert (found.verdict, found.rule) == (verdict, rule)
    told = found.model_dump_json()
    assert not [foreign for foreign in ("INV", "t2", "B7", "12,50") if foreign in told]
    execute = make_execute(
        artifacts=parts.artifacts,
        log=parts.log,
        ledger=parts.ledger,
        quotas=parts.quotas,
        clock=parts.clock,
        secrets=parts.secrets,
        memories=parts.memories,
        tools=parts.desk.tools,
        policies=[parts.policy],
    )
    execute.run(ExecuteReads(request=request, decision=decision(), proposal=calls, verdicts=(found,)), SCOPE)
    assert parts.desk.read == []
    assert parts.desk.effects == ([("refund", "A1", "200")] if verdict == "allowed" else [])


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_a_number_without_end_gets_no_verdict(parts: Parts, value: str) -> None:
    stored = json.dumps({"type": "act", "calls": [{"call_id": "c1", "tool": "refund", "arguments": {"amount": 7}}]})
    with pytest.raises(ValueError, match="not JSON compliant"):
        Validating(parts).run(parts.put(stored.replace("7", value)))


@pytest.mark.parametrize(
    ("shows", "arguments", "rule"),
    [
        pytest.param(("t", Trust.USER, "turn://1", "A1"), {"order": "A1"}, "read_in_scope", id="the user's words"),
        pytest.param(("t", Trust.UNTRUSTED, "page", "A1"), {"order": "A1"}, "untrusted_origin", id="a page's words"),
        pytest.param(("t", Trust.POLICY, "tool://lookup", "A1"), {"order": "A1"}, "argument_invented", id="a schema"),
        pytest.param(("t", Trust.POLICY, "form://answer", "A1"), {"order": "A1"}, "argument_invented", id="a form"),
        pytest.param(("t", Trust.SYSTEM, "verdict://0/c", "A1"), {"order": "A1"}, "argument_invented", id="a refusal"),
        pytest.param(
            ("t", Trust.POLICY, "decision://a/b", "A1"), {"order": "A1"}, "argument_invented", id="the decision"
        ),
    ],
)
def test_an_id_comes_from_what_the_request_showed(
    parts: Parts, shows: Any, arguments: dict[str, JsonValue], rule: str
) -> None:
    (verdict,) = Validating(parts).run(parts.act(("c1", "lookup", arguments)), manifest=parts.manifest(shows))
    assert verdict.rule == rule


def test_an_argument_kept_by_reference_is_judged_by_its_words(parts: Parts) -> None:
    where = parts.get(parts.turn_ref).index("A1")
    quote: dict[str, JsonValue] = {"quote": "turn", "ref": parts.turn_ref, "start": where, "end": where + 2}
    (verdict,) = Validating(parts).run(parts.act(("c1", "lookup", {"order": quote})))
    assert isinstance(verdict, Allowed)
    assert verdict.bound == bound(parts, "lookup", {"order": "A1"})


@pytest.mark.parametrize(
    ("laps", "rule"),
    [
        pytest.param(["plan"], "write_opened", id="opened"),
        pytest.param([], "effect_not_opened", id="nothing before"),
        pytest.param(["plan", "read"], "write_opened", id="a read in between"),
        pytest.param(["plan", "refund"], "effect_not_opened", id="used"),
        pytest.param(["plan", "unknown"], "effect_not_opened", id="perhaps used"),
        pytest.param(["plan twice", "refund"], "write_opened", id="opened twice, used once"),
        pytest.param(["plan twice", "refund", "refund"], "effect_not_opened", id="opened twice, used twice"),
        pytest.param(["plan", "other plan"], "effect_not_opened", id="a newer plan takes its place"),
        pytest.param(["plan", "turn ended"], "effect_not_opened", id="in an earlier turn"),
        pytest.param(["plan", "abandoned"], "effect_not_opened", id="before an abandoned lap"),
        pytest.param(["plan", "new turn"], "effect_not_opened", id="in a turn that another message cut short"),
        pytest.param(["plan", "read", "new turn"], "effect_not_opened", id="cut short after a read"),
        pytest.param(["plan", "new turn", "read"], "effect_not_opened", id="cut short, and a read of this turn"),
        pytest.param(["plan asked for"], "effect_not_opened", id="asked for outside a plan lap"),
    ],
)
def test_an_effect_is_opened_by_the_record_of_a_plan_lap(parts: Parts, laps: list[str], rule: str) -> None:
    head: str | None = None
    turn = 1
    for number, lap in enumerate(laps):
        seen = observation("c", "refund", effect=Effect.WRITE, outcome="unknown" if lap == "unknown" else "ok")
        plan = parts.proposal(Plan(goal="g", steps=("refund",)))
        given: dict[str, Any] = {"parent": head, "index": number, "turn_index": turn}
        match lap:
            case "plan":
                head = parts.planned("refund", parent=head)
            case "plan twice":
                head = parts.planned("refund", "lookup", "refund", parent=head)
            case "other plan":
                head = parts.planned("pay", parent=head)
            case "read":
                head = parts.filed(**given, observations=(observation("c", "lookup"),))
            case "refund" | "unknown":
                head = parts.filed(**given, observations=(seen,))
            case "turn ended":
                head = parts.filed(**given, status=Status.ANSWERED)
            case "new turn":
                turn += 1
            case "abandoned":
                head = parts.filed(**given, outcome=LapOutcome.ABANDONED)
            case _:
                head = parts.filed(**given, proposal_ref=plan, outcome=LapOutcome.PLAN_REQUESTED)
    request = parts.request(parent=head, turn_index=turn)
    (verdict,) = Validating(parts).run(parts.act(("c1", "refund", REFUND)), request=request)
    assert verdict.rule == rule


def claimed(
    parts: Parts,
    key: str,
    tool: str,
    opened_by: str | None,
    thread: str = "T",
    arguments: dict[str, JsonValue] | None = None,
) -> None:
    """An effect that some branch of the thread has begun."""
    given: dict[str, JsonValue] = {"order": "B7", "amount": 9} if arguments is None else arguments
    claim = Claim(
        key=key,
        tenant="t1",
        thread=thread,
        parent=None,
        ordinal=0,
        call_id="c0",
        tool=tool,
        arguments_digest=arguments_digest(tool, given),
        effect="write",
        proposal_ref=parts.act(("c0", tool, given)),
        opened_by=opened_by,
    )
    parts.ledger.claim(claim, NOW)


@pytest.mark.parametrize(
    ("steps", "done", "rules"),
    [
        pytest.param(["refund"], [], ["write_opened"], id="nowhere"),
        pytest.param(["refund"], [("refund", "this", "T")], ["done_on_another_branch"], id="there"),
        pytest.param(["refund"], [("refund", "another", "T")], ["write_opened"], id="opened by another plan"),
        pytest.param(["refund"], [("refund", None, "T")], ["write_opened"], id="opened by none"),
        pytest.param(["refund"], [("pay", "this", "T")], ["write_opened"], id="another step of the plan"),
        pytest.param(["refund"], [("refund", "this", "U")], ["write_opened"], id="in another thread"),
        pytest.param(
            ["refund", "refund"],
            [("refund", "this", "T")],
            ["write_opened", "done_on_another_branch"],
            id="one of two",
        ),
    ],
)
def test_an_effect_of_a_plan_done_on_another_branch_asks_a_person(
    parts: Parts, steps: list[str], done: list[tuple[str, str | None, str]], rules: list[str]
) -> None:
    plan = parts.planned(*steps)
    for number, (tool, opened_by, thread) in enumerate(done):
        claimed(parts, f"k{number}", tool, plan if opened_by == "this" else opened_by, thread)
    calls = parts.act(*((f"c{n}", "refund", {"order": "A1", "amount": n + 1}) for n in range(len(rules))))
    verdicts = Validating(parts).run(calls, opened=steps)
    assert [verdict.rule for verdict in verdicts] == rules
    asks = ["needs_approval" if rule == "done_on_another_branch" else "allowed" for rule in rules]
    assert [verdict.verdict for verdict in verdicts] == asks


@pytest.mark.parametrize(
    ("closed_as", "rule"),
    [(None, "earlier_call_unsettled"), ("unknown", "earlier_call_unsettled"), ("done", "done_on_another_branch")],
    ids=["its process died", "its tool did not say", "it was done"],
)
def test_a_call_that_was_begun_where_this_branch_does_not_tell_it_asks(
    parts: Parts, closed_as: str | None, rule: str
) -> None:
    arguments: dict[str, JsonValue] = {"order": "A1", "amount": 5}
    claimed(parts, "before", "refund", None, arguments=arguments)
    if closed_as is not None:
        parts.ledger.close("before", closed_as, None)
    (verdict,) = Validating(parts).run(parts.act(("c1", "refund", arguments)), opened=["refund"])
    assert verdict.rule == rule


def test_of_many_calls_only_as_many_as_were_opened_are_allowed(parts: Parts) -> None:
    calls = parts.act(*((f"c{n}", "refund", {"order": "A1", "amount": n + 1}) for n in range(4)))
    verdicts = Validating(parts).run(calls, opened=["refund", "refund"])
    assert [verdict.verdict for verdict in verdicts] == ["allowed", "allowed", "denied", "denied"]


@pytest.mark.parametrize("proposal", [Search(queries=("q",)), Clarify(question="q"), Escalate(reason="r")])
def test_what_does_nothing_needs_no_verdict(parts: Parts, proposal: Proposal) -> None:
    assert Validating(parts).run(parts.proposal(proposal)) == ()


def test_without_a_manifest_nothing_is_judged(parts: Parts) -> None:
    with pytest.raises(ValueError, match="validate was reached without a manifest"):
        Validating(parts).run(parts.act(("c1", "lookup", {"order": "A1"})), manifest=Packed(ref=None))
