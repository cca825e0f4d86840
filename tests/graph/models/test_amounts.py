"""Which numbers of a sentence are taken as amounts: those that can mean nothing else."""

import pytest

from graph.models.amounts import amounts, currencies

OWN = {"week", "refund"}  # the stems of a parameter's name and of the wish


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a credit of 30 EUR, please", [30]),
        ("a credit of 30 euros.", [30]),
        ("a €25 credit", [25]),
        ("a 25€ credit", [25]),
        ("a 25EUR credit", [25]),
        ("€ 25", [25]),
        ("USD 25 to the card", [25]),
        ("40", [40]),
        ("make it (12.50)", [12.5]),
        ("un vale de 12,50", [12.5]),
        ("-5", [-5]),
        ("extend it by 2 weeks", [2]),
        ("refund 50 of it", [50]),
        ("30 for this and 40 for that", [30, 40]),
    ],
)
def test_a_number_beside_money_its_own_word_or_nothing_is_an_amount(text: str, found: list[float]) -> None:
    assert list(amounts(text, OWN)) == found


@pytest.mark.parametrize(
    "text",
    [
        "for A-125, L-2041 and gx-ingest-7",
        "for the 3 days of outage",
        "the 2 API keys",
        "since error 429 appeared",
        "on 2026-07-15 at 14:30, or on 15/07",
        "between 20-30",
        "K1007 or #30",
        "",
    ],
)
def test_ids_dates_labels_and_counts_of_other_things_are_no_amounts(text: str) -> None:
    assert list(amounts(text, OWN)) == []


@pytest.mark.parametrize(
    "text",
    ["1,000 EUR", "1.000 euros", "1.234,50", "30%", "30 %", "30 por ciento", "30 per cent", "30k", "5 thousand", "3rd"],
)
def test_a_number_that_can_be_read_twice_is_unclear(text: str) -> None:
    assert list(amounts(text, OWN)) == [None]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("30 EUR", ["EUR"]),
        ("30eur or €30 or 30 Euros", ["EUR", "EUR", "EUR"]),
        ("$30", ["ARS AUD CAD CLP COP MXN USD"]),
        ("30 dólares", ["AUD CAD USD"]),
        ("paid in GBP", ["GBP"]),
        ("a pen for 30 people", []),
        ("30 weeks", []),
    ],
)
def test_the_currencies_that_a_text_names(text: str, codes: list[str]) -> None:
    assert [" ".join(sorted(meant)) for meant in currencies(text)] == codes
