"""A long question is asked sentence by sentence; a short one as it stands."""

from hypothesis import given
from hypothesis import strategies as st

from retrieval.parts import LONG_WORDS, MOST_PARTS, parts
from retrieval.words import query_words

LONG = " ".join(f"Sentence{n} asks about topic{n} and matter{n}." for n in range(20))


def test_a_short_question_is_its_only_part() -> None:
    text = "Why is my key not working? It was fine yesterday."
    assert parts(text) == (text,)


def test_a_long_question_is_cut_at_its_sentences_and_lines() -> None:
    asked = parts(LONG + "\n- a line about billing cycles\n- Yes.")
    assert asked[0] == "Sentence0 asks about topic0 and matter0."
    assert asked[-1] == "- a line about billing cycles"
    assert len(asked) == 21


def test_a_sentence_said_twice_is_asked_once() -> None:
    assert len(parts(LONG + " " + LONG)) == 20


def test_sentences_in_scripts_without_spaces_are_cut_too() -> None:
    sentences = ["".join(chr(0x4E00 + 10 * n + place) for place in range(10)) + "。" for n in range(12)]
    assert parts("".join(sentences)) == tuple(sentences)


def test_a_text_without_end_has_a_bounded_number_of_parts() -> None:
    assert len(parts("\n".join(f"word{n} other{n} third{n}" for n in range(500)))) <= MOST_PARTS


@given(st.text(max_size=3000))
def test_every_part_stands_in_the_text_and_asks_for_something(text: str) -> None:
    asked = parts(text)
    assert 1 <= len(asked) <= MOST_PARTS
    assert all(part in text for part in asked)
    if len(query_words(text)) < LONG_WORDS:
        assert asked == (text,)
