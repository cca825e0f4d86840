"""A small library's desk: three reads and two changes, for tables of the offline reader."""

from typing import Any

from state.contract import Effect, OutputField, ToolContract


def contract(
    name: str,
    description: str,
    output: tuple[str, ...],
    *,
    writes: bool = False,
    optional: tuple[str, ...] = (),
    **of: Any,
) -> ToolContract:
    """A contract with string parameters; `of` maps a parameter to what its schema says beside the type."""
    return ToolContract(
        name=name,
        description=description,
        effect=Effect.WRITE if writes else Effect.READ,
        parameters={
            "type": "object",
            "properties": {parameter: {"type": "string", **says} for parameter, says in of.items()},
            "required": [parameter for parameter in of if parameter not in optional],
            "additionalProperties": False,
        },
        roles=("member",),
        output=tuple(OutputField(name=field, trust="system") for field in output),
    )


LOAN_ID = {"pattern": "^L-[0-9]{2}$", "description": "The id of a loan, such as L-00."}
CARD_ID = {"pattern": "^C-[0-9]$"}

FIND_LOAN = contract(
    "find_loan",
    "Find the open loans of a card and when each book is due.",
    ("loan_id", "state", "due_on"),
    card_id=CARD_ID,
    loan_id=LOAN_ID,
    optional=("loan_id",),
)
OPENING_HOURS = contract(
    "opening_hours",
    "Get the opening hours of a branch.",
    ("branch", "hours"),
    branch={"enum": ["north", "harbour"]},
)
OPEN_CLOSURES = contract("open_closures", "List closures of the library.", ("until",))
EXTEND_LOAN = contract(
    "extend_loan", "Extend a loan: its book is due later.", ("loan_id", "due_on"), writes=True, loan_id=LOAN_ID
)
LIST_LOANS = contract("list_loans", "List all loans of a card, open and closed.", ("loan_id", "state"), card_id=CARD_ID)
PAY_FEE = contract(
    "pay_fee",
    "Pay a fee for a card.",
    ("paid",),
    writes=True,
    card_id=CARD_ID,
    euros={"type": "integer", "minimum": 1, "maximum": 500},
)
LEAVE_MESSAGE = contract(
    "leave_message",
    "Leave a message on a loan.",
    ("message_id",),
    writes=True,
    loan_id=LOAN_ID,
    words={"minLength": 1, "maxLength": 60},
)
BLOCK_CARD = contract("block_card", "Block a lost card for good.", ("card_id",), writes=True, card_id=CARD_ID)

READS = (FIND_LOAN, OPENING_HOURS)
CAPABILITIES = (BLOCK_CARD, EXTEND_LOAN, FIND_LOAN, OPENING_HOURS)
