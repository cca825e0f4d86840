"""plan (L2): the domain's table decides, under the bound of the policy in force."""

from collections.abc import Sequence
from typing import Any

import pytest

from nodes.plan import Reads, Writes, make_plan
from state.domain import DecisionTable, Rule
from state.run import Scope
from state.work import DecisionKind, DecisionSpec, LapOutcome
from tests.desk import POLICY, SCOPE
from tests.fakes import NOW
from tests.nodes.parts import Parts

GATHER = DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=("lookup",))
PLAN = DecisionSpec(kind=DecisionKind.PLAN, toolset="open")
CLOSE = DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound")
TABLE = DecisionTable(
    specs=(GATHER, PLAN, CLOSE),
    rules=(
        Rule(name="bound", at_bound=True, then="close/bound"),
        Rule(name="again", outcomes=(LapOutcome.SEARCHED,), then="again"),
        Rule(name="first", outcomes=(None,), then="gather/look"),
        Rule(name="idle", then="plan/open"),
    ),
)
STRICTER = POLICY.model_copy(update={"version": "desk-2", "effective_from": NOW, "max_decisions": 2})
LOOSER = POLICY.model_copy(update={"version": "desk-3", "effective_from": NOW.replace(year=2030), "max_decisions": 99})


class Withholding:
    """The port Connectors, which withholds these tools."""

    def __init__(self, *tools: str) -> None:
        self.tools = tools

    def withheld(self, scope: Scope, tools: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in tools if name in self.tools)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        pytest.param({}, GATHER.decision(0, "first"), id="a turn begins"),
        pytest.param({"next_index": 9}, GATHER.decision(9, "first"), id="the place in the chain goes on"),
        pytest.param({"laps_in_turn": 1}, CLOSE.decision(0, "bound"), id="the bound of the newest policy in force"),
        pytest.param({"last_outcome": LapOutcome.ANSWERED}, PLAN.decision(0, "idle"), id="an outcome"),
        pytest.param(
            {"last_outcome": LapOutcome.SEARCHED, "last_kind": DecisionKind.GATHER, "last_toolset": "look"},
            GATHER.decision(0, "again"),
            id="the same again",
        ),
    ],
)
def test_the_table_decides(parts: Parts, task: dict[str, Any], expected: Any) -> None:
    node = make_plan(table=TABLE, policies=[POLICY, LOOSER, STRICTER], connectors=Withholding())
    assert node.run(Reads(request=parts.request(), task=parts.task(**task)), SCOPE) == Writes(decision=expected)


def test_the_bound_is_the_one_of_the_requests_time(parts: Parts) -> None:
    node = make_plan(table=TABLE, policies=[POLICY, STRICTER], connectors=Withholding())
    earlier = parts.request(now=NOW.replace(day=1))
    wrote = node.run(Reads(request=earlier, task=parts.task(laps_in_turn=1)), SCOPE)
    assert wrote == Writes(decision=GATHER.decision(0, "first"))


def test_a_tool_that_is_not_what_was_reviewed_stands_in_no_toolset(parts: Parts) -> None:
    spec = GATHER.model_copy(update={"tools": ("lookup", "s__find")})
    table = DecisionTable(specs=(spec,), rules=(Rule(name="first", then="gather/look"),))
    node = make_plan(table=table, policies=[POLICY], connectors=Withholding("s__find", "other"))
    decision = GATHER.decision(0, "first").model_copy(update={"withheld": ("s__find",)})
    assert node.run(Reads(request=parts.request(), task=parts.task()), SCOPE) == Writes(decision=decision)
