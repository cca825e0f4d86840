"""What a case says of calls: how often a tool may run, how its calls end, and which rule judges them."""

from typing import Any

import pytest

from evals.play import Played
from evals.scores.measure import Score
from evals.scores.success import success
from state.contract import Effect
from state.verdict import Allowed, Denied
from tests.evals.made import a_case, a_decision, a_played, a_run, a_turn, an_observation

CALL = {"call_id": "call-0-0", "tool": "look", "arguments": {}}
DENIED = Denied(call_id="call-0-0", rule="role_not_allowed", reason="no", policy_version="1")
ALLOWED = Allowed(call_id="call-0-0", rule="read_in_scope", policy_version="1", bound="b")


def told(case: dict[str, Any], *decisions: Any, **changes: Any) -> Score:
    made = a_case(**case)
    played: Played = a_played(made, *decisions, **changes)
    return success(made, played)


def judged_by(verdict: Allowed | Denied, **changes: Any) -> Any:
    return a_decision(proposal={"type": "act", "calls": [CALL]}, verdicts=(verdict,), **changes)


def test_a_tool_that_runs_oftener_than_the_case_says_is_told() -> None:
    look = a_run("look", Effect.READ, key="")
    assert told({"at_most": {"look": 1}}, runs=(look,)).value == 1
    assert told({"at_most": {"look": 1}}, runs=(look, look)).why == "look ran 2 times, at most 1"


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (["ok", "ok"], ""),
        (["ok"], "calls of look ended ok, ok, not ok"),
        (["empty", "ok"], "calls of look ended ok, ok, not empty, ok"),
    ],
    ids=["as they did", "fewer", "otherwise"],
)
def test_how_calls_end_is_compared_in_order(wanted: list[str], why: str) -> None:
    one = a_decision(observations=(an_observation(),))
    assert told({"outcomes": {"look": wanted}}, one, one).why == why


def test_a_tool_without_calls_ends_never() -> None:
    assert told({"outcomes": {"look": ["ok"]}}).why == "calls of look ended never, not ok"


def test_the_rule_that_judged_a_call_is_the_one_that_is_wanted() -> None:
    wanted = {"ruled": [{"tool": "look", "rule": "role_not_allowed"}]}
    assert told(wanted, judged_by(DENIED)).why == ""
    assert told(wanted, judged_by(ALLOWED)).why == "look was judged by read_in_scope, not by role_not_allowed"
    assert told(wanted).why == "look was judged by none, not by role_not_allowed"


def test_a_rule_that_asked_counts_though_a_person_decided_since() -> None:
    case = a_case(ruled=[{"tool": "look", "rule": "read_in_scope"}])
    waiting = a_turn(case, decisions=(judged_by(ALLOWED, record=None),))
    assert told({"ruled": [{"tool": "look", "rule": "read_in_scope"}]}, judged_by(DENIED), turns=(waiting,)).value == 1
