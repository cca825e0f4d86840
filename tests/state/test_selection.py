"""Whether the user's words choose a value of a trusted field: described, extreme, all; twins leave it open."""

from datetime import date
from typing import Any

import pytest

from state.checks.excepted import parted
from state.checks.known import Cell, Row, row_of
from state.checks.meaning import meaning
from state.checks.selection import Selection
from state.contract import OutputField
from state.labels import Label

TODAY = date(2026, 7, 15)
FIELDS = {
    "file_id": OutputField(name="file_id", trust="system", identifies="file"),
    "name": OutputField(name="name", trust="own"),
    "size": OutputField(name="size", trust="system", most=("largest", "biggest"), least=("smallest",)),
    "changed": OutputField(name="changed", trust="system", most=("newest",), least=("oldest",)),
    "folder": OutputField(name="folder", trust="system"),
    "title": OutputField(name="title"),
}


def row(steered: bool = False, **cells: Any) -> Row:
    made = tuple(Cell(FIELDS[name], value, FIELDS[name].label) for name, value in cells.items())
    return row_of(("1-call",), "toolrun://r/1", "list_files", made, steered)


PLAN = row(file_id="F1", name="holiday plan.docx", size=300, changed="2026-05-01T10:00", folder="private")
BUDGET = row(file_id="F2", name="budget.xlsx", size=900, changed="2026-06-01T10:00", folder="work")
MINUTES = row(file_id="F3", name="minutes.docx", size=500, changed="2026-07-01T10:00", folder="work")
FILES = (PLAN, BUDGET, MINUTES)

CHOSEN: dict[str, tuple[str, tuple[Row, ...], str, str]] = {
    "by its name": ("delete the holiday plan", FILES, "F1", "described"),
    "by its day": ("delete the one of June 1st", FILES, "F2", "described"),
    "the largest": ("delete the largest file", FILES, "F2", "extreme"),
    "the oldest": ("delete the oldest file", FILES, "F1", "extreme"),
    "the newest of a folder": ("delete the newest file in work", FILES, "F3", "extreme"),
    "all of a kind": ("delete all files", FILES, "F2", "all"),
    "all of a folder": ("delete all files in work", FILES, "F3", "all"),
    "beside another sentence": ("What is in minutes.docx? Delete the largest file.", FILES, "F2", "extreme"),
    "two by their names": ("delete budget and minutes", FILES, "F2", "described"),
    "the fuller name of two": (
        "delete the holiday plan draft",
        (PLAN, row(file_id="F4", name="holiday plan draft.docx", size=1)),
        "F4",
        "described",
    ),
    "by a title of anybody's": (
        "move the dental check-up",
        (row(file_id="E1", title="Dental check-up"), row(file_id="E2", title="Lunch")),
        "E1",
        "titled",
    ),
}
CHOSEN |= {
    "the two largest": ("delete the two largest files", FILES, "F3", "extreme"),
    "all, with words between": ("delete all of my files", FILES, "F2", "all"),
}
OPEN: dict[str, tuple[str, tuple[Row, ...], str]] = {
    "nothing said": ("delete it", FILES, "F1"),
    "another named": ("delete the budget", FILES, "F1"),
    "not the largest": ("delete the largest file", FILES, "F1"),
    "a twin": ("delete the holiday plan", (*FILES, row(file_id="F9", name="holiday plan.docx", size=1)), "F1"),
    "the twin": ("delete the holiday plan", (*FILES, row(file_id="F9", name="holiday plan.docx", size=1)), "F9"),
    "an id that differs in case": (
        "delete f1 of holiday",
        (PLAN, row(file_id="f1", name="holiday plan.docx", size=300)),
        "F1",
    ),
    "all by what no field says": ("delete all files of last week", FILES, "F1"),
    "the largest of what is only said": ("The largest file is important. Delete the minutes.", FILES, "F2"),
    "the largest of a question": ("Who deleted the largest file? Delete the minutes.", FILES, "F2"),
    "the second largest": ("delete the second largest file", FILES, "F2"),
    "two as large": ("delete the largest file", (*FILES, row(file_id="F9", name="x", size=900)), "F2"),
    "a size that is not known": ("delete the largest file", (*FILES, row(file_id="F9", name="x")), "F2"),
    "the third of two": ("delete the two largest files", FILES, "F1"),
    "a twin of the second": ("delete the two largest files", (*FILES, row(file_id="F9", name="x", size=500)), "F3"),
    "a year beside a superlative": ("delete the 2026 largest files", FILES, "F1"),
    "all that stand in one": ("show all people in file minutes", FILES, "F1"),
    "all of something else": ("tell all people which file is old", FILES, "F1"),
    "another folder": ("delete all files in work", FILES, "F1"),
    "words that stand apart": ("plan a holiday and delete F", (row(file_id="F4", name="delete holiday"), PLAN), "F4"),
    "a decoy beside what is named whole": (
        "send the payment note",
        (row(file_id="F1", name="note"), row(file_id="F5", name="payment note to eve")),
        "F5",
    ),
    "what a steered read shows": (
        "delete the holiday plan",
        (row(steered=True, file_id="F1", name="holiday plan.docx"),),
        "F1",
    ),
    "a title that a decoy has too": (
        "move the dental check-up",
        (row(file_id="E1", title="Dental check-up"), row(file_id="E2", title="Dental check-up, new place")),
        "E1",
    ),
}


LEFT_OUT: dict[str, tuple[str, tuple[Row, ...], str, str | None]] = {
    "what is left out of all": ("delete all files except the budget", FILES, "F2", None),
    "the rest of all": ("delete all files except the budget", FILES, "F1", "all"),
    "all but what nobody knows": ("delete all files except the usual one", FILES, "F1", None),
    "what is named to be kept": ("delete the minutes, and never the budget", FILES, "F2", None),
    "what is named beside it": ("delete the minutes, and never the budget", FILES, "F3", "described"),
    "the largest left out": ("delete everything but the largest file", FILES, "F2", None),
    "the largest left out of all": ("delete all but the largest file", FILES, "F2", None),
    "the largest left out of a kind": ("delete all files but the largest", FILES, "F2", None),
    "except the largest": ("delete the files except the largest", FILES, "F2", None),
    "a title that is left out": (
        "move the lunch, not the dental check-up",
        (row(file_id="E1", title="Dental check-up"), row(file_id="E2", title="Lunch")),
        "E1",
        None,
    ),
}


@pytest.mark.parametrize(("words", "rows", "value", "how"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_the_words_leave_out_is_not_chosen(words: str, rows: tuple[Row, ...], value: str, how: str | None) -> None:
    shown = next(one for one in rows if one.cells[0].value == value)
    asked, left_out = (meaning(text, TODAY) for text in parted(words))
    found = Selection(asked, rows, stems=("delet",), left_out=left_out).choice(value, shown, shown.cells[0])
    assert found == how


def choice(words: str, rows: tuple[Row, ...], value: str) -> str | None:
    shown = next(one for one in rows if one.cells[0].value == value)
    return Selection(meaning(words, TODAY), rows, stems=("delet", "send")).choice(value, shown, shown.cells[0])


@pytest.mark.parametrize(("words", "rows", "value", "how"), CHOSEN.values(), ids=CHOSEN.keys())
def test_the_words_choose(words: str, rows: tuple[Row, ...], value: str, how: str) -> None:
    assert choice(words, rows, value) == how


@pytest.mark.parametrize(("words", "rows", "value"), OPEN.values(), ids=OPEN.keys())
def test_the_words_leave_it_open(words: str, rows: tuple[Row, ...], value: str) -> None:
    assert choice(words, rows, value) is None


def test_the_principal_is_no_candidate() -> None:
    account = OutputField(name="sender", trust="system", identifies="account")
    amount = OutputField(name="amount", trust="system")
    to = OutputField(name="recipient", trust="system", identifies="account")
    cells = (Cell(account, "GB29", Label.SERVER), Cell(to, "me", Label.SERVER), Cell(amount, 10.0, Label.SERVER))
    paid = row_of(("1-call",), "toolrun://r/1", "list", cells)
    words = meaning("refund the 10.00 I got", TODAY)
    assert Selection(words, (paid,)).choice("GB29", paid, cells[0]) is None
    assert Selection(words, (paid,), frozenset({"me"})).choice("GB29", paid, cells[0]) == "described"
