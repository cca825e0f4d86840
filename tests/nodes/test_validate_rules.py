"""The rules for calls, in order: the first that finds something decides, and without one the call is denied (L6)."""

import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nodes.validate.case import Allow, Ask, Deny, Finding
from nodes.validate.opened import Opened
from nodes.validate.rules import judge
from state.checks.binding import arguments_digest
from state.checks.origin import Shown
from state.context import Trust
from state.contract import Limit
from state.work import ToolCall
from tests.desk import POLICY, SCOPE, Desk
from tests.fakes import NOW
from tests.nodes.parts import Parts, decision, observation
from tests.nodes.validating import TURN, case

PAGE = (Shown("page", Trust.UNTRUSTED, "A1 and INV-9"),)
LOOK: dict[str, Any] = {"order": "A1"}
PAY_BACK: dict[str, Any] = {"order": "A1", "amount": 50}


def done(**changes: Any) -> Any:
    """What the lookup of A1 brought in this turn."""
    given = {"arguments_digest": arguments_digest("lookup", {"order": "A1"}), "at": NOW, **changes}
    return (observation("c0", given.pop("tool", "lookup"), **given),)


def limits(*overs: Any) -> dict[str, Any]:
    """The contract of refund with these limits on its amount."""
    made = tuple(Limit(parameter="amount", policy_key="refund_limit", over=over) for over in overs)
    return {"contract": Desk().contracts["refund"].model_copy(update={"limits": made})}


NOBODY = SCOPE.model_copy(update={"principal": SCOPE.principal.model_copy(update={"roles": ()})})
REFUNDED = ToolCall(call_id="c0", tool="refund", arguments={})

NOT_OFFERED = Deny("this decision does not offer the tool")
NO_ROLE = Deny("the principal's roles do not include this tool")
NOT_FINITE = Deny("an argument is not a finite number")
NOT_OWNED = Deny("argument order names no order of this principal")
INVENTED = Deny("argument order stands nowhere in the request")
FRESH = Deny("the same call already brought a result that is still fresh")
TWICE = Deny("the same call stands in this proposal already")
CLOSED = Deny("no plan of this turn opened this effect, or not so often")
ELSEWHERE = Ask("the effect of this plan was already done on another branch of the thread")
NO_LIMIT = Deny("the policy record has no limit refund_limit")
OVER = "argument amount is over the limit refund_limit"


def unfit(keyword: str, allowed: str, place: str = "argument amount does") -> Deny:
    return Deny(f"{place} not fit the schema: {keyword}; the contract says {allowed}")


def policy(**changes: Any) -> Any:
    return POLICY.model_copy(update=changes)


def opened(here: dict[str, int], left: dict[str, int]) -> dict[str, Any]:
    """What a plan opened and this branch has not used, and what of it none has."""
    return {"opened": Opened("plan", Counter(here), {tool: tuple(range(count)) for tool, count in left.items()})}


def unsettled(tool: str, arguments: dict[str, Any], key: str = "another") -> dict[str, Any]:
    """A call of an earlier lap of which nobody knows whether it was done."""
    begun = frozenset({(tool, arguments_digest(tool, arguments), key)})
    return {"opened": Opened("plan", Counter({"refund": 1}), {"refund": (0,)}, begun)}


def earlier(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"earlier": (ToolCall(call_id="c0", tool=tool, arguments=arguments),)}


def said(text: str) -> dict[str, Any]:
    return {"shown": (Shown("turn", Trust.USER, text),)}


WHOLE = "the arguments do"
ROWS: dict[str, tuple[str, dict[str, Any], dict[str, Any], str, Finding]] = {
    "a read": ("lookup", LOOK, {}, "read_in_scope", Allow()),
    "an opened write": ("refund", PAY_BACK, {}, "write_opened", Allow()),
    "egress asks": ("send_note", {"order": "A1", "text": "x"}, {}, "write_opened", Ask("data would leave the system")),
    # allow-lists
    "not offered": ("lookup", LOOK, {"decision": decision(tools=("refund",))}, "tool_not_offered", NOT_OFFERED),
    "nobody's tool": ("wipe", {}, {}, "role_not_allowed", NO_ROLE),
    "no role": ("lookup", LOOK, {"scope": NOBODY}, "role_not_allowed", NO_ROLE),
    # arguments
    "missing": ("refund", LOOK, {}, "arguments_invalid", unfit("required", "order, amount", WHOLE)),
    "unknown": ("lookup", PAY_BACK, {}, "arguments_invalid", unfit("additionalProperties", "order", WHOLE)),
    "too small": ("refund", {**PAY_BACK, "amount": 0}, {}, "arguments_invalid", unfit("exclusiveMinimum", "0")),
    "text": ("refund", {**PAY_BACK, "amount": "50"}, {}, "arguments_invalid", unfit("type", "number")),
    "null": ("refund", {**PAY_BACK, "amount": None}, {}, "arguments_invalid", unfit("type", "number")),
    "truth": ("refund", {**PAY_BACK, "amount": True}, {}, "arguments_invalid", unfit("type", "number")),
    # resources
    "another tenant's": ("lookup", {"order": "B7"}, said("B7"), "resource_not_owned", NOT_OWNED),
    "nobody's": ("lookup", {"order": "A9"}, said("A9"), "resource_not_owned", NOT_OWNED),
    "empty": ("lookup", {"order": ""}, {}, "resource_not_owned", NOT_OWNED),
    "invented": ("lookup", {"order": "A2"}, {}, "argument_invented", INVENTED),
    "part of a word": ("lookup", LOOK, said("A11"), "argument_invented", INVENTED),
    "from a page": (
        "lookup",
        LOOK,
        {"shown": PAGE},
        "untrusted_origin",
        Ask("argument order comes from untrusted text"),
    ),
    "from page and user": ("lookup", LOOK, {"shown": (*PAGE, *TURN)}, "read_in_scope", Allow()),
    # unchanged reads
    "read again": ("lookup", LOOK, {"read": done()}, "already_read", FRESH),
    "empty again": ("lookup", LOOK, {"read": done(outcome="empty")}, "already_read", FRESH),
    "failed before": ("lookup", LOOK, {"read": done(outcome="error")}, "read_in_scope", Allow()),
    "something else": ("lookup", LOOK, {"read": done(arguments_digest="x")}, "read_in_scope", Allow()),
    "stale": ("lookup", LOOK, {"read": done(), "policy": policy(observation_ttl_s=0)}, "read_in_scope", Allow()),
    "twice in one": ("lookup", LOOK, earlier("lookup", order="A1"), "already_read", TWICE),
    "another beside": ("lookup", LOOK, earlier("lookup", order="A2"), "read_in_scope", Allow()),
    # effects
    "nothing opened": ("refund", PAY_BACK, {"opened": Opened()}, "effect_not_opened", CLOSED),
    "another opened": ("refund", PAY_BACK, opened({"pay": 3}, {"pay": 3}), "effect_not_opened", CLOSED),
    "left, but not here": ("refund", PAY_BACK, opened({}, {"refund": 1}), "effect_not_opened", CLOSED),
    "done elsewhere": ("refund", PAY_BACK, opened({"refund": 1}, {}), "done_on_another_branch", ELSEWHERE),
    "done elsewhere, over the limit": (
        "refund",
        {**PAY_BACK, "amount": 201},
        opened({"refund": 1}, {}),
        "done_on_another_branch",
        Ask(f"{ELSEWHERE.reason}; {OVER}"),
    ),
    "one of two done elsewhere": (
        "refund",
        PAY_BACK,
        opened({"refund": 2}, {"refund": 1}),
        "write_opened",
        Allow(),
    ),
    "one of two done elsewhere, the second": (
        "refund",
        PAY_BACK,
        {"earlier": (REFUNDED,), **opened({"refund": 2}, {"refund": 1})},
        "done_on_another_branch",
        ELSEWHERE,
    ),
    "another done elsewhere": (
        "refund",
        PAY_BACK,
        opened({"refund": 1, "pay": 1}, {"refund": 1}),
        "write_opened",
        Allow(),
    ),
    "begun before, and not known whether done": (
        "refund",
        PAY_BACK,
        unsettled("refund", PAY_BACK),
        "earlier_call_unsettled",
        Ask("the same call was begun before, and whether it was done is not known"),
    ),
    "the same amount in another form": (
        "refund",
        PAY_BACK,
        unsettled("refund", {**PAY_BACK, "amount": 50.0}),
        "earlier_call_unsettled",
        Ask("the same call was begun before, and whether it was done is not known"),
    ),
    "this very call, begun before": (
        "refund",
        PAY_BACK,
        unsettled("refund", PAY_BACK, key="this call"),
        "write_opened",
        Allow(),
    ),
    "another amount begun before": (
        "refund",
        PAY_BACK,
        unsettled("refund", {**PAY_BACK, "amount": 7}),
        "write_opened",
        Allow(),
    ),
    "another tool begun before": ("refund", PAY_BACK, unsettled("pay", PAY_BACK), "write_opened", Allow()),
    "a read needs nothing opened": ("lookup", LOOK, {"opened": Opened()}, "read_in_scope", Allow()),
    "opened once, asked twice": ("refund", PAY_BACK, {"earlier": (REFUNDED,)}, "effect_not_opened", CLOSED),
    "opened twice": (
        "refund",
        PAY_BACK,
        {"earlier": (REFUNDED,), **opened({"refund": 2}, {"refund": 2})},
        "write_opened",
        Allow(),
    ),
    "another effect beside": ("refund", PAY_BACK, earlier("pay"), "write_opened", Allow()),
    "a write again": ("refund", PAY_BACK, {"read": done(tool="refund")}, "write_opened", Allow()),
    # limits and confirmation
    "at the limit": ("refund", {**PAY_BACK, "amount": 200}, {}, "write_opened", Allow()),
    "over the limit": ("refund", {**PAY_BACK, "amount": 200.01}, {}, "over_limit", Ask(OVER)),
    "far over it": ("refund", {**PAY_BACK, "amount": 10**400}, {}, "over_limit", Ask(OVER)),
    "no limit known": ("refund", PAY_BACK, {"policy": policy(values={})}, "over_limit", NO_LIMIT),
    "limit is no number": (
        "refund",
        PAY_BACK,
        {"policy": policy(values={"refund_limit": True})},
        "over_limit",
        NO_LIMIT,
    ),
    "a hard limit": ("refund", {**PAY_BACK, "amount": 201}, limits("deny"), "over_limit", Deny(OVER)),
    "a no wins": ("refund", {**PAY_BACK, "amount": 201}, limits("approve", "deny"), "over_limit", Deny(OVER)),
    "always confirmed": (
        "pay",
        {"vendor": "V", "amount": 1},
        {},
        "needs_confirmation",
        Ask("this operation always needs a person's confirmation"),
    ),
}


@pytest.mark.parametrize(("tool", "arguments", "changes", "rule", "finding"), ROWS.values(), ids=ROWS.keys())
def test_what_the_rules_find(
    desk: Desk, tool: str, arguments: dict[str, Any], changes: dict[str, Any], rule: str, finding: Finding
) -> None:
    assert judge(case(desk, tool, arguments, **changes)) == (rule, finding)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, [{"x": math.inf}]])
def test_no_argument_is_without_end(desk: Desk, value: Any) -> None:
    """No stored proposal can hold one; a call from elsewhere is refused all the same."""
    given = replace(case(desk), arguments={**PAY_BACK, "amount": value})
    assert judge(given) == ("arguments_invalid", NOT_FINITE)


def test_a_fresh_result_counts_before_where_the_argument_comes_from(desk: Desk) -> None:
    given = case(desk, "lookup", LOOK, read=done())
    assert judge(replace(given, shown=PAGE))[0] == "already_read"
    assert judge(replace(given, shown=()))[0] == "argument_invented"


def test_a_result_is_stale_at_the_end_of_its_time(desk: Desk) -> None:
    ttl = timedelta(seconds=POLICY.observation_ttl_s)
    for age, rule in ((ttl - timedelta(microseconds=1), "already_read"), (ttl, "read_in_scope")):
        request = Parts().request(now=NOW + age)
        assert judge(case(desk, "lookup", LOOK, read=done(), request=request))[0] == rule


def fails(*given: object) -> bool:
    raise ValueError("Invalid isoformat string: 'tomorrow'")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [({"holds": {"desk_open": fails}}, "precondition_unmet"), ({"owns": {"order": fails}}, "resource_not_owned")],
    ids=["a precondition", "a resource"],
)
def test_a_look_of_the_domain_that_fails_is_a_no(desk: Desk, changes: dict[str, Any], rule: str) -> None:
    contract = desk.contracts["refund"].model_copy(update={"requires": ("desk_open",)})
    found = judge(case(desk, contract=contract, **changes))
    assert (found[0], type(found[1])) == (rule, Deny)


def test_a_precondition_is_asked_as_of_when_the_call_is_judged(desk: Desk) -> None:
    asked: list[object] = []

    def holds(scope: object, arguments: object, now: object) -> bool:
        asked.append(now)
        return True

    contract = desk.contracts["refund"].model_copy(update={"requires": ("desk_open",)})
    later = NOW + timedelta(hours=8)
    judge(case(desk, contract=contract, now=later, holds={"desk_open": holds}))
    assert asked == [later]
