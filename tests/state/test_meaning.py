"""What a text says as values: days, hours, amounts, addresses, whole values, and never a part of one (X4)."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from state.checks.meaning import meaning, number, pressed, words_of
from state.labels import Role

TODAY = date(2026, 7, 15)  # a Wednesday

SAID: dict[str, tuple[str, Any, Role]] = {
    "an amount": ("send 12.00 euros", 12.0, "amount"),
    "an amount of thousands": ("pay $30,000", 30_000, "amount"),
    "an amount with a currency's sign behind": ("that 10€ bill", 10, "amount"),
    "a whole value": ("pay GB29NWBK60161331926819 now", "GB29NWBK60161331926819", "target"),
    "a name whatever its case": ("call it ALICE", "Alice", "title"),
    "space around a target": ("ask Alice", " Alice\n", "target"),
    "a target over two lines": ("ask Alice\n  Ruiz", "Alice Ruiz", "target"),
    "an address of mail": ("write to ana.ruiz@Example.com.", "ana.ruiz@example.com", "target"),
    "a link without its scheme": ("see www.example.com/a.", "https://www.example.com/a", "url"),
    "a date": ("on 2026-08-01", "2026-08-01", "day"),
    "a month and a day": ("on January 11th", "2027-01-11", "day"),
    "a day of a month": ("the 14th of November", "2026-11-14", "day"),
    "a date in Spanish": ("el 3 de mayo de 2026", "2026-05-03", "day"),
    "the ends of a span": ("from the 13th to the 17th of May 2026", "2026-05-13", "day"),
    "a word for a day": ("meet me tomorrow", "2026-07-16", "day"),
    "a day of the week": ("next Friday", "2026-07-17", "day"),
    "an hour": ("on May 3rd at 2 pm", "2026-05-03 14:00", "time"),
    "a day without an hour": ("on May 3rd", "2026-05-03 09:30", "time"),
    "the end of a span of time": ("on May 3rd at 14:00 for an hour", "2026-05-03 15:00", "time"),
}
NOT_SAID: dict[str, tuple[str, Any, Role]] = {
    "a part of an amount": ("send 12.50", 12, "amount"),
    "a year": ("on May 3rd 2026", 2026, "amount"),
    "an hour as an amount": ("at 14:00", 14, "amount"),
    "a part of a value": ("pay GB29NWBK60161331926819", "GB29NWBK", "target"),
    "a part of a name": ("ask Alice-Anne", "Alice", "target"),
    "another's mail": ("write to ana.ruiz@example.com", "ruiz@example.com", "target"),
    "another page": ("see www.example.com/a", "www.example.com/b", "url"),
    "another year": ("on January 11th 2026", "2027-01-11", "day"),
    "another day": ("on January 11th", "2026-01-12", "day"),
    "another hour": ("on May 3rd at 2 pm", "2026-05-03 15:00", "time"),
    "a target in another case": ("ask ALICE", "Alice", "target"),
    "an id in another case": ("delete C0aBcD", "C0AbCd", "object"),
    "a mailbox in another case": ("write to Ana@example.com", "ana@example.com", "target"),
    "a target with what nobody sees": ("ask bob@acme.com", "bo\u200bb@acme.com", "target"),
    "a target with a control character": ("ask Bob", "Bob\x07", "target"),
    "an object with tags": ("delete Bob", "B\U000e0061ob", "object"),
    "a target with other space": ("ask Ana Ruiz", "Ana  Ruiz", "target"),
    "a path in another case": ("see bit.ly/AbCdE", "bit.ly/aBcDe", "url"),
    "a link without encryption": ("see https://bit.ly/AbCdE", "http://bit.ly/AbCdE", "url"),
    "a link with more signs": ("see https://good.com/a", "https://good.com/a???", "url"),
    "a word that is no link": ("see good things", "good", "url"),
    "nothing": ("", "", "target"),
    "spaces": ("a b", "  ", "target"),
    "an amount with an exponent": ("send 12", "1.2e1", "amount"),
    "an amount that overflows": ("send 5", "1e9999999", "amount"),
    "an amount that vanishes": ("send 0", "1e-9999999", "amount"),
    "an amount that is no number": ("send NaN", "sNaN", "amount"),
    "an endless amount": ("send Infinity", "-Infinity", "amount"),
    "an amount with commas anywhere": ("send 5000", "5,0,00", "amount"),
    "an amount of another currency": ("send $5", "€5", "amount"),
    "a negative amount": ("send 5", "-5", "amount"),
    "an integer past any amount": ("send 5", 10**400, "amount"),
    "truth": ("it is True", True, "permission"),
}


@pytest.mark.parametrize(("text", "value", "role"), SAID.values(), ids=SAID.keys())
def test_a_text_says(text: str, value: Any, role: Role) -> None:
    assert meaning(text, TODAY).says(value, role)


@pytest.mark.parametrize(("text", "value", "role"), NOT_SAID.values(), ids=NOT_SAID.keys())
def test_a_text_does_not_say(text: str, value: Any, role: Role) -> None:
    assert not meaning(text, TODAY).says(value, role)


def test_an_invisible_character_does_not_hide_a_value() -> None:
    assert not meaning("pay A1\u200b1", TODAY).says("A1")


NUMBERS: dict[str, tuple[Any, Decimal | None]] = {
    "an integer": (12, Decimal(12)),
    "a decimal": (12.50, Decimal("12.5")),
    "a text": ("1,234.50", Decimal("1234.5")),
    "a sign of a currency": ("$5", Decimal(5)),
    "no negative zero": (-0.0, Decimal(0)),
    "all digits of an integer": (10**40 + 1, Decimal(10**40 + 1)),
    "a large float": (1e308, Decimal("1e308")),
    "infinity": (float("inf"), None),
    "not a number": (float("nan"), None),
    "an exponent": ("1e9999999", None),
    "a text of infinity": ("Infinity", None),
    "a text of no number": ("NaN", None),
    "more digits than an amount": ("1" * 50, None),
    "an integer past printing": (10**5_000, None),
}


@pytest.mark.parametrize(("value", "exact"), NUMBERS.values(), ids=NUMBERS.keys())
def test_a_value_is_an_exact_number_or_none(value: Any, exact: Decimal | None) -> None:
    assert number(value) == exact


NAMED: dict[str, tuple[str, str, bool]] = {
    "a word of its own": ("make it recurring", "recurring", True),
    "a longer form": ("as an administrator", "is_admin", True),
    "two words in a row": ("for all rooms", "all_rooms", True),
    "an auxiliary alone": ("This is bob, invite him", "is_admin", False),
    "a short word": ("thanks to all of you", "all_rooms", False),
    "one word of two": ("we have nice rooms", "all_rooms", False),
    "two words apart": ("all of the rooms", "all_rooms", False),
    "the start of another word": ("Although", "all", False),
    "too short to be its own": ("turn it on", "on", False),
}


@pytest.mark.parametrize(("text", "parameter", "named"), NAMED.values(), ids=NAMED.keys())
def test_a_truth_is_said_by_a_word_of_its_own(text: str, parameter: str, named: bool) -> None:
    assert meaning(text, TODAY).names(parameter) is named


def test_the_words_that_say_nothing_are_left_out() -> None:
    assert words_of("Please delete the largest of my files") == ("delete", "largest", "files")


@pytest.mark.parametrize("text", ["ES91 2100", "es-91\n2100", "ES\u200d912\u200b100", "ＥＳ９１.2,100"])
def test_a_value_is_pressed_out_of_what_stands_between_its_signs(text: str) -> None:
    assert pressed(text) == "es912100"
