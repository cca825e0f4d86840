"""Of many tools a request offers those that the turn, a plan or the model's own search asks for."""

import pytest

from nodes.pack.tool_search import ToolSearch
from state.context import DropReason
from state.contract import Effect, ToolContract
from state.work import DecisionKind, DecisionSpec, Form


def contract(name: str, description: str, **parameters: str) -> ToolContract:
    properties = {one: {"type": "string", "description": told} for one, told in parameters.items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return ToolContract.model_validate(
        {
            "name": name,
            "description": description,
            "effect": Effect.READ,
            "parameters": schema,
            "roles": (),
            "output": (),
        }
    )


TOOLS = (
    contract("get_invoice", "Get an invoice."),
    contract("list_orders", "List the orders of a customer.", customer="The customer's number."),
    contract("track_parcel", "Say where a parcel is."),
    contract("book_room", "Book a meeting room.", floor="On which floor of the building."),
    contract("send_mail", "Send a mail to a customer."),
)
SEARCH = ToolSearch({one.name: one for one in TOOLS})
FORMS = (Form.ANSWER, Form.SEARCH_TOOLS)
NAMES = tuple(one.name for one in TOOLS)


def offered(
    *queries: str, most: int | None, forms: tuple[Form, ...] = FORMS, steps: tuple[str, ...] = ()
) -> tuple[str, ...]:
    spec = DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=NAMES, forms=forms)
    return SEARCH.narrowed(spec.decision(0, "rule"), queries, most, steps).decision.tools


@pytest.mark.parametrize(
    ("queries", "most", "steps", "expected"),
    [
        (("Where is my parcel?",), 1, (), ("track_parcel",)),
        (("Where is my parcel?",), 2, (), ("get_invoice", "track_parcel")),  # what shares no word keeps its order
        (("nothing of the kind",), 2, (), ("get_invoice", "list_orders")),
        (("Which floor is it on?",), 1, (), ("book_room",)),  # by a parameter
        (("Mail the customer about orders",), 2, (), ("list_orders", "send_mail")),
        (("Where is my parcel?", "book a room"), 2, (), ("track_parcel", "book_room")),
        (("Where is my parcel?", "book a room"), 1, (), ("book_room",)),  # the newest query first
        (("Where is my parcel?",), 1, ("send_mail", "book_room"), ("send_mail",)),  # a plan's next step
        (("Where is my parcel?",), 5, (), NAMES),
        (("Where is my parcel?",), None, (), NAMES),
    ],
)
def test_the_words_of_the_turn_and_of_the_search_choose(
    queries: tuple[str, ...], most: int | None, steps: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert offered(*queries, most=most, steps=steps) == expected


def test_without_the_form_to_look_for_others_all_are_offered() -> None:
    assert offered("parcel", most=1, forms=(Form.ANSWER,)) == NAMES


def test_the_form_is_offered_only_where_something_was_left_out() -> None:
    spec = DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=NAMES, forms=FORMS)
    for most, forms in ((None, (Form.ANSWER,)), (5, (Form.ANSWER,)), (4, FORMS)):
        assert SEARCH.narrowed(spec.decision(0, "rule"), ("parcel",), most).decision.forms == forms


def test_what_was_left_out_is_told_with_its_score() -> None:
    spec = DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=NAMES[:3], forms=FORMS)
    left_out = SEARCH.narrowed(spec.decision(0, "rule"), ("orders, and the parcel",), 1).left_out
    assert [(one.item_id, one.reason, one.scores["relevance"] > 0) for one in left_out] == [
        ("get_invoice", DropReason.OVER_LIMIT, False),
        ("track_parcel", DropReason.OVER_LIMIT, True),
    ]
