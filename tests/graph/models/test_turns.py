"""Which turns belong to one matter: what opened it, and what answered our questions about it."""

import pytest

from graph.models.turns import Matter, Said, matter

DEEDS = "extend block"


@pytest.mark.parametrize(
    ("opening", "answer"),
    [
        ("Block my card", "C-7"),
        ("Block my card", "the blue one"),
        ("Leave a message at my branch", "The book lies on the counter"),
        ("Leave a message at my branch", "Returned the book, nobody was there."),
        ("Leave a message at my branch", "Had to go home. When I come back, I bring it."),
        ("When is my book due?", "It is C-7"),
    ],
)
def test_what_follows_our_question_belongs_to_what_it_was_about(opening: str, answer: str) -> None:
    assert matter([Said(opening, asked_back=True)], answer, DEEDS) == Matter(opening, (answer,))


@pytest.mark.parametrize(
    ("opening", "turn"),
    [
        ("Leave a message at my branch", "Which books do I have?"),
        ("Leave a message at my branch", "why is it closed"),
        ("Leave a message at my branch", "Block my card"),
        ("When is my book due?", "Cancel my membership"),
        ("Hello!", "My card is lost"),
    ],
)
def test_a_question_or_another_wish_opens_a_new_matter(opening: str, turn: str) -> None:
    assert matter([Said(opening, asked_back=True)], turn, DEEDS) == Matter(turn)


def test_several_questions_of_ours_keep_one_matter_open() -> None:
    earlier = [
        Said("Which books do I have?"),
        Said("Block my card", asked_back=True),
        Said("the blue one", asked_back=True),
    ]
    assert matter(earlier, "C-7", DEEDS) == Matter("Block my card", ("the blue one", "C-7"))


def test_a_turn_without_a_word_is_read_with_the_one_before_also_where_nothing_was_asked() -> None:
    assert matter([Said("When is my book due?")], "C-7", DEEDS) == Matter("When is my book due?\nC-7")


@pytest.mark.parametrize("turn", ["thanks", "Hello!", "ok", "gracias"])
def test_courtesy_after_an_answer_asks_for_nothing_again(turn: str) -> None:
    assert matter([Said("Block my card")], turn, DEEDS) == Matter(turn)


def test_a_sentence_after_an_answer_stands_alone() -> None:
    assert matter([Said("Block my card")], "The book lies on the counter", DEEDS) == Matter(
        "The book lies on the counter"
    )
