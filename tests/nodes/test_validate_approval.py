"""The two-step approval (H01, H02, H03): a stored request, an answer by call id, everything checked again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from state.context import Trust
from state.policy import Policy
from state.ports import Claim
from state.run import Principal, Scope
from state.verdict import Allowed, Approval, Denied, NeedsApproval, Verdict
from tests.desk import AGENT, LEAD, POLICY, SCOPE
from tests.fakes import NOW
from tests.nodes.parts import Parts
from tests.nodes.validating import Validating

ANSWERED_BY_LEAD = Scope(principal=AGENT, actor=LEAD, thread="T")
INVALID = (
    "invalid decision: answer {call_id: {'approval_id': ..., 'decision': 'approve' or 'reject'}}, or with 'decision': "
    "'edit' and 'arguments': {all of the call's}; the call is still pending"
)
ANOTHER = "invalid decision: the answer names another approval; the call is still pending"
MAY_NOT = "invalid decision: this principal may not approve the call; the call is still pending"


class Waiting:
    """A call of pay that waits for a person."""

    def __init__(self, parts: Parts, policy: Policy = POLICY, **given: Any) -> None:
        self.parts = parts
        self.head = parts.planned("pay")
        self.calls = parts.act(("c1", "pay", {"vendor": "A", "amount": 120}))
        (pending,) = self.run(policy=policy, **given)
        assert isinstance(pending, NeedsApproval)
        self.pending = pending

    @property
    def approval_id(self) -> str:
        return self.pending.request.approval_id

    def run(self, *answers: Any, policy: Policy = POLICY, scope: Scope = SCOPE, **given: Any) -> tuple[Verdict, ...]:
        reads = {"request": self.parts.request(parent=self.head), **given}
        self.validating = Validating(self.parts, *answers, policy=policy)
        return self.validating.run(self.calls, scope=scope, **reads)

    def answered(self, answer: Any, scope: Scope = ANSWERED_BY_LEAD, **given: Any) -> Verdict:
        verdicts = given.pop("verdicts", (self.pending,))
        (verdict,) = self.run(answer, scope=scope, verdicts=verdicts, **given)
        return verdict

    def say(self, word: Any, **more: Any) -> dict[str, Any]:
        return {"c1": {"approval_id": self.approval_id, "decision": word, **more}}


def approval(waiting: Waiting, word: Any, by: str = "leo@t1") -> Approval:
    return Approval(approval_id=waiting.approval_id, decision=word, by=by, at=NOW)


WHERE: list[dict[str, Any]] = [
    {"argument": "vendor", "label": "untrusted", "item_ids": ["page"], "field": None, "chosen": None},
    {"argument": "amount", "label": "nowhere", "item_ids": [], "field": None, "chosen": None},
]


def test_the_person_sees_the_call_and_where_it_comes_from(parts: Parts) -> None:
    waiting = Waiting(parts)
    shown = parts.manifest(("page", Trust.UNTRUSTED, "runbook/x", "pay vendor A"))
    waiting.answered(waiting.say("approve"), manifest=shown)
    assert waiting.validating.questions == [
        {
            "approvals": [
                {
                    "call_id": "c1",
                    "approval_id": waiting.approval_id,
                    "tool": "pay",
                    "arguments": {"vendor": "A", "amount": 120},
                    "origins": {"vendor": ["page"], "amount": []},
                    "trace": WHERE,
                    "effect": "write",
                    "reversible": True,
                    "reason": "this operation always needs a person's confirmation",
                    "rule": "needs_confirmation",
                    "decisions": ["approve", "edit", "reject"],
                    "approver_roles": ["lead"],
                    "self_approval": False,
                    "expires_at": "2026-07-15T10:30:00+00:00",
                    "note": "",
                }
            ]
        }
    ]


def test_approve_and_reject_settle_the_call(parts: Parts) -> None:
    waiting = Waiting(parts)
    approved = waiting.answered(waiting.say("approve"))
    assert isinstance(approved, Allowed)
    assert (approved.call_id, approved.rule, approved.policy_version) == ("c1", "needs_confirmation", "desk-1")
    assert (approved.approval, approved.request) == (approval(waiting, "approve"), waiting.pending.request)
    assert (approved.bound, approved.opened_by) == (waiting.pending.request.digest, waiting.head)
    rejected = void(waiting, "rejected_by_person", "a person rejected the call")
    said = approval(waiting, "reject")
    assert waiting.answered(waiting.say("reject")) == rejected.model_copy(update={"approval": said})


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        pytest.param(lambda w: None, INVALID, id="None"),
        pytest.param(lambda w: {}, INVALID, id="nothing"),
        pytest.param(lambda w: "", INVALID, id="an empty text"),
        pytest.param(lambda w: False, INVALID, id="False"),
        pytest.param(lambda w: True, INVALID, id="True"),
        pytest.param(lambda w: "yes please", INVALID, id="a text"),
        pytest.param(lambda w: "approve", INVALID, id="the bare word"),
        pytest.param(lambda w: [w.say("approve")], INVALID, id="a list"),
        pytest.param(lambda w: {"approved": "false"}, INVALID, id="approved false"),
        pytest.param(lambda w: {"approved": True}, INVALID, id="approved true"),
        pytest.param(lambda w: w.say("approve")["c1"], INVALID, id="without the call's id"),
        pytest.param(lambda w: {"c2": w.say("approve")["c1"]}, INVALID, id="another call's id"),
        pytest.param(lambda w: {"c1": None}, INVALID, id="nothing for the call"),
        pytest.param(lambda w: {"c1": "approve"}, INVALID, id="a word for the call"),
        pytest.param(lambda w: {"c1": True}, INVALID, id="True for the call"),
        pytest.param(lambda w: {"c1": {"decision": "approve"}}, INVALID, id="no approval id"),
        pytest.param(lambda w: w.say("Approve"), INVALID, id="another case"),
        pytest.param(lambda w: w.say("edit"), INVALID, id="an edit without arguments"),
        pytest.param(lambda w: w.say("edit", arguments=[5]), INVALID, id="an edit with a list"),
        pytest.param(lambda w: w.say("edit", arguments={}, force=True), INVALID, id="an edit with more"),
        pytest.param(lambda w: w.say(["approve"]), INVALID, id="a list of words"),
        pytest.param(lambda w: w.say("approve", arguments={"amount": 9}), INVALID, id="more than a decision"),
        pytest.param(
            lambda w: {"c1": {"approval_id": "apr-0", "decision": "approve"}}, ANOTHER, id="another approval's id"
        ),
        pytest.param(lambda w: {"c1": {"approval_id": None, "decision": "reject"}}, ANOTHER, id="no id at all"),
    ],
)
def test_an_odd_answer_leaves_the_call_pending_and_says_why(
    parts: Parts, answer: Callable[[Waiting], Any], note: str
) -> None:
    waiting = Waiting(parts)
    odd = waiting.answered(answer(waiting))
    assert odd == waiting.pending.model_copy(update={"note": note})
    # Asked again, with the note; and the thread can still be resumed.
    settled = waiting.answered(waiting.say("approve"), verdicts=(odd,))
    assert isinstance(settled, Allowed)
    (question,) = waiting.validating.questions
    assert [call["note"] for call in question["approvals"]] == [note]


SELF = POLICY.model_copy(update={"self_approval": True, "approver_roles": ("lead", "agent")})
BOTH = AGENT.model_copy(update={"roles": ("agent", "lead")})


@pytest.mark.parametrize("word", ["approve", "reject"])
@pytest.mark.parametrize(
    ("owner", "actor", "policy", "may"),
    [
        pytest.param(AGENT, LEAD, POLICY, True, id="a role the policy names"),
        pytest.param(AGENT, AGENT.model_copy(update={"name": "kim@t1"}), POLICY, False, id="another role"),
        pytest.param(AGENT, LEAD.model_copy(update={"roles": ()}), POLICY, False, id="no role"),
        pytest.param(BOTH, BOTH, POLICY, False, id="the owner, though of that role"),
        pytest.param(AGENT, AGENT, SELF, True, id="the owner, where the policy lets them"),
        pytest.param(
            AGENT, AGENT, SELF.model_copy(update={"approver_roles": ("lead",)}), False, id="the owner without the role"
        ),
    ],
)
def test_only_who_may_approve_decides(
    parts: Parts, owner: Principal, actor: Principal, policy: Policy, may: bool, word: str
) -> None:
    parts.scope = Scope(principal=owner, actor=owner, thread="T")
    waiting = Waiting(parts, policy)
    scope = Scope(principal=owner, actor=actor, thread="T")
    verdict = waiting.answered(waiting.say(word), scope, policy=policy)
    if may:
        assert isinstance(verdict, Allowed | Denied)
        assert verdict.approval == approval(waiting, word, by=actor.name)
    else:
        assert verdict == waiting.pending.model_copy(update={"note": MAY_NOT})


@pytest.mark.parametrize(("late", "settled"), [(timedelta(seconds=3599), True), (timedelta(seconds=3600), False)])
def test_an_answer_at_the_expiry_is_too_late(parts: Parts, late: timedelta, settled: bool) -> None:
    waiting = Waiting(parts)
    parts.clock.advance(late.total_seconds())
    verdict = waiting.answered(waiting.say("approve"))
    if settled:
        assert isinstance(verdict, Allowed)
    else:
        assert verdict == void(waiting, "approval_expired", "the request for approval has expired")


def void(waiting: Waiting, rule: str, reason: str, version: str = "desk-1") -> Denied:
    one = waiting.pending
    return Denied(call_id="c1", rule=rule, reason=reason, policy_version=version, trace=one.trace, request=one.request)


NOT_THE_ONE = "the call is not the one that was asked for"


def changed_definition(waiting: Waiting) -> dict[str, Any]:
    tool = waiting.parts.desk.tools["pay"]
    waiting.parts.desk.replace("pay", tool.run, description="Pay whoever asks.")
    return {}


def another_call(waiting: Waiting) -> dict[str, Any]:
    waiting.calls = waiting.parts.act(("c1", "pay", {"vendor": "A", "amount": 121}))
    return {}


def another_thread(waiting: Waiting) -> dict[str, Any]:
    waiting.parts.scope = SCOPE.model_copy(update={"thread": "U"})
    request = waiting.parts.request(parent=waiting.parts.planned("pay"))
    return {"scope": ANSWERED_BY_LEAD.model_copy(update={"thread": "U"}), "request": request}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(changed_definition, id="the tool's definition changed"),
        pytest.param(another_call, id="other arguments"),
        pytest.param(another_thread, id="another thread"),
        pytest.param(lambda w: {"request": w.parts.request(parent=w.parts.filed(index=9))}, id="another record before"),
    ],
)
def test_an_approval_is_void_for_anything_but_the_call_that_was_asked_for(
    parts: Parts, change: Callable[[Waiting], dict[str, Any]]
) -> None:
    waiting = Waiting(parts)
    given = change(waiting)
    verdict = waiting.answered(waiting.say("approve"), **given)
    assert isinstance(verdict, Denied)
    assert (verdict.rule, verdict.reason, verdict.approval) == ("approval_void", NOT_THE_ONE, None)


def test_a_new_policy_voids_what_was_asked_under_the_old_one(parts: Parts) -> None:
    waiting = Waiting(parts)
    newer = POLICY.model_copy(update={"version": "desk-2"})
    verdict = waiting.answered(waiting.say("approve"), policy=newer)
    assert verdict == void(waiting, "approval_void", NOT_THE_ONE, "desk-2")


def test_a_pending_verdict_for_no_call_is_void_and_nobody_is_asked_for_it(parts: Parts) -> None:
    waiting = Waiting(parts)
    stray = waiting.pending.model_copy(update={"call_id": "c9"})
    written = waiting.run(waiting.say("approve"), scope=ANSWERED_BY_LEAD, verdicts=(waiting.pending, stray))
    assert [verdict.verdict for verdict in written] == ["needs_approval", "denied"]
    assert waiting.validating.questions == []
    settled, other = waiting.run(waiting.say("approve"), scope=ANSWERED_BY_LEAD, verdicts=written)
    assert (settled.verdict, other) == ("allowed", written[1])
    (question,) = waiting.validating.questions
    assert [call["call_id"] for call in question["approvals"]] == ["c1"]


NO_LONGER_AGENT = Scope(principal=AGENT.model_copy(update={"roles": ()}), actor=LEAD, thread="T")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        pytest.param({"decided": {"tools": ()}}, "tool_not_offered", id="the offer"),
        pytest.param({"scope": NO_LONGER_AGENT}, "role_not_allowed", id="the owner's role"),
    ],
)
def test_rights_that_are_gone_outweigh_an_approval(parts: Parts, given: dict[str, Any], rule: str) -> None:
    waiting = Waiting(parts)
    verdict = waiting.answered(waiting.say("approve"), **given)
    assert (verdict.verdict, verdict.rule) == ("denied", rule)


def test_other_reasons_for_asking_are_written_before_anybody_is_asked(parts: Parts) -> None:
    """Done on another branch while the call waited: the person who answers has to know it."""
    waiting = Waiting(parts)
    before = waiting.say("approve")
    elsewhere = Claim(
        key="k", tenant="t1", thread="T", parent=waiting.head, ordinal=0, call_id="c1", tool="pay",
        arguments_digest="d", effect="write", proposal_ref=waiting.calls, opened_by=waiting.head, slot=0,
    )  # fmt: skip
    parts.ledger.claim(elsewhere, NOW)
    asked = waiting.answered(before)
    assert isinstance(asked, NeedsApproval)
    assert waiting.validating.questions == []
    assert asked.request.reason.startswith("the effect of this plan was already done on another branch of the thread; ")
    assert asked.request.expires_at == waiting.pending.request.expires_at
    assert isinstance(waiting.answered(before, verdicts=(asked,)), NeedsApproval)
    waiting.pending = asked
    done = waiting.answered(waiting.say("approve"))
    assert isinstance(done, Allowed)
    assert done.slot is None


def test_the_same_call_asked_again_is_the_same_question(parts: Parts) -> None:
    assert Waiting(parts).pending == Waiting(parts).pending
