"""Identifiers by form (H05): what has to survive a summary exactly, and what is a mere number."""

import pytest

from state.checks.identifiers import identifiers


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        ("order RX-20417-B, please.", ["RX-20417-B"]),
        ("Is K-1007 the key of (INC-302)?", ["K-1007", "INC-302"]),
        ("pay 40 euros in 3 days, 10,000 at most, 3.5 each", []),
        ("to ES9121000418450200051332", ["ES9121000418450200051332"]),
        ("order 123456 of 2026-07-15", ["123456", "2026-07-15"]),
        ("see C_77/b2 and runbook/api-v7", ["C_77/b2", "runbook/api-v7"]),
        ("¿El pedido Ñ-42?", ["Ñ-42"]),
        ("x" * 90 + "1", []),
        ("", []),
    ],
)
def test_what_is_an_identifier(turn: str, found: list[str]) -> None:
    assert [turn[start:end] for start, end in identifiers(turn)] == found
