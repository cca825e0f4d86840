"""The decision table answers for every state of a task, and its specs keep the promises of the design."""

from itertools import product

import pytest

from domain.decisions import TABLE
from state.domain import Domain
from state.skill import SKILL_TOOLS
from state.task import TaskState
from state.work import DecisionKind, Form, LapOutcome, Route

MAX_DECISIONS = 8
SPECS = {f"{spec.kind}/{spec.toolset}": spec for spec in TABLE.specs}


def next_of(
    outcome: LapOutcome | None,
    last: str | None = None,
    steps: tuple[str, ...] = (),
    denials: int = 0,
    laps: int = 1,
    role: str = "customer",
) -> str:
    kind, _, toolset = (last or "").partition("/")
    task = TaskState(
        last_outcome=outcome,
        last_kind=DecisionKind(kind) if kind else None,
        last_toolset=toolset,
        steps=steps,
        denials_in_turn=denials,
        laps_in_turn=laps,
        next_index=5,
    )
    decision = TABLE.decide(task, MAX_DECISIONS, (role,))
    assert decision.index == 5
    return f"{decision.kind}/{decision.toolset}"


@pytest.mark.parametrize("outcome", [None, *LapOutcome])
@pytest.mark.parametrize("last", [None, *SPECS])
def test_every_state_of_a_task_has_a_next_decision(outcome: LapOutcome | None, last: str | None) -> None:
    for steps, denials, laps in product([(), ("rotate_api_key",), ("no_such_tool",)], [0, 1, 2, 9], [0, 1, 6]):
        assert next_of(outcome, last, steps, denials, laps) in SPECS
    assert next_of(outcome, last, laps=MAX_DECISIONS - 1) == "close/bound"
    assert next_of(outcome, last, laps=MAX_DECISIONS + 3) == "close/bound"


@pytest.mark.parametrize(
    ("outcome", "last", "expected"),
    [
        (None, None, "gather/diagnose"),
        (LapOutcome.ANSWERED, "answer/explain", "gather/diagnose"),
        (LapOutcome.ASKED, "plan/open", "gather/diagnose"),
        (LapOutcome.ABANDONED, "act/rotate", "gather/diagnose"),
        (LapOutcome.OBSERVED, "gather/diagnose", "answer/explain"),
        (LapOutcome.OBSERVED, "gather/look_up", "answer/explain"),
        (LapOutcome.OBSERVED, "act/rotate", "answer/report"),
        (LapOutcome.CALL_FAILED, "act/rotate", "answer/report"),
        (LapOutcome.CALL_FAILED, "gather/diagnose", "answer/explain"),
        (LapOutcome.PLAN_REQUESTED, "gather/diagnose", "plan/open"),
        (LapOutcome.PLAN_REQUESTED, "answer/explain", "plan/open"),
        (LapOutcome.PLANNED, "plan/open", "answer/explain"),
        (LapOutcome.REJECTED, "act/rotate", "answer/report"),
        (LapOutcome.SEARCHED, "gather/diagnose", "gather/diagnose"),
        (LapOutcome.SEARCHED, "answer/explain", "answer/explain"),
        (LapOutcome.MODEL_FAILED, "gather/diagnose", "close/bound"),
        (LapOutcome.DOES_NOT_FIT, "answer/explain", "close/bound"),
        (LapOutcome.INSUFFICIENT, "answer/explain", "close/bound"),
    ],
)
def test_what_follows_what(outcome: LapOutcome | None, last: str | None, expected: str) -> None:
    assert next_of(outcome, last) == expected


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (("rotate_api_key",), "act/rotate"),
        (("check_api_key_status", "rotate_api_key"), "gather/diagnose"),
        (("get_account",), "gather/look_up"),
        (("delete_api_key",), "act/delete"),
        (("list_tickets", "add_ticket_note"), "gather/look_up"),
        (("add_ticket_note",), "act/note"),
        (("issue_credit",), "act/credit"),
        (("no_such_tool",), "answer/explain"),
    ],
)
def test_a_plan_goes_on_with_its_next_step(steps: tuple[str, ...], expected: str) -> None:
    assert next_of(LapOutcome.PLANNED, "plan/open", steps) == expected
    assert next_of(LapOutcome.OBSERVED, "gather/diagnose", steps) == expected


def test_one_denial_is_explained_and_a_second_one_handed_over() -> None:
    assert next_of(LapOutcome.DENIED, "answer/explain", denials=1) == "answer/explain"
    assert next_of(LapOutcome.DENIED, "act/rotate", denials=1) == "answer/report"
    assert next_of(LapOutcome.DENIED, "answer/explain", denials=2) == "escalate/hand_over"
    assert next_of(LapOutcome.DENIED, "act/rotate", denials=2) == "escalate/hand_over"
    assert next_of(LapOutcome.DENIED, "escalate/hand_over", denials=3) == "close/bound"
    assert next_of(LapOutcome.DENIED, "escalate/hand_over", denials=1) == "close/bound"


@pytest.mark.parametrize("outcome", [None, LapOutcome.ANSWERED, LapOutcome.ASKED, LapOutcome.ABANDONED])
def test_the_support_desk_begins_by_looking_up(outcome: LapOutcome | None) -> None:
    for role in ("customer", "admin"):
        assert next_of(outcome, role=role) == "gather/diagnose"
    for role in ("agent", "supervisor"):
        assert next_of(outcome, role=role) == "gather/look_up"


def test_a_customers_first_refusal_leads_to_a_look_at_what_there_is() -> None:
    for role in ("customer", "admin"):
        assert next_of(LapOutcome.DENIED, "gather/diagnose", denials=1, role=role) == "gather/look_up"
        assert next_of(LapOutcome.DENIED, "gather/look_up", denials=2, role=role) == "escalate/hand_over"
    assert next_of(LapOutcome.DENIED, "gather/look_up", denials=1, role="agent") == "answer/explain"


def test_a_plan_that_opens_nothing_is_asked_about_once() -> None:
    assert next_of(LapOutcome.DENIED, "plan/open", denials=1) == "clarify/which_change"
    assert next_of(LapOutcome.DENIED, "plan/open", denials=2) == "escalate/hand_over"
    assert next_of(LapOutcome.ASKED, "clarify/which_change") == "gather/diagnose"


def test_every_kind_of_decision_has_a_place_and_each_one_but_the_last_is_instructed() -> None:
    assert {spec.kind for spec in TABLE.specs} == set(DecisionKind)
    for spec in TABLE.specs:
        assert bool(spec.instructions) is (spec.kind is not DecisionKind.CLOSE)


def test_the_same_names_decide_whatever_the_table_is_asked(support: Domain) -> None:
    offered = [name for spec in TABLE.specs for name in spec.tools if name not in SKILL_TOOLS]
    assert sorted(offered) == sorted({tool.contract.name for tool in support.tools})
    sections = {section.name for section in support.instructions}
    for spec in TABLE.specs:
        assert set(spec.instructions) <= sections
    assert len({rule.name for rule in TABLE.rules}) == len(TABLE.rules)


def test_the_worked_example_has_its_working_set() -> None:
    diagnose = SPECS["gather/diagnose"]
    assert diagnose.tools == ("check_api_key_status", "search_incidents")
    assert (diagnose.evidence_limit, diagnose.memory_limit, diagnose.memory_purpose) == (2, 1, "support")
    explain = SPECS["answer/explain"]
    assert (explain.evidence_limit, explain.memory_limit, explain.min_citations) == (2, 1, 1)
    assert explain.tools == ()


def test_a_plan_lap_admits_nothing_untrusted() -> None:
    plan = SPECS["plan/open"]
    assert (plan.route, plan.evidence_limit, plan.memory_limit, plan.tools) == (Route.NONE, 0, 0, ())
    assert not plan.admits_untrusted


def test_a_lap_that_offers_a_change_retrieves_nothing_and_cannot_answer(support: Domain) -> None:
    writing = {tool.contract.name for tool in support.tools if tool.contract.effect != "read"}
    for spec in TABLE.specs:
        if writing & set(spec.tools):
            assert spec.kind is DecisionKind.ACT
            assert (spec.route, spec.evidence_limit, spec.memory_limit) == (Route.NONE, 0, 0)
            assert Form.ANSWER not in spec.forms
