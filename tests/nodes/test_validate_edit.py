"""An edit (H03): the same rules judge the changed call; what a person typed is the person's own word, no more."""

from typing import Any

import pytest
from pydantic import JsonValue

from nodes.validate.rules import judge
from state.checks.binding import arguments_digest
from state.checks.quote import unquoted
from state.contract import Approvers, Effect
from state.policy import Policy
from state.ports import Claim
from state.run import Scope
from state.verdict import Allowed, Approval, Denied, NeedsApproval, Verdict
from state.work import LapOutcome
from tests.desk import AGENT, LEAD, POLICY, SCOPE
from tests.fakes import NOW
from tests.nodes.parts import Parts, observation
from tests.nodes.test_validate_approval import ANSWERED_BY_LEAD, INVALID, MAY_NOT, Waiting
from tests.nodes.validating import Validating, case

PENDING = "; the call is still pending"


class Refunding(Waiting):
    """A refund over the limit that waits for a person: the order stands in the user's turn."""

    def __init__(self, parts: Parts, policy: Policy = POLICY, amount: float = 201) -> None:
        self.parts = parts
        self.head = parts.planned("refund", "refund")
        start = parts.get(parts.turn_ref).index("A1")
        quote = {"quote": "turn", "ref": parts.turn_ref, "start": start, "end": start + 2}
        self.calls = parts.act(("c1", "refund", {"order": quote, "amount": amount}))
        (pending,) = self.run(policy=policy)
        assert isinstance(pending, NeedsApproval)
        self.pending, self.quote = pending, quote

    def edited(self, scope: Scope = ANSWERED_BY_LEAD, **arguments: Any) -> Verdict:
        return self.answered(self.say("edit", arguments={"order": "A1", "amount": 150, **arguments}), scope)


def note(verdict: Verdict) -> str:
    assert isinstance(verdict, NeedsApproval)
    return verdict.note


def test_an_edit_is_allowed_with_its_own_arguments_and_under_its_own_name(parts: Parts) -> None:
    waiting = Waiting(parts)
    edited = waiting.answered(waiting.say("edit", arguments={"vendor": "B", "amount": 5}, tool="pay"))
    assert isinstance(edited, Allowed)
    assert edited.edited is not None
    assert "B" not in str(edited.edited["vendor"])  # a record outlives what is forgotten
    assert unquoted(edited.edited, parts.get) == {"vendor": "B", "amount": 5}
    assert edited.approval == Approval(approval_id=waiting.approval_id, decision="edit", by="leo@t1", at=NOW)
    assert edited.request == waiting.pending.request
    assert edited.bound != waiting.pending.request.digest
    again = waiting.answered(waiting.say("edit", arguments={"vendor": "B", "amount": 6}))
    assert isinstance(again, Allowed)
    assert again.bound != edited.bound


def test_what_was_left_as_it_was_stays_a_place_in_the_users_turn(parts: Parts) -> None:
    waiting = Refunding(parts)
    edited = waiting.edited()
    assert isinstance(edited, Allowed)
    assert edited.edited == {"order": waiting.quote, "amount": 150}


def test_an_edit_over_the_limit_is_decided_by_this_very_answer(parts: Parts) -> None:
    waiting = Refunding(parts)
    over, within = waiting.edited(amount=300), waiting.edited(amount=150)
    assert isinstance(over, Allowed)
    assert isinstance(within, Allowed)
    assert (over.rule, within.rule) == ("over_limit", "write_opened")


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        pytest.param({"txt": 1}, "arguments_invalid", id="a field that is none"),
        pytest.param({"amount": "150"}, "arguments_invalid", id="text for a number"),
        pytest.param({"amount": True}, "arguments_invalid", id="True for a number"),
        pytest.param({"order": "B7"}, "resource_not_owned", id="another tenant's order"),
    ],
)
def test_an_edit_that_the_rules_deny_leaves_the_call_pending_and_names_the_rule(
    parts: Parts, arguments: dict[str, Any], rule: str
) -> None:
    waiting = Refunding(parts)
    refused = waiting.edited(**arguments)
    assert note(refused).startswith(f"invalid decision: rule {rule} denies the call as edited: ")
    assert note(refused).endswith(PENDING)
    assert "B7" not in note(refused)
    assert isinstance(waiting.answered(waiting.say("approve"), verdicts=(refused,)), Allowed)


def test_a_missing_argument_is_missing(parts: Parts) -> None:
    waiting = Refunding(parts)
    refused = waiting.answered(waiting.say("edit", arguments={"amount": 150}))
    assert "arguments_invalid" in note(refused)


def test_a_limit_that_denies_is_not_a_persons_to_lift(parts: Parts) -> None:
    limits = tuple(one.model_copy(update={"over": "deny"}) for one in parts.desk.contracts["refund"].limits)
    parts.desk.replace("refund", parts.desk.tools["refund"].run, limits=limits, confirm=True)
    waiting = Refunding(parts, amount=50)
    assert "rule over_limit denies the call as edited" in note(waiting.edited(amount=201))


def test_what_the_approver_typed_is_neither_invented_nor_untrusted(parts: Parts) -> None:
    """A2 stands nowhere in the request."""
    waiting = Refunding(parts)
    assert isinstance(waiting.edited(order="A2"), Allowed)
    typed = case(parts.desk, "refund", {"order": "A2", "amount": 50}, typed=frozenset({"order"}))
    left = case(parts.desk, "refund", {"order": "A2", "amount": 50}, typed=frozenset({"amount"}))
    assert (judge(typed)[0], judge(left)[0]) == ("write_opened", "argument_invented")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(
            {"vendor": float("nan"), "amount": 5},
            "the arguments hold a number that is not finite, or has more than 64 bits",
            id="not a number",
        ),
        pytest.param({"vendor": {5}, "amount": 5}, "the arguments are not JSON", id="a set"),
        pytest.param({"vendor": "\ud800", "amount": 5}, "the arguments hold half a character", id="half a character"),
        pytest.param(
            {"vendor": {"quote": "turn", "ref": "art-1", "start": 0, "end": 9}, "amount": 5},
            "an argument may not have the shape of a stored quote",
            id="a reference to a body",
        ),
        pytest.param(
            {"vendor": "x" * 20_000, "amount": 5}, "got arguments of 20024 bytes, allowed are 20000", id="too long"
        ),
    ],
)
def test_what_no_call_can_hold_is_not_taken(parts: Parts, arguments: Any, why: str) -> None:
    waiting = Waiting(parts)
    assert note(waiting.answered(waiting.say("edit", arguments=arguments))) == f"invalid decision: {why}{PENDING}"


def test_an_edit_keeps_the_tool(parts: Parts) -> None:
    waiting = Waiting(parts)
    other = waiting.answered(waiting.say("edit", arguments={"order": "A1", "amount": 5}, tool="refund"))
    assert note(other) == f"invalid decision: an edit keeps the tool; reject and ask for the other one{PENDING}"
    assert note(waiting.answered(waiting.say("approve", tool="pay"))) == INVALID


def test_who_may_not_approve_may_not_edit(parts: Parts) -> None:
    waiting = Refunding(parts)
    assert note(waiting.edited(scope=SCOPE)) == MAY_NOT


def test_that_the_edited_call_was_begun_before_is_news_and_leaves_it_pending(parts: Parts) -> None:
    waiting = Waiting(parts)
    edit = waiting.say("edit", arguments={"vendor": "B", "amount": 5})
    done = waiting.answered(edit)
    assert isinstance(done, Allowed)
    given: dict[str, JsonValue] = {"vendor": "B", "amount": 5}
    begun = Claim(
        key="another", tenant="t1", thread="T", parent="gone", ordinal=0, call_id="c0", tool="pay",
        arguments_digest=arguments_digest("pay", given), effect="write", proposal_ref=parts.act(("c0", "pay", given)),
        opened_by=None, slot=None,
    )  # fmt: skip
    parts.ledger.claim(begun, NOW)
    assert "as edited, the same call was begun before" in note(waiting.answered(edit))


def edited_and_done(parts: Parts, waiting: Refunding, **edit: Any) -> str:
    """The head after the lap in which the refund was edited and done so."""
    verdict = waiting.edited(**edit)
    assert isinstance(verdict, Allowed)
    arguments = {"order": "A1", "amount": 150, **edit}
    seen = observation("c1", "refund", arguments_digest=arguments_digest("refund", arguments), effect=Effect.WRITE)
    return parts.filed(
        parent=waiting.head, proposal_ref=waiting.calls, verdicts=(verdict,), observations=(seen,),
        outcome=LapOutcome.OBSERVED, index=1,
    )  # fmt: skip


def test_the_call_that_was_edited_is_refused_as_it_was_for_the_rest_of_the_turn(parts: Parts) -> None:
    waiting = Refunding(parts)
    head = edited_and_done(parts, waiting)
    task = parts.task(laps_in_turn=2)
    same = parts.act(("c9", "refund", {"order": "A1", "amount": 201}))
    (verdict,) = Validating(parts).run(same, request=parts.request(parent=head), task=task)
    assert isinstance(verdict, Denied)
    assert (verdict.rule, verdict.reason) == (
        "edited_by_person",
        "a person changed this call in this turn, and it was carried out as changed",
    )
    other = parts.act(("c9", "refund", {"order": "A1", "amount": 20}))
    assert Validating(parts).run(other, request=parts.request(parent=head), task=task)[0].rule == "settled_by_person"
    later = parts.request(parent=head, turn_index=2)
    assert Validating(parts).run(same, request=later, task=parts.task())[0].rule == "effect_not_opened"


def test_an_edit_that_changed_nothing_refuses_nothing(parts: Parts) -> None:
    waiting = Refunding(parts)
    head = edited_and_done(parts, waiting, amount=201.0)
    same = parts.act(("c9", "refund", {"order": "A1", "amount": 201}))
    (verdict,) = Validating(parts).run(same, request=parts.request(parent=head), task=parts.task(laps_in_turn=2))
    assert verdict.rule == "over_limit"


def approvers(parts: Parts, **terms: Any) -> Waiting:
    parts.desk.replace("pay", parts.desk.tools["pay"].run, approvers=Approvers(**terms))
    return Waiting(parts)


@pytest.mark.parametrize("word", ["approve", "edit"])
def test_a_contract_bounds_what_may_be_answered(parts: Parts, word: str) -> None:
    waiting = approvers(parts, decisions=("reject",))
    more = {"arguments": {"vendor": "B", "amount": 5}} if word == "edit" else {}
    refused = waiting.answered(waiting.say(word, **more))
    assert note(refused) == f"invalid decision: for this tool only reject is allowed{PENDING}"
    (shown,) = waiting.validating.questions[0]["approvals"]
    assert shown["decisions"] == ["reject"]
    assert isinstance(waiting.answered(waiting.say("reject")), Denied)


def test_a_contracts_approvers_win_over_the_policys(parts: Parts) -> None:
    waiting = approvers(parts, roles=("boss",), self_approval=True)
    assert note(waiting.answered(waiting.say("approve"))) == MAY_NOT
    boss = LEAD.model_copy(update={"name": "bo@t1", "roles": ("boss",)})
    scope = Scope(principal=AGENT, actor=boss, thread="T")
    assert isinstance(waiting.answered(waiting.say("approve"), scope), Allowed)
    (shown,) = waiting.validating.questions[0]["approvals"]
    assert (shown["approver_roles"], shown["self_approval"]) == (["boss"], True)


@pytest.mark.parametrize(("own", "by_policy", "may"), [(True, False, True), (False, True, False), (None, True, True)])
def test_a_contract_says_whether_one_may_approve_ones_own(
    parts: Parts, own: bool | None, by_policy: bool, may: bool
) -> None:
    both = AGENT.model_copy(update={"roles": ("agent", "lead")})
    parts.scope = Scope(principal=both, actor=both, thread="T")
    parts.desk.replace("pay", parts.desk.tools["pay"].run, approvers=Approvers(self_approval=own))
    policy = POLICY.model_copy(update={"self_approval": by_policy})
    waiting = Waiting(parts, policy)
    answered = waiting.answered(waiting.say("approve"), parts.scope, policy=policy)
    assert isinstance(answered, Allowed if may else NeedsApproval)
