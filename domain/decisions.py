"""The decision table: which kind of decision comes next, from the state alone. It matches no text."""

from state.domain import DecisionTable, Rule
from state.work import DecisionKind, DecisionSpec, Form, LapOutcome, Route

MEMORY_PURPOSE = "support"
FIXED = ("role", "policy", "tool_guidance", "output")

SPECS = (
    DecisionSpec(
        kind=DecisionKind.GATHER,
        toolset="diagnose",
        tools=("check_api_key_status", "search_incidents"),
        forms=(Form.SEARCH, Form.PLAN, Form.CLARIFY, Form.ESCALATE, Form.ANSWER),
        instructions=(*FIXED, "decide_gather"),
        route=Route.SINGLE,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose=MEMORY_PURPOSE,
        min_citations=1,
    ),
    DecisionSpec(
        kind=DecisionKind.GATHER,
        toolset="look_up",
        tools=("get_account",),
        forms=(Form.SEARCH, Form.PLAN, Form.CLARIFY, Form.ESCALATE, Form.ANSWER),
        instructions=(*FIXED, "decide_gather"),
        route=Route.SINGLE,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose=MEMORY_PURPOSE,
        min_citations=1,
    ),
    DecisionSpec(
        kind=DecisionKind.PLAN,
        toolset="open",
        forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE),
        instructions=(*FIXED, "decide_plan"),
        examples_limit=1,
    ),
    DecisionSpec(
        kind=DecisionKind.ACT,
        toolset="rotate",
        tools=("rotate_api_key",),
        forms=(Form.CLARIFY, Form.ESCALATE),
        instructions=(*FIXED, "decide_act"),
    ),
    DecisionSpec(
        kind=DecisionKind.ANSWER,
        toolset="explain",
        forms=(Form.ANSWER, Form.SEARCH, Form.CLARIFY, Form.ESCALATE, Form.PLAN),
        instructions=(*FIXED, "decide_answer"),
        route=Route.SINGLE,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose=MEMORY_PURPOSE,
        min_citations=1,
    ),
    DecisionSpec(
        kind=DecisionKind.ANSWER,
        toolset="report",
        forms=(Form.ANSWER, Form.CLARIFY, Form.ESCALATE),
        instructions=(*FIXED, "decide_report"),
    ),
    DecisionSpec(
        kind=DecisionKind.ESCALATE,
        toolset="hand_over",
        forms=(Form.ESCALATE,),
        instructions=(*FIXED, "decide_escalate"),
    ),
    # Code builds the partial answer, so there is nothing to instruct.
    DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
)

_TURN_BEGINS = (
    None,
    LapOutcome.ANSWERED,
    LapOutcome.ASKED,
    LapOutcome.ESCALATED,
    LapOutcome.CLOSED,
    LapOutcome.ABANDONED,
)
_WENT_WRONG = (LapOutcome.DENIED, LapOutcome.CALL_FAILED)

# The first row whose conditions hold decides; the last one always holds.
RULES = (
    Rule(name="bound_reached", at_bound=True, then="close/bound"),
    Rule(name="turn_begins", outcomes=_TURN_BEGINS, then="gather/diagnose"),
    Rule(name="plan_requested", outcomes=(LapOutcome.PLAN_REQUESTED,), then="plan/open"),
    Rule(
        name="next_step_of_plan",
        outcomes=(LapOutcome.PLANNED, LapOutcome.OBSERVED),
        steps_left=True,
        then="next_step",
    ),
    Rule(
        name="acted",
        outcomes=(LapOutcome.OBSERVED, LapOutcome.CALL_FAILED),
        last_kinds=(DecisionKind.ACT,),
        then="answer/report",
    ),
    Rule(name="refused_by_person", outcomes=(LapOutcome.REJECTED,), then="answer/report"),
    Rule(
        name="act_denied",
        outcomes=(LapOutcome.DENIED,),
        last_kinds=(DecisionKind.ACT,),
        max_denials=1,
        then="answer/report",
    ),
    Rule(name="observed", outcomes=(LapOutcome.OBSERVED, LapOutcome.PLANNED), then="answer/explain"),
    Rule(name="searched", outcomes=(LapOutcome.SEARCHED,), then="again"),
    Rule(
        name="hand_over_failed",
        outcomes=_WENT_WRONG,
        last_kinds=(DecisionKind.ESCALATE,),
        then="close/bound",
    ),
    Rule(name="went_wrong", outcomes=_WENT_WRONG, max_denials=1, then="answer/explain"),
    Rule(name="went_wrong_again", outcomes=_WENT_WRONG, then="escalate/hand_over"),
    Rule(name="cannot_go_on", then="close/bound"),
)

TABLE = DecisionTable(specs=SPECS, rules=RULES)
