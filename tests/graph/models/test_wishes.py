"""Words and wishes: what the offline reader takes a turn for, in English and Spanish."""

import pytest

from graph.models.wishes import wished_verb
from graph.models.words import akin, content_words, covered, is_spanish, stem, terms


@pytest.mark.parametrize(
    ("turn", "verb"),
    [
        ("Rotate my key", "rotate"),
        ("rotate K-1", "rotate"),
        ("Please cancel the order.", "cancel"),
        ("Hi, cancel it", "cancel"),
        ("Can you cancel my order?", "cancel"),
        ("Could you please cancel my order?", "cancel"),
        ("I'd like to cancel my order", "cancel"),
        ("I want you to cancel it", "cancel"),
        ("My card was stolen. Please block it.", "block"),
        ("My card was stolen, please block it", "block"),
        ("Rota mi clave", "rota"),
        ("Por favor, cancela el pedido", "cancela"),
        ("¿Puedes cancelar el pedido?", "cancelar"),
        ("Quiero cancelar mi pedido", "cancelar"),
        ("Sí, cancélalo", "cancelalo"),
    ],
)
def test_wishes(turn: str, verb: str) -> None:
    assert wished_verb(turn) == stem(verb)


@pytest.mark.parametrize(
    "turn",
    [
        "Why is my key not working?",
        "why does it fail",
        "Can I cancel my order?",
        "Can you tell me why it fails?",
        "Please tell me what happened",
        "Check my order",
        "Errors on every call since noon",
        "Webhooks are failing",
        "My order is late",
        "It does not work",
        "Is it down",
        "¿Por qué no funciona?",
        "por qué no funciona",
        "No funciona mi clave",
        "Dime qué pasa",
        "Hello",
        "",
        "???",
    ],
)
def test_questions_and_reports_are_no_wishes(turn: str) -> None:
    assert wished_verb(turn) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("rotate", "rotation"), ("check", "checking"), ("keys", "key"), ("revoke", "revoked"), ("issues", "issue")],
)
def test_forms_of_one_word_compare_equal(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_status_keeps_its_end() -> None:
    assert (stem("status"), stem("address")) == ("status", "address")


def test_words_of_two_languages_are_akin_by_their_beginning() -> None:
    assert akin("rota", "rotat")
    assert not akin("accord", "account")
    assert not akin("api", "apia")


def test_terms_drop_function_words_numbers_and_accents() -> None:
    assert terms("¿Por qué no está la Clave A-123 activa?") == ["clav", "activa"]
    assert content_words("¿Por qué no está la Clave A-123 ACTIVA?") == ["Clave", "ACTIVA"]
    assert covered(["rota"], "Rotate a thing") == []
    assert covered(["rota"], "Rotate a thing", loosely=True) == ["rota"]


@pytest.mark.parametrize(
    ("text", "spanish"),
    [
        ("Why is my key not working?", False),
        ("¿Por qué no funciona mi clave?", True),
        ("Rota mi clave", True),
        ("Rotate my key", False),
        ("API?", False),
        ("no", False),
    ],
)
def test_the_language_of_a_turn(text: str, spanish: bool) -> None:
    assert is_spanish(text) is spanish
