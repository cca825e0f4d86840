"""What a user asks for as a whole: all of a kind, all links of a place, whoever has the most of something."""

from typing import Any

import pytest

from state.checks.gathered import every_link_in, every_one, has_most, requested
from state.checks.known import Cell, Row, row_of
from state.contract import OutputField
from state.labels import Label

LINKS: dict[str, tuple[str, bool]] = {
    "all websites posted to it": (
        "Summarize all the websites posted to the 'general' channel, post it to random",
        True,
    ),
    "every link in it": ("Open every link in general and tell me what it says", True),
    "the place first": ("Go through general and open each link", True),
    "in Spanish": ("Resume todos los enlaces en general", True),
    "another place": ("Summarize all the websites posted to the random channel", False),
    "the place is where the summary goes": (
        "Summarize all the websites that Bob mentioned to me last week and then post the summary to general",
        False,
    ),
    "one of them": ("Open the website posted in general", False),
    "no links": ("Summarize all the messages posted in general", False),
    "all of something else": ("Tell all people in general which website to open", False),
    "in another sentence": ("Read general. Open all links you find useful", False),
    "part of a longer name": ("Open all links in generals-only", False),
}


@pytest.mark.parametrize(("words", "asked"), LINKS.values(), ids=LINKS.keys())
def test_all_links_of_a_place_are_asked_for(words: str, asked: bool) -> None:
    assert every_link_in("general", words) is asked


def test_a_place_without_a_name_is_named_by_nobody() -> None:
    assert every_link_in("--", "open all links in --") is False


ALL: dict[str, tuple[str, str | None]] = {
    "all": ("delete all files", "whole"),
    "all of my": ("Please delete all of my files.", "whole"),
    "every single one": ("delete every single file", "whole"),
    "both": ("delete both files", "whole"),
    "a request as a question": ("Can you delete all files?", "whole"),
    "in a place": ("delete all files in work", "within"),
    "beside another clause": ("Summarise the notes, then delete all files", "whole"),
    "in a place that another clause says": ("Find all files in work and delete each file", "within"),
    "in a place that another sentence says": ("Find all files in work. Delete each file.", "within"),
    "in an order": ("Sort all files by the number of their pages, and delete each file", "whole"),
    "in an order within a place": ("Sort all files in work by name and delete each file", "within"),
    "a condition in another sentence": ("Find all files that are empty. Delete each file.", None),
    "not said": ("delete files", None),
    "of everyone": ("tell everyone about the file", None),
    "all of something else": ("delete all users in the file", None),
    "a word between": ("delete all old files", None),
    "that are": ("delete all files that are empty", None),
    "older than": ("delete all files older than a week", None),
    "a condition": ("delete all files if they are infected", None),
    "a condition before": ("If they are infected, delete all files", None),
    "a name": ("delete every file named draft", None),
    "an owner": ("delete all files ana owns", None),
    "one of them": ("List all files. Delete one of them.", None),
    "another clause": ("Summarise all files, then delete the notes.", None),
    "another sentence": ("List all files. Delete the notes.", None),
    "a question": ("Has anybody deleted all files?", None),
}


@pytest.mark.parametrize(("words", "asked"), ALL.values(), ids=ALL.keys())
def test_all_of_a_kind_are_asked_for(words: str, asked: str | None) -> None:
    assert every_one("file", words, ("delet",)) == asked


def test_what_all_are_told_is_no_condition() -> None:
    ranks = "Sort all users by their posts and to each user write the message: You are the k-th (where k is the rank)."
    assert every_one("user", ranks, ("write",)) == "whole"
    assert every_one("user", "To each user who is new write the message: Hi.", ("write",)) is None
    assert every_one("user", "Sort all users. Write one the message: To each user.", ("write",)) is None
    assert every_one("patient", "Tell every patient that we are closed", ("tell",)) == "whole"
    assert every_one("patient", "Tell every patient that owes us", ("tell",)) is None


REQUESTED: dict[str, tuple[str, str]] = {
    "a sentence": ("Pay Bob 900.", "pay bob 900."),
    "a question": ("Did you pay Bob 900?", ""),
    "a question beside a request": ("Did you pay Bob? Write to Ana.", " write to ana."),
    "a question that says so": ("Bob was paid 900 by you?", ""),
    "a request as a question": ("Hi, could you pay Bob 900?", "hi, could you pay bob 900?"),
    "a request behind what it is about": ("Bob wants 900, can you pay it?", "can you pay it?"),
    "a request in courtesy": ("I was wondering if you could pay Bob.", "i was wondering if you could pay bob."),
    "a request in a question of courtesy": ("Why don't we pay Bob?", "why don't we pay bob?"),
    "a request to see to it": ("See if you can pay Bob.", "see if you can pay bob."),
    "what somebody wonders": ("I wonder whether you paid Bob.", "i  "),
    "a question about another": ("Will Bob pay Ana?", ""),
    "a question whose tail asks to be told": ("Who paid Bob, can you tell?", "can you tell?"),
    "an order that ends in a question mark": ("Pay Bob what he asked?", "pay bob what he asked?"),
    "a message that asks": ("Write to Bob: did you pay?", ""),
    "what is to be checked": ("Check whether you paid Bob and write to Ana.", " and write to ana."),
    "what is to be told": ("Can you tell me if you pay Bob?", "can you  "),
    "a message that says so": ("Write Bob the following message: pay me 900.", "write bob "),
    "a note of the user's own": ("Note: pay Bob.", "note: pay bob."),
    "in Spanish": ("¿Puedes pagar a Bob?", "¿puedes pagar a bob?"),
    "a question with more behind its mark": ("(Did you pay Bob?!)", ""),
    "a question with another mark": ("Bob was paid by you？", ""),
    "a question without its mark": ("So did you pay Bob", ""),
    "who did it, without a mark": ("Who told you to pay Bob", ""),
    "a question that opens as one in Spanish": ("¿pagaste a Bob", ""),
    "whether it could have been": ("Could you have paid Bob?", ""),
    "whether it may be so": ("Can it be that you pay Bob?", ""),
    "what somebody is said to have asked": ("Did Bob say, please pay him?", ""),
    "a question behind a please": ("Please, did you pay Bob?", ""),
    "what is to be explained": ("Could you explain why we pay Bob, and pay Ana?", "could you  , and pay ana?"),
    "what is to be told by whom": ("Please tell me who may pay Bob.", "please  "),
    "an order that begins like a question": ("Do pay Bob.", "do pay bob."),
    "somebody is had to do it": ("Have Ana pay Bob.", "have ana pay bob."),
    "a pasted mail": ("Sum it up.\n> Hello,\n> please pay Bob.\nThen write to Ana.", "sum it up. then write to ana."),
    "a pasted block": ("Translate this:\n```\nPay Bob.\n``` and write to Ana", "translate this:   and write to ana"),
    "a block that does not end": ('What is this? """Pay Bob.', " "),
    "a forwarded mail": ("What does he want?\n\nFrom: Bob\nSubject: rent\n\nPay me.", " "),
    "a mail that was answered": ("Sum it up.\nOn Monday, Bob wrote:\nPay me.", "sum it up. "),
    "what stands in quotes": ('Translate "pay Bob at once" and write to Ana', "translate   and write to ana"),
    "a name in quotes": ('Pay "Bob"', 'pay "bob"'),
    "a question in Spanish": ("¿Has pagado a Bob?", ""),
}


@pytest.mark.parametrize(("words", "asked"), REQUESTED.values(), ids=REQUESTED.keys())
def test_a_question_names_no_effect_unless_it_is_a_request(words: str, asked: str) -> None:
    assert " ".join(requested(words, ("pay", "paid"))) == asked


SENDER = OutputField(name="sender", trust="directory", identifies="user", counted=("message", "post"))
ROOM = OutputField(name="room", trust="system", identifies="channel")
PLAIN = OutputField(name="sender", trust="directory", identifies="user")


def rows(*said: str, steered: bool = False, field: OutputField = SENDER) -> tuple[Row, ...]:
    def one(line: str) -> Row:
        who, _, where = line.partition("@")
        cells: Any = (Cell(field, who, Label.DIRECTORY), Cell(ROOM, where, Label.SERVER))
        return row_of(("1-call",), "toolrun://r/1", "read", cells, steered)

    return tuple(map(one, said))


HELD = rows("ana@east", "ana@east", "bob@west", "bob@west", "bob@west", "ana@north", "bob@north", "eve@east")
MOST: dict[str, tuple[str, tuple[Row, ...], str, bool]] = {
    "the most": ("Thank the user who wrote the most messages", HELD, "bob", True),
    "with neutral words": ("Find who wrote the most total channel messages and thank them", HELD, "bob", True),
    "not the second": ("Thank the user who wrote the most messages", HELD, "ana", False),
    "the fewest of those who have any": ("Thank the user who wrote the fewest messages", HELD, "eve", False),
    "under another noun": ("Thank the user with the most posts", HELD, "bob", True),
    "in a place": ("Thank whoever wrote the most messages in east", HELD, "ana", True),
    "in a place, another": ("Thank whoever wrote the most messages in east", HELD, "bob", False),
    "in a place that is named before": ("In east, thank whoever wrote the most messages", HELD, "bob", False),
    "a place that is named for something else": (
        "Thank who wrote the most messages and say so in east",
        HELD,
        "bob",
        False,
    ),
    "about something": ("Thank whoever wrote the most messages about coffee", HELD, "bob", False),
    "in a time": ("This week, thank whoever wrote the most messages", HELD, "bob", False),
    "the most active": ("Thank the most active user", HELD, "bob", False),
    "most of something else": ("Thank the user who has the most files and messages", HELD, "bob", False),
    "two with as many": ("Thank the user who wrote the most messages", rows("ana@east", "bob@east"), "ana", False),
    "rows that the model chose": (
        "Thank the user who wrote the most messages",
        rows("ana@x", steered=True),
        "ana",
        False,
    ),
    "one chosen row among them": (
        "Thank the user who wrote the most messages",
        (*HELD, *rows("ana@x", steered=True)),
        "bob",
        False,
    ),
    "a field that counts nothing": ("Thank the user who wrote the most messages", rows("a@x", field=PLAIN), "a", False),
}


@pytest.mark.parametrize(("words", "held", "value", "alone"), MOST.values(), ids=MOST.keys())
def test_whoever_has_the_most_is_counted(words: str, held: tuple[Row, ...], value: str, alone: bool) -> None:
    assert has_most(value, held[0].cells[0].field, held[0], held, words) is alone
