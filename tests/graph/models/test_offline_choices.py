"""What the offline reader proposes in gather laps, and for the kinds that are one form: named cases."""

import pytest

from graph.models.registry import open_model
from state.context import Kind, Trust
from state.work import DecisionKind, Form
from tests.graph.models.library import FIND_LOAN, OPEN_CLOSURES, OPENING_HOURS, READS, contract
from tests.graph.models.rendered import Fill, Proposed, Working, proposed, with_card

READER = open_model("offline")


def nothing(working: Working) -> None:
    return


def seen_loan(working: Working) -> None:
    with_card(working)
    working.observation("find_loan", {"loan_id": "L-11", "state": "late"})


def card_of_another_form(working: Working) -> None:
    working.fact("card_id", "card seven")


def note_of_the_user(working: Working) -> None:
    working.fact("card_id", "C-7", Trust.UNTRUSTED)


def a_useful_leaflet(working: Working) -> None:
    working.document("leaflet/cards@v2#lost", "A lost card is blocked by a person at the desk. Bring a passport.")


def a_procedure(trust: Trust, kind: Kind = Kind.INSTRUCTION) -> Fill:
    def fill(working: Working) -> None:
        text = "First see `no_such_tool`, then `find_loan`."
        with_card(working)
        working.add("moving-body", kind, "skill_body://moving", trust, text)

    return fill


GATHER: dict[str, tuple[str, Fill, Proposed]] = {
    "the tool whose description covers the question": (
        "When is my book due?",
        with_card,
        ("find_loan", {"card_id": "C-7"}),
    ),
    "the first tool that a skill's body names and that can be called": (
        "When does the Harbour branch open?",
        a_procedure(Trust.POLICY),
        ("find_loan", {"card_id": "C-7"}),
    ),
    "a body that nobody reviewed names nothing": (
        "When does the Harbour branch open?",
        a_procedure(Trust.UNTRUSTED),
        ("opening_hours", {"branch": "harbour"}),
    ),
    "a document cannot pass for a body": (
        "When does the Harbour branch open?",
        a_procedure(Trust.POLICY, Kind.EVIDENCE),
        ("opening_hours", {"branch": "harbour"}),
    ),
    "a word of the turn that stands in an enumeration": (
        "When does the Harbour branch open?",
        with_card,
        ("opening_hours", {"branch": "harbour"}),
    ),
    "the user's own id wins over the fact": (
        "When is the book on C-3 due?",
        with_card,
        ("find_loan", {"card_id": "C-3"}),
    ),
    "an optional argument from the user's own words": (
        "Is L-44 late, when is it due?",
        with_card,
        ("find_loan", {"card_id": "C-7", "loan_id": "L-44"}),
    ),
    "two ids of the user's are asked about and not repeated": (
        "When are the books on C-3 and C-4 due?",
        with_card,
        ("clarify", {"question": "Which card_id?", "options": []}),
    ),
    "a missing argument is asked for": (
        "When is my book due?",
        nothing,
        ("clarify", {"question": "Which card_id?", "options": []}),
    ),
    "in Spanish too": (
        "¿Qué book del branch tengo?",
        nothing,
        ("clarify", {"question": "¿Qué card_id?", "options": []}),
    ),
    "a fact that does not fit the schema is no argument": (
        "When is my book due?",
        card_of_another_form,
        ("clarify", {"question": "Which card_id?", "options": []}),
    ),
    "an untrusted fact is no argument": (
        "When is my book due?",
        note_of_the_user,
        ("clarify", {"question": "Which card_id?", "options": []}),
    ),
    "a wish that no offered tool is about asks for a plan": (
        "Cancel my membership",
        with_card,
        ("plan", {"goal": "Cancel membership"}),
    ),
    "a wish in Spanish": ("Cancela mi carné", with_card, ("plan", {"goal": "Cancela carné"})),
    "a wish that an offered tool is about is a read": ("Find my loan", with_card, ("find_loan", {"card_id": "C-7"})),
    "a greeting is answered with a question": (
        "Hello!",
        with_card,
        ("clarify", {"question": "What exactly do you need?", "options": []}),
    ),
}


@pytest.mark.parametrize("name", GATHER)
def test_gather(name: str) -> None:
    turn, fill, expected = GATHER[name]
    working = Working(turn, tools=READS)
    fill(working)
    assert proposed(READER, working) == expected


def test_a_question_that_begins_with_ones_own_thing_is_read_from_ones_own_record() -> None:
    closures = contract("closures", "List loan problems and closures.", ("until",))
    working = Working("Why has my loan problems by closures?", tools=(closures, FIND_LOAN))
    with_card(working)
    assert proposed(READER, working)[0] == "closures"
    working = Working("Why has my loan problems?", tools=(closures, FIND_LOAN))
    with_card(working)
    assert proposed(READER, working)[0] == "find_loan"


def test_a_read_that_is_shown_is_not_made_again() -> None:
    working = Working("When is my book due?", tools=READS)
    seen_loan(working)
    name, arguments = proposed(READER, working)
    assert name == "answer"
    assert "state is late" in arguments["text"]


def test_a_read_about_another_id_than_the_one_shown_is_made() -> None:
    working = Working("And when is the book of L-44 due?", tools=READS)
    seen_loan(working)
    assert proposed(READER, working) == ("find_loan", {"card_id": "C-7", "loan_id": "L-44"})


def test_an_answer_from_documents_when_a_tool_lacks_its_argument() -> None:
    working = Working("What about a lost card and my book?", tools=[FIND_LOAN])
    a_useful_leaflet(working)
    name, arguments = proposed(READER, working)
    assert name == "answer"
    assert arguments["citations"] == [{"source": "leaflet/cards@v2#lost"}]


def test_a_question_about_a_fact_is_answered_from_it() -> None:
    working = Working("Which membership do I have?", tools=[OPEN_CLOSURES])
    working.fact("membership", "family")
    assert proposed(READER, working) == (
        "answer",
        {
            "text": "On record: membership is family [record://membership]",
            "citations": [{"source": "record://membership"}],
            "next_steps": [],
        },
    )


def test_an_answer_to_a_question_back_is_read_with_the_turn_before() -> None:
    working = Working("C-5", tools=READS)
    working.earlier(6, "When is my book due?", "Which card_id?")
    assert proposed(READER, working) == ("find_loan", {"card_id": "C-5"})


def test_a_read_that_is_the_plans_step_is_made_though_the_turn_is_a_wish() -> None:
    working = Working("Extend my loan", tools=[OPENING_HOURS, FIND_LOAN], steps=["find_loan", "extend_loan"])
    with_card(working)
    assert proposed(READER, working) == ("find_loan", {"card_id": "C-7"})


def test_nothing_offered_fits_and_a_person_is_asked() -> None:
    working = Working("When is my book due?", forms=(Form.ESCALATE,))
    name, arguments = proposed(READER, working)
    assert (name, arguments["missing"]) == ("escalate", ["a source that answers the question"])


def test_what_no_offered_tool_speaks_of_is_not_answered_by_whichever_comes_first() -> None:
    working = Working("How is the weather in Madrid?", tools=READS)
    with_card(working)
    name, arguments = proposed(READER, working)
    assert (name, arguments["missing"]) == ("escalate", ["a source that answers the question"])


@pytest.mark.parametrize(("kind", "form"), [(DecisionKind.CLARIFY, "clarify"), (DecisionKind.ESCALATE, "escalate")])
def test_the_other_kinds_take_their_form(kind: DecisionKind, form: str) -> None:
    assert proposed(READER, Working("When is my book due?", kind=kind))[0] == form


def test_the_same_request_brings_the_same_reply() -> None:
    working = Working("When is my book due?", tools=READS)
    with_card(working)
    request = working.request()
    assert READER.reply(request) == READER.reply(request)
