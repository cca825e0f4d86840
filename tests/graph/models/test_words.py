"""Forms of one word compare equal."""

import pytest

from graph.models.words import stem, terms_and_numbers


@pytest.mark.parametrize(
    "forms",
    [
        ("keep", "keeps", "kept", "keeping"),
        ("lose", "lost", "losing"),
        ("reply", "replies", "replied"),
        ("supply", "supplies"),
        ("loan", "loans", "loaned"),
    ],
)
def test_forms_of_one_word(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1, [stem(form) for form in forms]


def test_a_number_counts_where_it_stands_alone() -> None:
    text = "Error 429 of K-1007 on 2026-07-15: 1,000 of 12.5, 30% in 60 days or 3"
    assert [word for word in terms_and_numbers(text) if word.isdigit()] == ["429", "30", "60"]
