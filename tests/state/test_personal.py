"""Personal data by kind and count, in English and Spanish.

Measured: of the 24 texts below that hold some, all are seen, with kind and count; of the 24 that hold none, 0 are
flagged. Neither are any of the 43 pages of the shipped corpus, of 272 public alert runbooks (OpenShift's) and of 698
pages of a bank's help texts (τ²-bench's). Timestamps and counters of runbooks had been, and are cases now.
The cases were written with the patterns in mind: on others fewer will be seen.
"""

import time
from pathlib import Path

import pytest

from state.checks.personal import personal_data

CORPUS = Path(__file__).resolve().parents[2] / "domain" / "corpus"

HELD = [
    ("write to maria.lopez+billing@correo.example.es", {"email": 1}),
    ("Mi correo es ana_ruiz@example.com, el de Luis luis@example.org.", {"email": 2}),
    ("<JOHN.DOE@EXAMPLE.CO.UK>", {"email": 1}),
    ("Call me at +34 612 345 678 tomorrow", {"phone": 1}),
    ("mi teléfono es el +34612345678", {"phone": 1}),
    ("Llámame al 612 345 678, por favor", {"phone": 1}),
    ("tel. 91 123 45 67", {"phone": 1}),
    ("móvil: 612345678", {"phone": 1}),
    ("my number: (415) 555-2671", {"phone": 1}),
    ("ring +44 20 7946 0958 or +1 415-555-2671", {"phone": 2}),
    ("desde fuera, 0034 612 345 678", {"phone": 1}),
    ("Páguenlo a ES91 2100 0418 4502 0005 1332 antes del viernes", {"iban": 1}),
    ("IBAN: ES9121000418450200051332.", {"iban": 1}),
    ("refund to DE89 3704 0044 0532 0130 00 and tell me", {"iban": 1}),
    ("gb82west12345698765432", {"iban": 1}),
    ("my card is 4111 1111 1111 1111", {"card": 1}),
    ("la tarjeta 5500-0055-5555-5559 no funciona", {"card": 1}),
    ("amex 378282246310005", {"card": 1}),
    ("Mi DNI es 12345678Z", {"national_id": 1}),
    ("DNI 12.345.678-Z, NIE X1234567L", {"national_id": 2}),
    ("my SSN is 219-09-9999", {"national_id": 1}),
    ("National Insurance AB 12 34 56 C", {"national_id": 1}),
    ("ｍｙ ｃａｒｄ ４１１１ １１１１ １１１１ １１１１", {"card": 1}),
    (
        "Soy Ana, DNI 12345678Z, ana@example.com, +34 612 345 678, ES91 2100 0418 4502 0005 1332",
        {"email": 1, "iban": 1, "national_id": 1, "phone": 1},
    ),
]

CLEAN = [
    "Why is my API key K-1042 of A-123 not working?",
    "order 612345678 was shipped",
    "pedido 2026-004512, factura F-2026-0099812",
    "from 2026-07-15 10:30:00 to 2026-07-16 11:30:00 UTC",
    "del 15/07/2026 al 16/08/2026",
    "1784280600 and 1784280600123 are moments",
    "version 1.2.3.4, then 10.20.30.40 and 2001:db8::8a2e:370:7334",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "req-1a9dd02d56a060a8, art-0f3c0f3c0f3c0f3c, call-12-0",
    "runbook/api-keys@v7#revoked-keys for ana@acme and omar@globex",
    "4111 1111 1111 1112 fails its sum",
    "ES92 2100 0418 4502 0005 1332 fails its sum",
    "12345678A has another letter",
    "AB12 is a shelf, XY99 a postcode's half",
    "000-12-3456 and 666-12-3456 were never issued",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "1,234,567,890.12 EUR and 2147483647 bytes",
    "0.30000000000000004 is no 0.3, 2024-07-08T10:38:51.940040Z no DNI",
    "postgresql://bea:hunter2x@db.example.com:5432/desk",
    "GET /v1/events/20260715103000123 gave 503 in 12 345 ms",
    "UTC+0200, C++20, +15 % and 24/7",
    "ISBN 978-3-16-148410-0",
    "los límites son 1000, 5000 y 10000 por minuto",
    "@media (min-width: 1024px) and @property",
]


@pytest.mark.parametrize(("text", "counts"), HELD)
def test_personal_data_is_told_by_kind_and_count(text: str, counts: dict[str, int]) -> None:
    assert personal_data(text) == counts


@pytest.mark.parametrize("text", CLEAN)
def test_ids_numbers_dates_and_hashes_are_no_personal_data(text: str) -> None:
    assert personal_data(text) == {}


def test_no_page_of_the_shipped_corpus_holds_any() -> None:
    pages = sorted(CORPUS.rglob("*.md"))
    assert len(pages) > 25
    assert {page.name: found for page in pages if (found := personal_data(page.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "piece", ["a", "1 ", "a@", "ES91", "12-", "1", "a.", "(", "+1 ", "612 345 678 ", "4111 1111 1111 1111 "]
)
def test_a_long_text_is_scanned_in_time(piece: str) -> None:
    """100,000 characters, which is more than any item holds, in under a second: it takes about a tenth of one."""
    text = piece * (100_000 // len(piece))
    personal_data("+34 612 345 678")  # reads the numbering plans
    began = time.perf_counter()
    personal_data(text)
    assert time.perf_counter() - began < 1
