"""The decision table: the first row whose conditions all hold decides, and it reads no text (L2)."""

from typing import Any

import pytest

from state.domain import DecisionTable, Rule
from state.task import TaskState
from state.work import Decision, DecisionKind, DecisionSpec, Form, LapOutcome, Route

GATHER = DecisionSpec(
    kind=DecisionKind.GATHER,
    toolset="look",
    tools=("lookup",),
    forms=(Form.ANSWER,),
    instructions=("role",),
    route=Route.SINGLE,
    candidates_limit=7,
    evidence_limit=2,
    memory_limit=1,
    memory_purpose="desk",
    min_citations=1,
    examples_limit=3,
)
PLAN = DecisionSpec(kind=DecisionKind.PLAN, toolset="open", forms=(Form.PLAN,))
ACT = DecisionSpec(kind=DecisionKind.ACT, toolset="refund", tools=("refund",))
CLOSE = DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound")
TABLE = DecisionTable(
    specs=(GATHER, PLAN, ACT, CLOSE),
    rules=(
        Rule(name="bound", at_bound=True, then="close/bound"),
        Rule(name="first", outcomes=(None,), then="gather/look"),
        Rule(name="step", outcomes=(LapOutcome.PLANNED,), steps_left=True, then="next_step"),
        Rule(name="again", outcomes=(LapOutcome.SEARCHED,), then="again"),
        Rule(name="acted", outcomes=(LapOutcome.OBSERVED,), last_kinds=(DecisionKind.ACT,), then="plan/open"),
        Rule(name="forgiven", outcomes=(LapOutcome.DENIED,), max_denials=1, then="gather/look"),
        Rule(name="idle", steps_left=False, at_bound=False, then="plan/open"),
        Rule(name="rest", then="close/bound"),
    ),
)


@pytest.mark.parametrize(
    ("task", "rule", "spec"),
    [
        pytest.param({}, "first", GATHER, id="a turn begins"),
        pytest.param({"laps_in_turn": 3}, "first", GATHER, id="one lap before the bound"),
        pytest.param({"laps_in_turn": 4}, "bound", CLOSE, id="the last lap closes"),
        pytest.param({"laps_in_turn": 9}, "bound", CLOSE, id="past the bound"),
        pytest.param({"last_outcome": "planned", "steps": ("refund", "lookup")}, "step", ACT, id="the first step"),
        pytest.param({"last_outcome": "planned", "steps": ("lookup",)}, "step", GATHER, id="a reading step"),
        pytest.param({"last_outcome": "planned", "steps": ("wipe",)}, "rest", CLOSE, id="a step nobody offers"),
        pytest.param({"last_outcome": "planned"}, "idle", PLAN, id="no step left"),
        pytest.param(
            {"last_outcome": "searched", "last_kind": "act", "last_toolset": "refund"}, "again", ACT, id="again"
        ),
        pytest.param(
            {"last_outcome": "searched", "last_kind": "act", "last_toolset": "x"}, "idle", PLAN, id="not again"
        ),
        pytest.param({"last_outcome": "observed", "last_kind": "act"}, "acted", PLAN, id="after acting"),
        pytest.param(
            {"last_outcome": "observed", "last_kind": "gather", "steps": ("x",)}, "rest", CLOSE, id="after reading"
        ),
        pytest.param({"last_outcome": "denied", "denials_in_turn": 1}, "forgiven", GATHER, id="one denial"),
        pytest.param({"last_outcome": "denied", "denials_in_turn": 2}, "idle", PLAN, id="one too many"),
    ],
)
def test_the_first_row_that_holds_decides(task: dict[str, Any], rule: str, spec: DecisionSpec) -> None:
    decided = TABLE.decide(TaskState(next_index=11, **task), max_decisions=5)
    assert decided == spec.decision(11, rule)


def test_a_decision_takes_everything_from_its_spec() -> None:
    assert GATHER.decision(4, "first") == Decision(
        index=4,
        kind=DecisionKind.GATHER,
        toolset="look",
        rule="first",
        tools=("lookup",),
        forms=(Form.ANSWER,),
        route=Route.SINGLE,
        candidates_limit=7,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose="desk",
        instructions=("role",),
        min_citations=1,
        examples_limit=3,
    )


@pytest.mark.parametrize("kind", list(DecisionKind))
def test_only_a_plan_lap_admits_nothing_untrusted(kind: DecisionKind) -> None:
    spec = DecisionSpec(kind=kind, toolset="any")
    assert spec.admits_untrusted is (kind is not DecisionKind.PLAN)


def test_a_table_without_a_row_for_a_state_says_which() -> None:
    table = DecisionTable(specs=(GATHER,), rules=(Rule(name="first", outcomes=(None,), then="gather/look"),))
    with pytest.raises(RuntimeError, match="no rule of the decision table covers outcome denied; add a last row"):
        table.decide(TaskState(last_outcome=LapOutcome.DENIED), 5)


def test_a_row_that_names_no_spec_says_which_there_are() -> None:
    table = DecisionTable(specs=(GATHER, ACT), rules=(Rule(name="all", then="gather/refund"),))
    with pytest.raises(RuntimeError, match="no decision gather/refund in the domain's table; it has: gather/look, act"):
        table.decide(TaskState(), 5)
