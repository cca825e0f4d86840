"""H23: personal data is masked before a text is remembered, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.checks.personal_masked import personal_masked

UNTOUCHED = ["0.5213450000000017", "1767225600009", "release 2.17.0.3", "@scope/pkg@1.2.3", "order 9000120000004512"]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("5555 5555 5555 4444", "[card]"),
        ("3714 496353 98431", "[card]"),
        ("host 10.0.0.8", "host [ip]"),
        ("from 2001:db8::7, twice", "from [ip], twice"),
        ("josé.ruiz@correo.example", "[email]"),
        ("call +34 612 345 678 or write to ana@example.com.", "call [phone] or write to [email]."),
        ("ｃａｒｄ ４１１１ １１１１ １１１１ １１１１ ｏｋ", "ｃａｒｄ [card] ｏｋ"),
        ("ﬁrst DNI 12345678Z ﬁn", "ﬁrst DNI [national_id] ﬁn"),
        ("4111 1111 1111 1111 10.0.0.8", "[card] [ip]"),
        *((text, text) for text in UNTOUCHED),
        (" : ".join(UNTOUCHED), " : ".join(UNTOUCHED)),
        ("at 10:30:00, std::vector, a::b, 300.1.1.1", "at 10:30:00, std::vector, a::b, 300.1.1.1"),
    ],
)
def test_h23_personal_data_is_masked_and_what_stands_around_it_stays(text: str, masked: str) -> None:
    assert personal_masked(text) == masked
    assert personal_masked(f"<{text}>") == f"<{masked}>"


PARTS = st.sampled_from(
    ["4111 1111 1111 1111", "10.0.0.8", "ana@example.com", "12345678Z", "ﬁ", "é", " ", "v", ":", "7"]
)


@given(st.lists(PARTS | st.text(max_size=4), max_size=12).map("".join))
def test_h23_masking_twice_changes_nothing_more(text: str) -> None:
    once = personal_masked(text)
    assert personal_masked(once) == once
