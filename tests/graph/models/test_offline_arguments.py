"""Where the offline reader takes arguments from: numbers of a sentence, and what was said to a question of ours."""

from typing import Any

import pytest

from graph.models.registry import open_model
from state.contract import ToolContract
from state.work import DecisionKind, Form
from tests.graph.models.library import EXTEND_LOAN, FIND_LOAN, LEAVE_MESSAGE, LIST_LOANS, PAY_FEE, contract
from tests.graph.models.rendered import Working, proposed

READER = open_model("offline")
FORMS = (Form.CLARIFY, Form.ESCALATE)
LEAVE = "Leave a message on my loan"


def acting(turn: str, tool: ToolContract, *earlier: str) -> tuple[str, dict[str, Any]]:
    """What is proposed in an act lap; each earlier turn ended with a question of ours."""
    working = Working(turn, kind=DecisionKind.ACT, tools=[tool], forms=FORMS)
    for index, said in enumerate(earlier, 1):
        working.earlier(index, said, asked_back=True)
    working.fact("card_id", "C-7")
    return proposed(READER, working)


@pytest.mark.parametrize(
    "turn", ["Pay a fee of 30 EUR", "Pay the €30 fee", "Pay 30 euros for my card C-7", "Pay 30", "Paga 30 euros"]
)
def test_a_required_number_is_taken_from_the_sentence(turn: str) -> None:
    assert acting(turn, PAY_FEE) == ("pay_fee", {"card_id": "C-7", "euros": 30})


@pytest.mark.parametrize(
    "turn",
    [
        "Pay my fee",
        "Pay the fee for the 3 weeks of L-11",
        "Pay 1,000 EUR",
        "Pay 30% of the fee",
        "Pay 0 EUR",
        "Pay 501 EUR",
        "Pay 12.50 EUR",
        "Pay 30 or 40 EUR",
        "Pay 900 EUR, 30 for this week",
    ],
)
def test_a_number_that_is_missing_unclear_unfit_or_one_of_two_is_asked_for(turn: str) -> None:
    assert acting(turn, PAY_FEE) == ("clarify", {"question": "Which euros?", "options": []})


@pytest.mark.parametrize("answer", ["40", "40 EUR", "make it 40 euros, please"])
def test_the_number_that_answers_our_question_is_taken(answer: str) -> None:
    assert acting(answer, PAY_FEE, "Pay my fee, 30 or 40") == ("pay_fee", {"card_id": "C-7", "euros": 40})


def test_what_answers_our_question_overrides_nothing_that_was_settled() -> None:
    arguments = {"card_id": "C-7", "euros": 30}
    assert acting("40 for C-3", PAY_FEE, "Pay a fee of 30 EUR") == ("pay_fee", arguments)


def paying(**says: Any) -> ToolContract:
    """Paying a fee in a currency of which the schema says this."""
    euros = {"type": "integer", "minimum": 1}
    return contract("pay_fee", "Pay a fee.", ("paid",), writes=True, fee=euros, currency=says)


@pytest.mark.parametrize("turn", ["Pay a fee of 30 EUR", "Pay the €30 fee", "Pay a fee of 30 euros", "Pay a fee of 30"])
@pytest.mark.parametrize("says", [{"enum": ["EUR"]}, {"const": "EUR"}], ids=["an enumeration of one", "a constant"])
def test_what_can_have_one_value_only_has_it(turn: str, says: dict[str, Any]) -> None:
    assert acting(turn, paying(**says)) == ("pay_fee", {"fee": 30, "currency": "EUR"})


@pytest.mark.parametrize(
    "turn", ["Pay 30 USD", "Pay $30", "Pay USD 30", "Pay 30 dollars", "Paga 30 dólares", "Pay 30 £"]
)
def test_another_currency_is_asked_about_and_not_replaced(turn: str) -> None:
    assert acting(turn, paying(enum=["EUR"])) == ("clarify", {"question": "Which currency?", "options": ["EUR"]})
    assert acting("EUR", paying(enum=["EUR"]), turn) == ("pay_fee", {"fee": 30, "currency": "EUR"})


def test_a_question_offers_the_values_that_are_allowed() -> None:
    assert acting("Pay 30", paying(enum=["EUR", "USD"])) == (
        "clarify",
        {"question": "Which currency?", "options": ["EUR", "USD"]},
    )


def test_one_of_several_currencies_is_what_was_said_or_asked_for() -> None:
    both = paying(enum=["EUR", "USD"])
    assert acting("Pay 30 dollars", both) == ("pay_fee", {"fee": 30, "currency": "USD"})
    assert acting("Pay 30", both)[0] == "clarify"


def test_an_optional_currency_that_does_not_fit_is_asked_about_too() -> None:
    euros = {"type": "integer", "minimum": 1}
    tool = contract(
        "pay_fee", "Pay a fee.", (), writes=True, optional=("currency",), fee=euros, currency={"enum": ["EUR"]}
    )
    assert acting("Pay 30", tool) == ("pay_fee", {"fee": 30})
    assert acting("Pay 30 USD", tool) == ("clarify", {"question": "Which currency?", "options": ["EUR"]})


def test_an_id_that_answers_our_question_decides_between_two() -> None:
    assert acting("L-12", EXTEND_LOAN, "Extend L-11 or L-12") == ("extend_loan", {"loan_id": "L-12"})


@pytest.mark.parametrize(
    "text", ["The panel shows the whole month", "Returned it, nobody was there.", "El panel ya muestra el mes entero"]
)
def test_a_sentence_that_follows_our_question_is_the_free_text(text: str) -> None:
    assert acting(text, LEAVE_MESSAGE, "Leave a message on L-11") == (
        "leave_message",
        {"loan_id": "L-11", "words": text},
    )


def test_an_id_inside_the_free_text_is_no_other_argument() -> None:
    form, arguments = acting("Same as L-99", LEAVE_MESSAGE, LEAVE)
    assert (form, arguments["question"].partition("?")[0]) == ("clarify", "Which loan_id")


@pytest.mark.parametrize("last", ["L-11", "It is L-11"])
def test_the_first_sentence_is_the_free_text_and_the_next_answers_the_next_question(last: str) -> None:
    assert acting(last, LEAVE_MESSAGE, LEAVE, "Same as L-99") == (
        "leave_message",
        {"loan_id": "L-11", "words": "Same as L-99"},
    )


@pytest.mark.parametrize("answer", ["thanks", "L-11", "far too long " * 9])
def test_courtesy_an_id_alone_and_what_does_not_fit_are_no_free_text(answer: str) -> None:
    assert acting(answer, LEAVE_MESSAGE, LEAVE) == ("clarify", {"question": "Which words?", "options": []})


def test_no_free_text_is_taken_where_nothing_was_asked() -> None:
    working = Working("The book lies on the counter of L-11", kind=DecisionKind.ACT, tools=[LEAVE_MESSAGE], forms=FORMS)
    working.earlier(1, "Leave a message on L-11", "Done.")
    assert proposed(READER, working) == ("clarify", {"question": "Which words?", "options": []})


def test_a_free_text_chooses_no_other_change() -> None:
    working = Working("Extend it was what they said", kind=DecisionKind.PLAN, forms=(Form.PLAN, *FORMS))
    working.earlier(1, "Leave a message on L-11", asked_back=True)
    working.capabilities([LEAVE_MESSAGE, PAY_FEE])
    assert proposed(READER, working)[1]["steps"] == ["leave_message"]


def test_a_wish_that_a_capability_is_about_is_no_free_text() -> None:
    working = Working("Extend L-12", kind=DecisionKind.PLAN, forms=(Form.PLAN, *FORMS))
    working.earlier(1, "Leave a message on L-11", asked_back=True)
    working.capabilities([EXTEND_LOAN, LEAVE_MESSAGE])
    assert proposed(READER, working)[1]["steps"] == ["extend_loan"]


def test_a_changes_object_is_read_where_all_of_them_are_shown_and_not_where_one_is_picked() -> None:
    working = Working("Extend my loan", kind=DecisionKind.PLAN, forms=(Form.PLAN, *FORMS))
    working.fact("card_id", "C-7")
    working.capabilities([EXTEND_LOAN, FIND_LOAN, LIST_LOANS])
    assert proposed(READER, working)[1]["steps"] == ["list_loans", "extend_loan"]
