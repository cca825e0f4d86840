"""Sentences that bound a task: named cases in both languages; what is found is always verbatim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.checks.bounding import LONGEST, bounds

CASES = {
    "a prohibition": ("Rotate K-1. Do not touch K-2!", ["Do not touch K-2!"]),
    "a condition": ("Issue a credit, but only after Monday.", ["Issue a credit, but only after Monday."]),
    "a limit": ("Pay the invoice\nat most 20 EUR", ["at most 20 EUR"]),
    "never": ("Never call me. Write instead.", ["Never call me."]),
    "without": ("Close it without a refund", ["Close it without a refund"]),
    "never mind is no bound": ("Never mind, look at A2", []),
    "a question bounds nothing": ("Why is my key not working? Can only admins rotate it?", []),
    "a report bounds nothing": ("My key stopped working yesterday.", []),
    "prohibido": ("Añade una nota. No rotes la clave.", ["No rotes la clave."]),
    "una condición": ("Escríbeme solo por correo.", ["Escríbeme solo por correo."]),
    "un límite": ("Emite un abono de como máximo 20 EUR", ["Emite un abono de como máximo 20 EUR"]),
    "un informe no limita": ("No funciona mi clave. No me llegan los avisos.", []),
    "una pregunta no limita": ("¿Por qué no rotas la clave?", []),
    "too long to be one": ("Only " + "word " * LONGEST, []),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentences_that_bound_a_turn_are_found(name: str) -> None:
    turn, expected = CASES[name]
    assert [turn[start:end] for start, end in bounds(turn)] == expected


@given(st.text(max_size=300))
def test_what_is_found_stands_there_in_order_and_apart(turn: str) -> None:
    last = 0
    for start, end in bounds(turn):
        assert last <= start < end <= len(turn)
        assert turn[start:end] == turn[start:end].strip()
        last = end
