"""The numbers that a sentence states as amounts, and the currencies that it names for them.

What merely has digits is none, and what can be read twice is unclear.

People write "30 EUR", "€30" or "30". The 3 of "3 days" counts something else, the 429 of "error 429" is a label, A-125
is an id; and 1,000 is a thousand or one, depending on who writes it. A wrong guess would be a wrong sum.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator

from graph.models.vocabulary import CURRENCIES, SCALES
from graph.models.words import fold, is_content, stem

_CLAUSE = re.compile(r"[.,:;!?¿¡]+(?=\s|$)|\n")
_AROUND = "\"'“”‘’()[]{}<>*_`"
_PERCENT = re.compile(r"\bpor cien(?:to)?\b|\bper cent\b|%", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d")
_JOINED = re.compile(r"\w[-–:/\\@#]")  # dates, times, ranges and ids have one of these inside
_TOKEN = re.compile(r"\d[\d.,]*|[^\W\d_]+|[^\w\s]")
_UNITS = frozenset[str]().union(*CURRENCIES.values())
_PLAIN = re.compile(r"(-?\d{1,15}(?:[.,]\d{1,2})?)([A-Z]{3})?")


def amounts(text: str, own: Collection[str]) -> Iterator[float | None]:
    """The amounts of a text in order, None for an unclear one. `own` are the stems of what these numbers may stand by.

    A number stands beside its money sign, beside a word of its own, or between words that say nothing.
    """
    for clause in _CLAUSE.split(_PERCENT.sub(" percent ", text)):
        words = ["", *(word for part in clause.split() if (word := part.strip(_AROUND))), ""]
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            written = "".join(character for character in word if unicodedata.category(character) != "Sc")
            if not _NUMBER.match(written) or _JOINED.search(written):
                continue
            plain = _PLAIN.fullmatch(written)
            if plain is None or fold(after) in SCALES:
                yield None
            elif plain[2] or written != word or _is_unit(after, own) or not (_says(after) or _labels(before, own)):
                yield float(plain[1].replace(",", "."))


def currencies(text: str) -> Iterator[frozenset[str]]:
    """The codes that each sign or name of some money may mean.

    A code in small letters may be an ordinary word: it counts beside a number alone.
    """
    tokens = ["", *_TOKEN.findall(text), ""]
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        small = token.islower() and token.upper() in CURRENCIES and not (before[:1].isdigit() or after[:1].isdigit())
        codes = frozenset(code for code, written in CURRENCIES.items() if fold(token) in written)
        if codes and not small:
            yield codes


def _is_unit(word: str, own: Collection[str]) -> bool:
    return fold(word) in _UNITS or stem(fold(word)) in own


def _labels(word: str, own: Collection[str]) -> bool:
    """Whether a word before a number makes a name of it, as in "error 429"."""
    return _says(word) and not _is_unit(word, own)


def _says(word: str) -> bool:
    return is_content(fold(word).partition("'")[0])
