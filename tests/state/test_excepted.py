"""What a user's words leave out is told from what they ask for."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.checks.excepted import parted

ROWS: dict[str, tuple[str, str, str]] = {
    "nothing": ("Pay LAND0001 12.50 today.", "Pay LAND0001 12.50 today.", ""),
    "one of two": ("Send it to Ana, not to Bob", "Send it to Ana, ", " to Bob"),
    "to the end of the sentence": (
        "Never send it to Ana, Bob or Eve. Send it to Max",
        " . Send it to Max",
        " send it to Ana, Bob or Eve",
    ),
    "up to a but": ("Don't pay Bob but pay Max", " but pay Max", " pay Bob "),
    "an exception from all": ("Delete all files except plan.docx", "Delete all files ", " plan.docx"),
    "what describes ends at a comma": (
        "My key K-1 is not working, replace it",
        "My key K-1 is , replace it",
        " working",
    ),
    "what describes ends where somebody wants something": (
        "K-2 hasn't worked since May and I need it rotated",
        "K-2 and I need it rotated",
        " worked since May ",
    ),
    "a condition ends at a comma": ("If there is no room, take R-2", "If there is , take R-2", " room"),
    "a no that is a reminder": ("Do not forget to invite Mark", "Do not forget to invite Mark", ""),
    "a no that bounds": ("Come no later than 10:00", "Come no later than 10:00", ""),
    "a verb that spares": ("Skip Bob, message Ana", ", message Ana", " Bob"),
    "what is kept": ("Delete all files. Keep plan.docx.", "Delete all files. .", " plan.docx"),
    "what is left alone": ("Delete all; leave plan.docx alone", "Delete all; ", " plan.docx alone"),
    "who is kept posted": ("Keep Bob posted", "Keep Bob posted", ""),
    "a message that is left": ("Leave a message for Bob", "Leave a message for Bob", ""),
    "in capitals": ("pay Max and NOT Bob", "pay Max and ", " Bob"),
    "a typographic apostrophe": ("Don’t pay Bob", "", " pay Bob"),
    "what is forbidden": ("I forbid you to pay Bob. Pay Max", "I . Pay Max", " you to pay Bob"),
    "what is refrained from": ("Refrain from paying Bob; pay Max", " ; pay Max", " from paying Bob"),
    "what is stopped": ("Stop paying Bob. Pay Max", " . Pay Max", " paying Bob"),
    "what is refused": ("Refuse to pay Bob.", " .", " to pay Bob"),
    "a request that is rejected": ("Reject the request to pay Bob", " ", " the request to pay Bob"),
    "what is held off": ("Pay Max, hold off on Bob", "Pay Max, ", " on Bob"),
    "what is prohibited in Spanish": ("Prohibido pagar a Bob", "", " pagar a Bob"),
    "what is to end in Spanish": ("Deja de pagar a Bob. Paga a Max", " . Paga a Max", " pagar a Bob"),
    "who stands before the no": (
        "Send it to Ana. Bob should not get it.",
        "Send it to Ana. .",
        " Bob should not get it",
    ),
    "who stands before a no in one word": (
        "Bob mustn't see it; send it to Ana",
        " ; send it to Ana",
        "Bob mustn't see it",
    ),
    "who gets nothing": ("Bob doesn't get anything. Pay Max", " . Pay Max", "Bob doesn't get anything"),
    "who is excluded": ("Send it to the team, Bob excluded.", "Send it to the team, .", " Bob excluded"),
    "what stays": ("Delete all files. The largest stays.", "Delete all files. .", " The largest stays"),
    "what must stay": ("Delete all files; the budget must stay.", "Delete all files; .", " the budget must stay"),
    "what is off limits": ("Paying Bob is forbidden.", " .", "Paying Bob is forbidden"),
    "who is answered no": ("Ana: yes. Bob: no. Send it.", "Ana: yes. . Send it.", " Bob: no"),
    "an effect's own verb": ("Reject the refund of Bob", "Reject the refund of Bob", ""),
    "a job to stop": ("Stop job 7 and cancel order 5", "Stop job 7 and cancel order 5", ""),
    "a stay": ("Book a stay in Rome for 3 nights", "Book a stay in Rome for 3 nights", ""),
    "a place to stay": ("A great place to stay. Book it", "A great place to stay. Book it", ""),
    "a thing that is to stay": (
        "Delete all files. I want the plan to stay.",
        "Delete all files. .",
        " I want the plan to stay",
    ),
    "who is taken off the list": (
        "Send it to my team, remove Bob from the list",
        "Send it to my team, ",
        "Bob",
    ),
    "who is taken off in Spanish": ("Paga a todos; quita a Bob de la lista.", "Paga a todos; .", "a Bob"),
    "who is taken off for good": ("Remove Bob from the workspace", "Remove Bob from the workspace", ""),
    "Spanish": ("Paga a Max, nunca a Bob", "Paga a Max, ", " a Bob"),
    "twice": ("not A. B; not C", " . B;  ", " A\n C"),
}


@pytest.mark.parametrize(("text", "asked", "left_out"), ROWS.values(), ids=ROWS.keys())
def test_a_text_is_parted(text: str, asked: str, left_out: str) -> None:
    found = parted(text)
    assert (found.asked.split(), found.left_out) == (asked.split(), left_out)


def test_what_an_effect_removes_is_not_left_out_of_it() -> None:
    words = "Remove Bob from the mailing list"
    assert parted(words, ("remov", "kick")) == (words, "")
    assert parted(words, ("send",)).left_out == "Bob"


@pytest.mark.parametrize(
    "part",
    [
        "leave ",
        "keep ",
        "not a but ",
        "is not a, ",
        "if not a, ",
        "never. ",
        "must not ",
        "a stays, ",
        "forbid a ",
        "remove a from ",
    ],
)
def test_a_long_text_is_parted_in_a_moment(part: str) -> None:
    started = time.process_time()
    parted(part * 3_000)
    assert time.process_time() - started < 2.0


@given(st.text(alphabet="abN ot.,;’'\nİß", max_size=60) | st.text(max_size=60))
def test_nothing_is_asked_for_that_was_not_said(text: str) -> None:
    found = parted(text)
    assert set(found.asked) | set(found.left_out) <= set(text) | {" ", "\n"}
