"""Where the offline reader looks for an answer: an offered tool, a read that a plan opens, a document, a fact."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from graph.models.registry import open_model
from state.context import Kind, Trust
from state.contract import ToolContract
from state.work import DecisionKind, Form
from tests.graph.models.library import (
    BLOCK_CARD,
    EXTEND_LOAN,
    FIND_LOAN,
    LIST_LOANS,
    LOAN_ID,
    OPEN_CLOSURES,
    OPENING_HOURS,
    contract,
)
from tests.graph.models.rendered import Working, proposed

READER = open_model("offline")
LOAN_STATUS = contract(
    "loan_status", "See whether the loan of a card runs.", ("state",), card_id={"pattern": "C-[0-9]"}
)
GET_MEMBER = contract("get_member", "Get a member: fees, standing, renewals left.", ("standing",), card_id={})
HISTORY = contract("get_loan", "Get one loan with its history.", ("state",), loan_id=LOAN_ID)
READS = (GET_MEMBER, HISTORY, LIST_LOANS, OPENING_HOURS)


def gathering(turn: str, tools: Sequence[ToolContract] = (LOAN_STATUS, OPEN_CLOSURES), **more: Any) -> Working:
    working = Working(turn, tools=tools, **more)
    working.fact("card_id", "C-7")
    return working


@pytest.mark.parametrize(
    "turn",
    [
        "How many renewals do I have left?",
        "What is my standing?",
        "Which loans do I have?",
        "List all my loans",
        "¿Cuántas renovaciones me quedan?",
        "Show me the history of B-11",
    ],
)
def test_a_question_for_a_record_that_no_offered_tool_reads_asks_for_a_plan(turn: str) -> None:
    assert proposed(READER, gathering(turn))[0] == "plan"


@pytest.mark.parametrize(
    "turn", ["Why is my loan not running?", "Which loan of mine runs?", "My loan is late", "Which closures do I have?"]
)
def test_what_an_offered_tool_is_about_is_read_with_it(turn: str) -> None:
    assert proposed(READER, gathering(turn))[0] in ("loan_status", "open_closures")


def test_among_offered_tools_the_one_that_lists_comes_before_one_that_speaks_of_a_single_thing() -> None:
    assert proposed(READER, gathering("Show me the loans of the card", (LOAN_STATUS, LIST_LOANS)))[0] == "list_loans"


def test_after_a_refusal_no_plan_is_asked_for() -> None:
    working = gathering("Which loans do I have?")
    working.verdict("call call-1 was denied by rule role: only staff may do this")
    assert proposed(READER, working)[0] != "plan"


def test_without_the_form_no_plan_is_asked_for() -> None:
    assert proposed(READER, gathering("Which loans do I have?", forms=(Form.ANSWER, Form.CLARIFY)))[0] != "plan"


def test_a_single_fact_answers_no_question_for_a_list() -> None:
    working = gathering("Which reservations do I have?")
    working.fact("reservation", "one book")
    assert proposed(READER, working)[0] == "plan"


PLANS = {
    "the read that lists what is to be listed": ("Which loans do I have?", ["list_loans"]),
    "the read that covers the question": ("What is my standing?", ["get_member"]),
    "the read that takes the id": ("Is L-11 late?", ["get_loan"]),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_for_a_record_names(name: str) -> None:
    turn, steps = PLANS[name]
    working = Working(turn, kind=DecisionKind.PLAN, forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE))
    working.fact("card_id", "C-7")
    working.capabilities((BLOCK_CARD, EXTEND_LOAN, *READS))
    form, arguments = proposed(READER, working)
    assert (form, arguments["steps"]) == ("plan", steps)


def test_a_question_never_plans_a_change() -> None:
    turn = "Which cards did you block for me, which of my cards?"
    working = Working(turn, kind=DecisionKind.PLAN, forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE))
    working.capabilities([contract("block_card", "Block a card.", ("card_id",), writes=True, card_id={})])
    assert proposed(READER, working) == (
        "escalate",
        {
            "reason": "Nothing that was shown supports an answer or an action; a person has to look at this.",
            "missing": ["a source that answers the question"],
        },
    )


LEAFLET = "leaflet/lost@v1#lost-books"


@pytest.mark.parametrize(
    "turn",
    [
        "What do I do when a book is lost?",
        "What happens when a lost book is found?",
        "How do I report a lost book of a loan?",
        "Who pays for a lost book?",
    ],
)
def test_a_question_about_a_document_is_answered_from_it_without_a_read(turn: str) -> None:
    working = gathering(turn)
    working.document(LEAFLET, "A lost book costs its price. A lost book that is found can be returned.")
    form, arguments = proposed(READER, working)
    assert (form, arguments["citations"]) == ("answer", [{"source": LEAFLET}])


@pytest.mark.parametrize(
    "turn", ["Is the loan of a lost book running?", "What do I do when my loan does not run?", "The loan book is lost"]
)
def test_a_question_about_how_things_stand_is_read_though_a_document_bears_on_it(turn: str) -> None:
    working = gathering(turn, (LOAN_STATUS, FIND_LOAN))
    working.document(LEAFLET, "A loan of a lost book does not run. A lost book that is found can be returned.")
    assert proposed(READER, working)[0] in ("loan_status", "find_loan")


def test_a_value_of_which_a_document_says_more_than_any_tool_is_told_from_it() -> None:
    working = gathering("How many days does the loan of a rare map last?")
    working.document("leaflet/maps@v1#rare-maps", "## Rare maps\n\nThe loan of a map lasts two days.")
    assert proposed(READER, working)[1]["citations"] == [{"source": "leaflet/maps@v1#rare-maps"}]
    working = gathering("Which loan is of a map?")
    working.document("leaflet/maps@v1#rare-maps", "## Rare maps\n\nThe loan of a map lasts two days.")
    assert proposed(READER, working)[0] == "loan_status"


def with_policy(turn: str, **more: Any) -> Working:
    working = gathering(turn, **more)
    values = {"days_loans_are_kept_apart": 12, "fee": 3, "late_fee": 2.5, "sunday_loans": False}
    working.add("limits", Kind.INSTRUCTION, "value://policy", Trust.POLICY, json.dumps(values))
    return working


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ("For how many days are loans kept apart?", "On record: days_loans_are_kept_apart is 12 [value://policy]"),
        ("What is the late fee of a book?", "On record: late_fee is 2.5 [value://policy]"),
        ("What is the fee?", "On record: fee is 3 [value://policy]"),
        ("Are there Sunday loans?", "On record: sunday_loans is false [value://policy]"),
    ],
)
def test_a_value_that_the_policy_owns_is_told_from_it_and_not_read_elsewhere(turn: str, told: str) -> None:
    working = with_policy(turn)
    working.document("leaflet/old@v1#fees", "A late fee of 9 euros. Loans are kept for 30 days.")
    form, arguments = proposed(READER, working)
    assert (form, arguments["text"], arguments["citations"]) == ("answer", told, [{"source": "value://policy"}])


@pytest.mark.parametrize(
    "turn", ["Why is my loan of two days not running?", "Is the fee of my loan late?", "Fee for loan L-11?"]
)
def test_part_of_a_policy_values_name_is_no_question_for_it(turn: str) -> None:
    assert "value://policy" not in json.dumps(proposed(READER, with_policy(turn)))


def test_a_policy_value_is_no_argument() -> None:
    working = Working("Look up the fee", tools=[contract("look_up", "Look up what is due.", ("due",), fee={})])
    working.add("limits", Kind.INSTRUCTION, "value://policy", Trust.POLICY, '{"fee": "3"}')
    assert proposed(READER, working)[0] == "clarify"


def test_a_section_that_shares_enough_only_as_a_whole_answers_too() -> None:
    working = Working("How many renewals are left this month?", kind=DecisionKind.ANSWER)
    working.document("leaflet/a@v1#renewals", "The count starts anew each month. Renewals are shown at the desk.")
    assert proposed(READER, working)[1]["citations"] == [{"source": "leaflet/a@v1#renewals"}]


WISHES = {
    "close the loan": ("Close the loan", "plan"),
    "close loan": ("Close loan L-11", "plan"),
    "closures please": ("Closures please", "open_closures"),
}


@pytest.mark.parametrize("name", WISHES)
def test_a_wish_is_about_what_a_tool_does_not_about_a_word_in_its_description(name: str) -> None:
    turn, expected = WISHES[name]
    assert proposed(READER, gathering(turn, (LIST_LOANS, OPEN_CLOSURES)))[0] == expected


def test_a_change_is_not_chosen_by_a_word_after_an_article() -> None:
    working = Working("Open a loan", kind=DecisionKind.PLAN, forms=(Form.PLAN, Form.CLARIFY, Form.ESCALATE))
    working.capabilities([contract("extend_loan", "Extend an open loan.", ("loan_id",), writes=True, loan_id={})])
    assert proposed(READER, working)[1]["missing"] == ["a tool that may make this change"]
