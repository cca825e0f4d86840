"""What the form of a sentence says it asks for, in English and Spanish."""

import pytest

from graph.models.questions import (
    asks_how,
    asks_to_do,
    asks_which,
    begins_with_own,
    ids,
    is_question,
    listed,
    speaks_of_own,
)


@pytest.mark.parametrize(
    ("turn", "noun"),
    [
        ("Which open loans do I have?", "loans"),
        ("What are my loans?", "loans"),
        ("List all my loans", "loans"),
        ("Please show me my loans", "loans"),
        ("Tell me which of my loans are late", "loans"),
        ("How many renewals do I have left?", "renewals"),
        ("¿Qué préstamos tengo?", "prestamos"),
        ("¿Cuántas renovaciones me quedan?", "renovaciones"),
        ("Dame todos mis préstamos", "prestamos"),
        ("Which branch is mine?", None),
        ("What is my status?", None),
        ("Show me the history of L-11", None),
        ("Why are my loans late?", None),
        ("¿Por qué fallan mis préstamos?", None),
        ("Renew my loans", None),
    ],
)
def test_the_plural_noun_that_is_to_be_listed(turn: str, noun: str | None) -> None:
    assert listed(turn) == noun


@pytest.mark.parametrize(
    ("turn", "which"),
    [("What is my standing?", True), ("Show me L-11", True), ("¿Cuál es mi sede?", True), ("Is L-11 late?", False)],
)
def test_asking_for_a_value_or_to_be_shown_something(turn: str, which: bool) -> None:
    assert asks_which(turn) is which


@pytest.mark.parametrize(
    ("turn", "how"),
    [
        ("How do I renew a loan?", True),
        ("¿Cómo renuevo un préstamo?", True),
        ("What do I do when a book is lost?", True),
        ("¿Qué hago si pierdo un libro?", True),
        ("What happens to lost books?", True),
        ("What does overdue mean?", True),
        ("What can I do?", True),
        ("How many loans are late?", False),
        ("What is my standing?", False),
        ("Are deliveries late?", False),
    ],
)
def test_asking_for_a_way_a_case_or_a_meaning(turn: str, how: bool) -> None:
    assert asks_how(turn) is how


@pytest.mark.parametrize(
    ("turn", "own"),
    [
        ("Which loans do I have?", True),
        ("Which plan am I on?", True),
        ("Is my book late?", True),
        ("¿Cuántas renovaciones me quedan?", True),
        ("¿Qué libros tengo?", True),
        ("What do I do when a book is lost?", False),
        ("How long do I have to wait?", False),
        ("¿Cuánto tengo que esperar?", False),
        ("How long do I have it?", True),
        ("Show me the loan", False),
        ("¿Cómo se renueva un libro?", False),
    ],
)
def test_speaking_of_what_one_has(turn: str, own: bool) -> None:
    assert speaks_of_own(turn) is own


@pytest.mark.parametrize(
    ("turn", "to_do"),
    [
        ("How can I renew a loan?", True),
        ("The book is torn. What should we do?", True),
        ("¿Qué puedo hacer?", True),
        ("What happens to lost books?", False),
        ("What does overdue mean?", False),
        ("Which loans do I have?", False),
    ],
)
def test_asking_what_to_do(turn: str, to_do: bool) -> None:
    assert asks_to_do(turn) is to_do


@pytest.mark.parametrize(
    ("turn", "own"),
    [
        ("Why is my loan late?", True),
        ("¿Por qué mi préstamo no sigue?", True),
        ("Hello. Our books are late, why?", True),
        ("Is there a closure in my branch?", False),
        ("Renew my loan", False),
        ("Why are books late?", False),
    ],
)
def test_beginning_with_a_thing_of_ones_own(turn: str, own: bool) -> None:
    assert begins_with_own(turn) is own


@pytest.mark.parametrize(
    ("turn", "asks"),
    [
        ("which loans do i have", True),
        ("is it late", True),
        ("¿Está abierto?", True),
        ("Had to renew it twice", False),
        ("Will come by tomorrow", False),
        ("The book is late", False),
        ("", False),
    ],
)
def test_a_question_has_its_mark_or_opens_as_one(turn: str, asks: bool) -> None:
    assert is_question(turn) is asks


def test_an_id_is_letters_a_hyphen_and_a_number() -> None:
    assert ids("Is T-501 of gx-ingest-7 late since 2026-07-15, 12-5 times, K1?") == {"T-501", "gx-ingest-7"}
