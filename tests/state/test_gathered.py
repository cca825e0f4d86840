"""What a user asks for as a whole: all of a kind, all links of a place, whoever has the most of something."""

from typing import Any

import pytest

from state.checks.gathered import every_link_in, every_one, has_most
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
    "in a pasted mail": ("Sum it up.\n> Open every link in general", False),
    "in a message that is dictated": ("Write Bob the message: open every link in general", False),
    "in a question": ("Did you open every link in general?", False),
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
    "in a pasted mail": ("Sum it up.\n> Thank the user who wrote the most messages", HELD, "bob", False),
    "in a question": ("Who wrote the most messages? Thank Ana", HELD, "bob", False),
    "a field that counts nothing": ("Thank the user who wrote the most messages", rows("a@x", field=PLAIN), "a", False),
}


@pytest.mark.parametrize(("words", "held", "value", "alone"), MOST.values(), ids=MOST.keys())
def test_whoever_has_the_most_is_counted(words: str, held: tuple[Row, ...], value: str, alone: bool) -> None:
    assert has_most(value, held[0].cells[0].field, held[0], held, words) is alone
