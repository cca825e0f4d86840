"""Personal data in a text: kinds and counts, never values (X8). Telemetry, never a gate.

Seen are e-mail, phone, IBAN, card number and national id (Spanish DNI and NIE, British NINO, American SSN). What has a
check digit must pass it. Names, addresses and what a sentence says of somebody are not seen. python-stdnum knows more
ids, under the LGPL; what is needed of it are three sums.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal

Personal = Literal["email", "iban", "card", "national_id", "phone"]
Span = tuple[int, int]

# Each pattern begins where no word does and has bounded parts only: a scan is linear, whatever a text holds.
_EMAIL = re.compile(r"(?<![\w.+%:/-])[\w.+%-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}(?![\w-])", re.IGNORECASE)
_IBAN = re.compile(r"(?<![\w-])[a-z]{2}\d{2}", re.IGNORECASE | re.ASCII)
_CARD = re.compile(r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-])", re.ASCII)
_DNI = re.compile(
    r"(?<![\w.-])(?:\d{8}|\d\d\.\d{3}\.\d{3}|[xyz][ -]?\d{7})[ -]?[a-z](?![\w-])", re.IGNORECASE | re.ASCII
)
_NINO = re.compile(r"(?<![\w-])[a-ceghj-pr-tw-z]{2}( ?)\d\d\1\d\d\1\d\d\1[a-d](?![\w-])", re.IGNORECASE | re.ASCII)
_SSN = re.compile(r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])", re.ASCII)
_NUMBER = re.compile(r"[+(]?\d(?:[ ()./-]{0,3}\d){8,20}", re.ASCII)  # fewer digits are no phone number

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CARD_RANGES = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}"
    r"|6(?:011|22\d|4[4-9]\d|5\d\d)\d{12,15}"
)
# The registry's lengths, with their countries: without them the word behind an IBAN would belong to it.
_IBAN_LENGTHS = (
    "15NO 16BE 18DKFIFOGLNL 19MKSI 20ATBAEEKZLTLUXK 21CHHRLILV 22BGBHCRDEGBGEIEMERSVA 23AEGIILIQTL "
    "24ADCZESMDPKROSASESKTNVG 25PTST 26ISTR 27FRGRITMCMRSM 28ALAZBYCYDOGTHULBPLSV 29BREGPSQAUA 30JOKWMU 31MTSC 32LC"
)
_IBAN_BODIES = {
    country: re.compile(rf"(?:[ -]?[a-z0-9]){{{int(entry[:2]) - 4}}}(?!\w)", re.IGNORECASE | re.ASCII)
    for entry in _IBAN_LENGTHS.split()
    for country in re.findall("..", entry[2:])
}
# Whose national form is read; with + in front every country's is.
_REGIONS = ("ES", "GB", "US")
_MOST_NUMBERS = 50  # of one text are looked at: each costs about a millisecond at worst
_ANNOUNCED = re.compile(
    r"\b(?:phone|tel|tel[eé]fono|tlfn?o?|m[oó]vil|mobile|cell|whatsapp|call|ring|ll[aá]m\w+)\b[^\n\d]{0,20}$",
    re.IGNORECASE,
)


def personal_data(text: str) -> dict[Personal, int]:
    """How often each kind stands in a text; kinds that do not are left out."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # full-width digits, blanks that do not break
    return {kind: len(spans) for kind, spans in personal_spans(text)}


def personal_spans(text: str) -> Iterator[tuple[Personal, list[Span]]]:
    """Where each kind stands in a text that is plain already (NFKC), by places, end exclusive; each place once."""
    if "@" in text and (emails := [found.span() for found in _EMAIL.finditer(text)]):
        yield "email", emails
    if any(digit in text for digit in "0123456789"):
        for kind, spans in _NUMBERED:
            if found := spans(text):
                yield kind, found
                text = _blanked(text, found)  # seen once: a card's digits are no phone number as well


def _blanked(text: str, spans: list[Span]) -> str:
    signs = list(text)
    for start, end in spans:
        signs[start:end] = "_" * (end - start)
    return "".join(signs)


def _ibans(text: str) -> list[Span]:
    heads = [(head, _IBAN_BODIES.get(head[0][:2].upper())) for head in _IBAN.finditer(text)]
    bodies = [(head, body.match(text, head.end())) for head, body in heads if body is not None]
    return [(head.start(), body.end()) for head, body in bodies if body is not None and _sums(head[0], body[0])]


def _sums(head: str, body: str) -> bool:
    """ISO 7064, modulo 97."""
    turned = re.sub(r"[ -]", "", body) + head
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _cards(text: str) -> list[Span]:
    return [found.span() for found in _CARD.finditer(text) if _is_card(re.sub(r"[ -]", "", found[0]))]


def _is_card(digits: str) -> bool:
    """Luhn's sum, in a range that a scheme issues."""
    odd, even = digits[-1::-2], digits[-2::-2]
    total = sum(map(int, odd)) + sum(sum(divmod(2 * int(digit), 10)) for digit in even)
    return total % 10 == 0 and _CARD_RANGES.fullmatch(digits) is not None


def _national_ids(text: str) -> list[Span]:
    dni = [found.span() for found in _DNI.finditer(text) if _has_its_letter(found[0])]
    return dni + [found.span() for pattern in (_NINO, _SSN) for found in pattern.finditer(text)]


def _has_its_letter(written: str) -> bool:
    plain = re.sub(r"[ .-]", "", written.upper())
    digits = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(digits) % 23] == plain[-1]


def _phones(text: str) -> list[Span]:
    """Numbers that exist by their plan: with their country, grouped as people write them, or announced by a word."""
    return [span for number in islice(_NUMBER.finditer(text), _MOST_NUMBERS) for span in _phones_in(text, number)]


def _phones_in(text: str, number: re.Match[str]) -> Iterator[Span]:
    # It reads the plans of all countries: 40 ms once, which only a text with such digits pays.
    from phonenumbers import PhoneNumberMatcher

    # With the signs beside it, which tell a number from a part of something longer, such as a time.
    begin = max(0, number.start() - 2)
    near, before = text[begin : number.end() + 8], text[max(0, begin - 40) : number.start()]
    for region in _REGIONS:
        spans = []
        for found in PhoneNumberMatcher(near, region):
            raw = found.raw_string
            if raw.startswith(("+", "(")) or " " in raw or _ANNOUNCED.search(before):
                spans.append((begin + found.start, begin + found.end))
        if spans:
            yield from spans
            return


_NUMBERED: tuple[tuple[Personal, Callable[[str], list[Span]]], ...] = (
    ("iban", _ibans),
    ("card", _cards),
    ("national_id", _national_ids),
    ("phone", _phones),
)
