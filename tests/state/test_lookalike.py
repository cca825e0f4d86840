"""What a person does not see in a text, or takes for something else, is found; honest words are left as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.checks.hidden import visible
from state.checks.lookalike import deceptive


def marked(text: str) -> str:
    """The text with what deceives as its number."""
    places = deceptive(text)
    return "".join(f"<{ord(each):x}>" if place in places else each for place, each in enumerate(text))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        pytest.param("billing@acme.exa\u200bmple", "billing@acme.exa<200b>mple", id="a space of no width"),
        pytest.param("a\u200db \u200eA-1", "a<200d>b <200e>A-1", id="a joiner and a direction mark"),
        pytest.param("\u202egnp.exe", "<202e>gnp.exe", id="an override of direction"),
        pytest.param("10\u00a0000\u3000EUR", "10<a0>000<3000>EUR", id="spaces that are not the space"),
        pytest.param("\x1b[31mred\x7f", "<1b>[31mred<7f>", id="controls of a terminal"),
        pytest.param("a\u3164b\U000e0041", "a<3164>b<e0041>", id="a filler and a tag"),
        pytest.param("p\u0430ypal.example", "p<430>ypal.example", id="one letter of another script"),
        pytest.param("\u0430\u0441\u0435", "<430><441><435>", id="a word of letters that all look like others"),
        pytest.param("\u0430\u0441\u0435.example", "<430><441><435>.example", id="such a word in an address"),
        pytest.param("acme\u2024example", "acme<2024>example", id="a dot that is none"),
        pytest.param("\uff41cme \U0001d41acme", "<ff41>cme <1d41a>cme", id="styled letters"),
        pytest.param("pe\u0301z", "pe<301>z", id="an accent apart from its letter"),
        pytest.param("\ufb01ne", "<fb01>ne", id="a ligature"),
        pytest.param("\u2160nvoice \u2163, \u217cegal", "<2160>nvoice <2163>, <217c>egal", id="roman numerals"),
        pytest.param("\u2160\u2164", "<2160><2164>", id="roman numerals alone"),
        pytest.param("b\u0131lling, \u0237ean", "b<131>lling, <237>ean", id="letters without their dot"),
        pytest.param("\U0001d41a\U0001d41b \U0001d7cf\U0001d7d0", "<1d41a><1d41b> <1d7cf><1d7d0>", id="mathematical"),
        pytest.param("\uff11\uff12.50", "<ff11><ff12>.50", id="wide figures"),
        pytest.param("192\uff0e168\uff0e0\uff0e1", "192<ff0e>168<ff0e>0<ff0e>1", id="wide dots between figures"),
        pytest.param("acme\u3002example \uff41\uff61b", "acme<3002>example <ff41><ff61>b", id="dots of a browser"),
        pytest.param("\u212a-1 and \u037e", "<212a>-1 and \u037e", id="a sign for Kelvin"),
        pytest.param("a\u037eb 50\uff05", "a<37e>b 50<ff05>", id="signs of another width"),
        pytest.param("1\u0c660 EUR 5\u0660", "1<c66>0 EUR 5<660>", id="figures of another script"),
        pytest.param("A-\u05d0-12", "A-<5d0>-12", id="a letter that turns the line around"),
    ],
)
def test_what_deceives_is_found(text: str, seen: str) -> None:
    assert marked(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "Größe, naïve, José, Łódź, Tiếng Việt, güneş",
        "Здравствуйте, мир",
        "Καλημέρα κόσμε",
        "株式会社ABC、天気。明日は東京、ABC。",
        "天気，明日（東京）！",
        "m², 1º, №, ™, ½ kg, ① and ℃",
        "٣٤ and १२",
        "שלום עולם",
        "line one\n\tline two … “quoted” — 3 × 4 ½ 😀",
    ],
)
def test_honest_words_are_left_as_they_are(text: str) -> None:
    assert deceptive(text) == frozenset()


@given(st.text())
def test_what_a_request_would_not_show_is_always_found(text: str) -> None:
    places = deceptive(text)
    assert [each for place, each in enumerate(text) if place not in places and not visible(each)] == []
