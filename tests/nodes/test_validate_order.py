"""Which rule decides where several speak: their order, a no before asking, and the default."""

from dataclasses import replace
from itertools import combinations

import pytest

from nodes.validate import rules
from nodes.validate.case import Allow, Ask, Case, Deny
from nodes.validate.opened import Opened
from nodes.validate.rules import RULES, judge
from state.contract import Limit
from tests.desk import Desk
from tests.nodes.parts import decision
from tests.nodes.test_validate_rules import NOBODY, OVER, PAGE, PAY_BACK
from tests.nodes.validating import case


def test_the_rules_stand_in_this_order() -> None:
    assert [rule.__name__ for rule in RULES] == [
        "tool_not_offered",
        "role_not_allowed",
        "arguments_invalid",
        "resource_not_owned",
        "argument_invented",
        "precondition_unmet",
        "rate_exceeded",
        "already_read",
        "edited_by_person",
        "effect_not_opened",
        "done_on_another_branch",
        "earlier_call_unsettled",
        "over_limit",
        "untrusted_origin",
        "needs_confirmation",
        "read_in_scope",
        "write_opened",
    ]


def broken(good: Case, rule: str) -> Case:
    """The case with what makes this rule speak."""
    match rule:
        case "tool_not_offered":
            return replace(good, decision=decision(tools=()))
        case "role_not_allowed":
            return replace(good, scope=NOBODY)
        case "arguments_invalid":
            return replace(good, arguments={**good.arguments, "approved": True})
        case "resource_not_owned":
            return replace(good, owns={"order": lambda scope, order: False})
        case "argument_invented":
            return replace(good, shown=())
        case "precondition_unmet":
            needs = good.contract.model_copy(update={"requires": ("never",)})
            return replace(good, contract=needs, holds={"never": lambda scope, arguments, now: False})
        case "rate_exceeded":
            return replace(good, over=("refunds_per_day",))
        case "edited_by_person":
            return replace(good, changed=frozenset({good.digest}))
        case "effect_not_opened":
            return replace(good, opened=Opened())
        case "done_on_another_branch":
            return replace(good, opened=replace(good.opened, free={}))
        case "earlier_call_unsettled":
            return replace(
                good, opened=replace(good.opened, unsettled=frozenset({(good.call.tool, good.digest, "another")}))
            )
        case "over_limit":
            return replace(good, arguments={**good.arguments, "amount": 201})
        case "untrusted_origin":
            return replace(good, shown=PAGE)
        case _:
            return replace(good, contract=good.contract.model_copy(update={"confirm": True}))


IN_ORDER = [rule.__name__ for rule in RULES if rule.__name__ not in ("already_read", "read_in_scope", "write_opened")]


@pytest.mark.parametrize(("first", "second"), [*combinations(IN_ORDER, 2)])
def test_of_two_the_earlier_rule_decides(desk: Desk, first: str, second: str) -> None:
    good = case(desk)
    assert judge(good) == ("write_opened", Allow())
    assert judge(broken(good, second))[0] == second
    assert judge(broken(broken(good, second), first))[0] == first


def test_a_no_wins_over_asking_wherever_it_stands(desk: Desk) -> None:
    """Nobody is asked to approve what the limits forbid."""
    limited = desk.contracts["refund"].model_copy(
        update={"limits": (Limit(parameter="amount", policy_key="refund_limit", over="deny"),)}
    )
    over = replace(case(desk, "refund", {**PAY_BACK, "amount": 201}), contract=limited)
    assert judge(broken(over, "done_on_another_branch")) == ("over_limit", Deny(OVER))


def test_a_person_is_told_every_reason_for_asking(desk: Desk) -> None:
    both = broken(broken(case(desk), "untrusted_origin"), "needs_confirmation")
    reasons = "argument order comes from untrusted text; this operation always needs a person's confirmation"
    assert judge(both) == ("untrusted_origin", Ask(reasons))


def test_without_a_rule_that_speaks_a_call_is_denied(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RULES", ())
    assert judge(case(desk)) == ("default_deny", Deny("no rule allows this call"))
