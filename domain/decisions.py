"""The decision table: which kind of decision comes next, from the state and the roles alone. It matches no text."""

from domain.ownership import CUSTOMERS, STAFF
from domain.policy import MEMORY_PURPOSE
from state.domain import DecisionTable, Rule
from state.work import DecisionKind, DecisionSpec, Form, LapOutcome, Route

FIXED = ("role", "policy", "tool_guidance", "output")
# The toolsets of effects: one each, so that a lap which may change something can change this one thing only.
EFFECTS = {
    "rotate": "rotate_api_key",
    "delete": "delete_api_key",
    "note": "add_ticket_note",
    "credit": "issue_credit",
    "remember": "save_memory",
    "forget": "forget_memory",
}

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
        tools=("list_api_keys", "list_tickets", "get_ticket", "get_account", "read_skill_file", "run_skill_script"),
        forms=(Form.SEARCH, Form.PLAN, Form.CLARIFY, Form.ESCALATE, Form.ANSWER),
        instructions=(*FIXED, "decide_gather"),
        route=Route.SINGLE,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose=MEMORY_PURPOSE,
        min_citations=1,
        examples_limit=2,
        skills_limit=1,
    ),
    DecisionSpec(
        kind=DecisionKind.PLAN,
        toolset="open",
        forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE),
        instructions=(*FIXED, "decide_plan"),
        examples_limit=2,
    ),
    *(
        DecisionSpec(
            kind=DecisionKind.ACT,
            toolset=toolset,
            tools=(tool,),
            forms=(Form.CLARIFY, Form.ESCALATE),
            instructions=(*FIXED, "decide_act"),
            examples_limit=1,
        )
        for toolset, tool in EFFECTS.items()
    ),
    DecisionSpec(
        kind=DecisionKind.ANSWER,
        toolset="explain",
        # No tools=("read_result",) here: only a ticket with very many notes is ever cut, and its definition would cost
        # every answer about 3 % more tokens. A fork with long results names it where a result has just come.
        forms=(Form.ANSWER, Form.SEARCH, Form.CLARIFY, Form.ESCALATE, Form.PLAN),
        instructions=(*FIXED, "decide_answer"),
        route=Route.SINGLE,
        evidence_limit=2,
        memory_limit=1,
        memory_purpose=MEMORY_PURPOSE,
        min_citations=1,
        skills_limit=1,
    ),
    DecisionSpec(
        kind=DecisionKind.ANSWER,
        toolset="report",
        forms=(Form.ANSWER, Form.CLARIFY, Form.ESCALATE),
        instructions=(*FIXED, "decide_report"),
    ),
    DecisionSpec(
        kind=DecisionKind.CLARIFY,
        toolset="which_change",
        forms=(Form.CLARIFY, Form.ESCALATE),
        instructions=(*FIXED, "decide_clarify"),
        examples_limit=1,
    ),
    DecisionSpec(
        kind=DecisionKind.ESCALATE,
        toolset="hand_over",
        forms=(Form.ESCALATE,),
        instructions=(*FIXED, "decide_escalate"),
        examples_limit=1,
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
    # The support desk asks about other people's accounts and tickets: there is no own key to check first.
    Rule(name="turn_of_staff_begins", roles=STAFF, outcomes=_TURN_BEGINS, then="gather/look_up"),
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
    # No step, or a step that the roles do not allow: the wish was not understood, and only its author can mend that.
    Rule(
        name="plan_denied",
        outcomes=(LapOutcome.DENIED,),
        last_kinds=(DecisionKind.PLAN,),
        max_denials=1,
        then="clarify/which_change",
    ),
    # Diagnosing met a refusal, such as an id that is not the asker's: look at what there is before answering.
    Rule(
        name="first_look_denied",
        roles=CUSTOMERS,
        outcomes=(LapOutcome.DENIED,),
        last_kinds=(DecisionKind.GATHER,),
        max_denials=1,
        then="gather/look_up",
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
