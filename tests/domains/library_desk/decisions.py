"""The desk's decision table: look, plan, renew, tell; or hand over."""

from typing import Any

from state.domain import DecisionTable, Rule
from state.work import DecisionKind, DecisionSpec, Form, LapOutcome, Route

FIXED: dict[str, Any] = {"instructions": ("role", "output")}
READS: dict[str, Any] = {"route": Route.SINGLE, "evidence_limit": 2, **FIXED}

SPECS = (
    DecisionSpec(
        kind=DecisionKind.GATHER,
        toolset="loans",
        tools=("find_loan",),
        forms=(Form.SEARCH, Form.PLAN, Form.ANSWER, Form.CLARIFY, Form.ESCALATE),
        min_citations=1,
        **READS,
    ),
    DecisionSpec(kind=DecisionKind.PLAN, toolset="wish", forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE), **FIXED),
    DecisionSpec(
        kind=DecisionKind.ACT, toolset="renewal", tools=("renew_loan",), forms=(Form.CLARIFY, Form.ESCALATE), **FIXED
    ),
    DecisionSpec(
        kind=DecisionKind.ANSWER,
        toolset="reader",
        forms=(Form.ANSWER, Form.SEARCH, Form.CLARIFY, Form.ESCALATE),
        min_citations=1,
        **READS,
    ),
    DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
)

TURN_BEGINS = (
    None,
    LapOutcome.ANSWERED,
    LapOutcome.ASKED,
    LapOutcome.ESCALATED,
    LapOutcome.CLOSED,
    LapOutcome.ABANDONED,
)
TO_TELL = (LapOutcome.OBSERVED, LapOutcome.DENIED, LapOutcome.REJECTED, LapOutcome.CALL_FAILED)

TABLE = DecisionTable(
    specs=SPECS,
    rules=(
        Rule(name="bound", at_bound=True, then="close/bound"),
        Rule(name="begins", outcomes=TURN_BEGINS, then="gather/loans"),
        Rule(name="searched", outcomes=(LapOutcome.SEARCHED,), then="again"),
        Rule(name="wished", outcomes=(LapOutcome.PLAN_REQUESTED,), then="plan/wish"),
        Rule(name="step", outcomes=(LapOutcome.PLANNED, LapOutcome.OBSERVED), steps_left=True, then="next_step"),
        Rule(name="tell", outcomes=TO_TELL, max_denials=1, then="answer/reader"),
        Rule(name="end", then="close/bound"),
    ),
)
