"""What a text says as values: days, hours, amounts, addresses, whole values, and never a part of one (X4)."""

from datetime import date
from typing import Any

import pytest

from state.checks.meaning import meaning, words_of
from state.labels import Role

TODAY = date(2026, 7, 15)  # a Wednesday

SAID: dict[str, tuple[str, Any, Role]] = {
    "an amount": ("send 12.00 euros", 12.0, "amount"),
    "an amount of thousands": ("pay $30,000", 30_000, "amount"),
    "an amount with a currency's sign behind": ("that 10€ bill", 10, "amount"),
    "a whole value": ("pay GB29NWBK60161331926819 now", "GB29NWBK60161331926819", "target"),
    "whatever its case": ("ask ALICE", "Alice", "target"),
    "an address of mail": ("write to Ana.Ruiz@Example.com.", "ana.ruiz@example.com", "target"),
    "a link without its scheme": ("see www.example.com/a.", "https://example.com/a", "url"),
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
    "nothing": ("", "", "target"),
    "spaces": ("a b", "  ", "target"),
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


def test_the_words_that_say_nothing_are_left_out() -> None:
    assert words_of("Please delete the largest of my files") == ("delete", "largest", "files")
