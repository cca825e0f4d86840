"""What a call repeats: another effect of its turn, or what a person did not want (X3, H03)."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from nodes.validate.approval import approval_request, shown_to_person
from nodes.validate.case import Ask, Deny
from nodes.validate.deed import deed
from nodes.validate.repeats import Deeds, Repeats, done_elsewhere, repeats
from nodes.validate.rules import arguments_invalid, judge
from state.checks.binding import arguments_digest
from state.contract import Effect
from state.labels import Argument
from state.ports import Claim, LedgerRow
from state.record import DecisionRecord
from state.verdict import Denied, NeedsApproval
from state.work import LapOutcome
from tests.desk import Desk
from tests.fakes import NOW
from tests.nodes.parts import Parts, observation
from tests.nodes.test_validate_edit import Refunding
from tests.nodes.validating import Validating, case

AMOUNT = {"order": Argument(role="object"), "amount": Argument(role="amount")}


PAYS = {
    "to": Argument(role="target"),
    "amount": Argument(role="amount"),
    "day": Argument(role="day", may_choose=True),
    "currency": Argument(role="object"),
    "monthly": Argument(role="permission", harmless=(False,)),
    "until": Argument(role="day"),
}
PAID: dict[str, JsonValue] = {"to": ["ana", "bob"], "amount": "900", "day": "2026-07-01"}
OTHERS: dict[str, tuple[dict[str, JsonValue], bool]] = {
    "the amount spelt otherwise": ({"amount": "900.00"}, True),
    "the amount as a number": ({"amount": 900.0}, True),
    "another amount": ({"amount": 901}, False),
    "in another order": ({"to": ["bob", "ana"]}, True),
    "to one twice": ({"to": ["ana", "ana", "bob"]}, True),
    "to one of them": ({"to": [" Bob "]}, True),
    "to one of them and another": ({"to": ["bob", "eve"]}, True),
    "to another": ({"to": ["eve"]}, False),
    "on a day of the model's own": ({"day": "2026-07-02"}, True),
    "on no day": ({"day": None}, True),
    "with the default told": ({"currency": "EUR"}, True),
    "in another currency, which the first left open": ({"currency": "USD"}, True),
    "with what needs no origin": ({"monthly": False}, True),
    "with an end that the first left open": ({"until": "2026-09-01"}, True),
}


@pytest.mark.parametrize(("other", "same"), OTHERS.values(), ids=OTHERS.keys())
def test_calls_that_differ_in_what_decides_nothing_do_the_same(
    desk: Desk, other: dict[str, JsonValue], same: bool
) -> None:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"currency": {"type": "string", "default": "EUR"}},
        "additionalProperties": False,
    }
    contract = desk.contracts["pay"].model_copy(update={"arguments": PAYS, "parameters": schema})
    one, two = deed(contract, PAID), deed(contract, PAID | other)
    assert (one.same(two), two.same(one)) == (same, same)


BY_ANOTHER: dict[str, tuple[dict[str, JsonValue], bool]] = {
    "the same amount for the same": ({"account": "bob", "sum": 900}, True),
    "another amount": ({"account": "bob", "sum": 901}, False),
    "for another": ({"account": "eve", "sum": 900}, False),
    "no amount": ({"account": "bob"}, False),
}


@pytest.mark.parametrize(("other", "same"), BY_ANOTHER.values(), ids=BY_ANOTHER.keys())
def test_another_tool_does_the_same_where_it_moves_the_same_amount_for_the_same(
    desk: Desk, other: dict[str, JsonValue], same: bool
) -> None:
    pays = desk.contracts["pay"].model_copy(update={"arguments": PAYS})
    given = {"account": Argument(role="target"), "sum": Argument(role="amount")}
    schedules = desk.contracts["refund"].model_copy(update={"arguments": given})
    assert deed(schedules, other).same(deed(pays, PAID)) is same


def test_calls_that_change_other_things_of_one_are_two(desk: Desk) -> None:
    given = {"order": Argument(role="object"), "street": Argument(role="object"), "city": Argument(role="object")}
    contract = desk.contracts["refund"].model_copy(update={"arguments": given})
    street, city = ({"order": "A1", "street": "x"}, {"order": "A1", "city": "y"})
    assert deed(contract, street).same(deed(contract, city)) is False


@pytest.mark.parametrize(
    ("terms", "rule"),
    [
        pytest.param({"arguments": AMOUNT}, "effect_repeated", id="an amount"),
        pytest.param({"reversible": False}, "effect_repeated", id="what cannot be put back"),
        pytest.param({"reversible": True}, "write_opened", id="what can be put back"),
    ],
)
def test_a_plan_does_not_open_the_same_twice_where_that_costs(desk: Desk, terms: dict[str, Any], rule: str) -> None:
    contract = desk.contracts["refund"].model_copy(update=terms)
    assert judge(case(desk, contract=contract))[0] == "write_opened"
    assert judge(case(desk, contract=contract, repeats=Repeats(done=True)))[0] == rule


TO_A1: dict[str, JsonValue] = {"order": "A1", "amount": 50, "note": "July"}
NOTED = {**AMOUNT, "note": Argument(role="title")}
ELSEWHERE: dict[str, tuple[dict[str, Any], dict[str, JsonValue], bool]] = {
    "another note": ({"arguments": NOTED}, {**TO_A1, "note": "again"}, True),
    "another spelling": ({"arguments": NOTED}, {**TO_A1, "order": " a1 ", "amount": 50.0}, True),
    "another amount": ({"arguments": NOTED}, {**TO_A1, "amount": 51}, False),
    "another order": ({"arguments": NOTED}, {**TO_A1, "order": "A2"}, False),
    "nothing that controls it, and the same": ({"arguments": {}, "resources": {}}, TO_A1, True),
    "nothing that controls it, and another text": ({"arguments": {}, "resources": {}}, {**TO_A1, "note": "x"}, False),
}


@pytest.mark.parametrize(("terms", "given", "same"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_the_ledger_tells_what_another_branch_did(
    parts: Parts, terms: dict[str, Any], given: dict[str, JsonValue], same: bool
) -> None:
    contract = parts.desk.contracts["refund"].model_copy(update=terms)
    row = claimed(parts, TO_A1)

    def found(past: tuple[DecisionRecord, ...] = (), bound: str = "another", **claim: Any) -> bool:
        rows = [row.model_copy(update={"claim": row.claim.model_copy(update=claim)})]
        elsewhere = done_elsewhere(rows, past, {"refund": contract}, parts.get)
        return repeats(contract, given, (), {}, parts.get, Deeds(), elsewhere, (), bound).elsewhere

    assert found() is same
    assert found(bound="k") is False  # it is this very call
    assert found(tool="pay") is False
    assert found(arguments_digest="as a person edited it") is True
    head = parts.filed(observations=(observation("c0", "refund", arguments_digest=row.claim.arguments_digest),))
    here = parts.log.get("t1", "T", head)
    assert found((here,)) is False
    assert found((here.model_copy(update={"observations": ()}),)) is same
    older = here.model_copy(update={"observations": (), "parent": head})
    assert found((older,)) is False  # what was done before the oldest record that is looked at
    assert found((older.model_copy(update={"at": NOW - timedelta(seconds=1)}),)) is same


def claimed(parts: Parts, arguments: dict[str, JsonValue]) -> LedgerRow:
    claim = Claim(
        key="k", tenant="t1", thread="T", parent=None, ordinal=0, call_id="c0", tool="refund", effect="write",
        arguments_digest=arguments_digest("refund", arguments), proposal_ref=parts.act(("c0", "refund", arguments)),
    )  # fmt: skip
    return LedgerRow(claim=claim, state="done", at=NOW, result_ref=None)


def test_what_past_laps_proposed_is_read_once_for_a_decision(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many questions look at it, and however many calls stand in the proposal."""
    waiting = Refunding(parts)
    done = waiting.edited(amount=20)
    seen = observation("c1", "refund", effect=Effect.WRITE, arguments_digest="as edited")
    head = parts.filed(parent=waiting.head, proposal_ref=waiting.calls, verdicts=(done,), observations=(seen,), index=1)
    now = parts.act(*((f"c{n}", "refund", {"order": "A1", "amount": n}) for n in range(3)))
    taken: Counter[str] = Counter()
    get = parts.artifacts.get

    def counting(tenant: str, ref: str) -> str:
        taken[ref] += 1
        return get(tenant, ref)

    monkeypatch.setattr(parts.artifacts, "get", counting)
    Validating(parts).run(now, request=parts.request(parent=head), task=parts.task(laps_in_turn=2))
    assert taken[waiting.calls] == 1


def test_what_a_person_rejected_is_asked_for_again_with_another_text(parts: Parts) -> None:
    waiting = Refunding(parts)
    no = waiting.answered(waiting.say("reject"))
    assert isinstance(no, Denied)
    head = parts.filed(
        parent=waiting.head, proposal_ref=waiting.calls, verdicts=(no,), outcome=LapOutcome.REJECTED, index=1
    )
    again = parts.act(("c9", "refund", {"order": "A1", "amount": 20}))
    (verdict,) = Validating(parts).run(again, request=parts.request(parent=head), task=parts.task(laps_in_turn=2))
    assert isinstance(verdict, NeedsApproval)
    assert (verdict.rule, verdict.request.reason) == (
        "settled_by_person",
        "a person rejected or changed a call in this turn that was to do the same",
    )
    later = parts.request(parent=head, turn_index=2)
    assert Validating(parts).run(again, request=later, task=parts.task())[0].rule == "effect_not_opened"


def test_what_cannot_be_checked_is_refused(desk: Desk) -> None:
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"order": {"type": "string"}, "amount": {"type": "number", "multipleOf": 0.01}},
        "additionalProperties": False,
    }
    strict = desk.contracts["refund"].model_copy(update={"parameters": parameters})
    huge = case(desk, "refund", {"order": "A1", "amount": 10**400}, contract=strict)
    assert arguments_invalid(huge) == Deny(
        "an argument cannot be checked against the schema: it is too large or nested too deep"
    )


def test_a_person_sees_the_values_that_a_tool_takes_where_none_is_given(desk: Desk) -> None:
    properties: dict[str, JsonValue] = {
        "order": {"type": "string"},
        "amount": {"type": "number"},
        "public": {"type": "boolean", "default": True},
    }
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    of = replace(case(desk), contract=desk.contracts["refund"].model_copy(update={"parameters": parameters}))
    rule, finding = judge(replace(of, repeats=Repeats(settled=True)))
    assert isinstance(finding, Ask)
    request = approval_request(of, finding.reason, NOW)
    pending = NeedsApproval(call_id="c1", rule=rule, policy_version="desk-1", trace=(), request=request)
    assert shown_to_person(pending, of)["arguments"] == {"order": "A1", "amount": 50, "public": True}
