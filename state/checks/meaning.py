"""What a text says, as values: a typed argument is found in it by meaning, or whole, never by a part of it (X4)."""

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Context, Decimal
from functools import cached_property
from math import isfinite
from unicodedata import normalize

from pydantic import JsonValue

from state.checks.dates import Said, moment, said, without_time
from state.checks.hidden import visible
from state.checks.kept import kept
from state.checks.links import address, is_link, urls
from state.labels import Role

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NUMBER = re.compile(r"(?<![\w.,-])[-+]?[$€£]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?=%|[$€£]|[^\w]|$)(?!\.\d)")
# A text that is a number: of no more digits than an amount has, and without an exponent.
_AMOUNT = re.compile(r"[-+]?[$€£]?[-+]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,21})(?:\.\d{1,12})?\s?[$€£]?", re.ASCII)
_LONGEST_INTEGER = 4_096  # bits
_WHOLE = Context(prec=2_000)  # digits: none of a number is rounded away
_OWN_WORD = 4  # letters from which a parameter's word is its own: `all`, `on` and `be` stand in any sentence
_AUXILIARY = frozenset({"is", "are", "has", "have", "be", "do", "does", "can", "should", "with", "to"})
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Of these roles two values that differ in case are two: ids, channels, paths.
_EXACT = frozenset({"target", "object", "url"})
# Words that say nothing of a thing: they tell no two apart.
_STOP = frozenset(
    """
    a an the and or of to in on at for with from by my your his her its our their me you it is are was were be been do
    does did can could please this that these those there as if not no any some all each every one two i we he she they
    will would should have has had about into out up new el la los las un una de del y o que en con por para mi tu su
    me se lo le es al como
    """.split()  # noqa: SIM905 - a list of eighty strings reads worse
)


@kept(most=65_536)
def plain(text: str) -> str:
    """A text for comparison: visible characters, one case, single spaces."""
    return " ".join(visible(text).casefold().split())


@kept(most=65_536)
def spaced(text: str) -> str:
    """A text for comparison in its own case: single spaces."""
    return " ".join(visible(text).split())


@kept(most=16_384)
def pressed(text: str) -> str:
    """The letters and digits of a text, in one case and plain form: however a value is spaced or hidden in it."""
    return "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))


def mailbox(written: str) -> str:
    """An address of mail for comparison: no case tells two domains apart, the part before it keeps its own."""
    name, _, domain = written.strip().partition("@")
    return f"{name}@{domain.casefold()}"


def same(value: JsonValue, held: JsonValue) -> bool:
    """Whether a value that decides is what a field holds, for all that a tool would strip: space around it, the case
    of a domain. Two that differ in case, or in what nobody sees, are two."""
    if not isinstance(value, str) or not isinstance(held, str):
        return norm(value) == norm(held)
    if altered(value):
        return False
    if _EMAIL.fullmatch(value.strip()):
        return mailbox(value) == mailbox(held)
    return address(value) == address(held) if is_link(value) else spaced(value) == spaced(held)


def altered(value: str) -> bool:
    """Whether a value holds what a comparison folds away and no tool strips: characters that nobody sees, and space
    within that is not one blank."""
    return spaced(value) != normalize("NFC", value.strip())


@kept(most=65_536)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text that say something, in one case, in order."""
    return tuple(word for word in _words(text) if len(word) > 1 and word not in _STOP)


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in _WORD.findall(text.casefold().replace("’", "'"))]


@dataclass(frozen=True)
class Meaning:
    """A text with what it says. Built once, asked for many values."""

    text: str
    today: date
    _asked: dict[tuple[str, str], bool] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_words(self.text))

    @cached_property
    def time(self) -> Said:
        return said(self.text, self.today)

    @cached_property
    def emails(self) -> frozenset[str]:
        return frozenset(map(mailbox, _EMAIL.findall(self.text)))

    @cached_property
    def urls(self) -> frozenset[str]:
        return urls(self.text)

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        return frozenset(Decimal(found.replace(",", "")) for found in _NUMBER.findall(without_time(self.text)))

    @cached_property
    def sequence(self) -> tuple[str, ...]:
        """The words that say something, in order."""
        return words_of(self.text)

    def says(self, value: JsonValue, role: Role = "title") -> bool:
        """Whether a typed value stands in the text: by its meaning where its role has one, else whole. One that decides
        what is done, or to whom, stands there as it is, one in a name whatever its case."""
        key = (role, repr(value))
        if key not in self._asked:
            self._asked[key] = self._says(value, role)
        return self._asked[key]

    def _says(self, value: JsonValue, role: Role) -> bool:
        if isinstance(value, bool) or value is None:
            return False
        if isinstance(value, int | float):
            return number(value) in self.numbers
        if not isinstance(value, str) or not value.strip():
            return False
        if role in ("time", "day") and (when := moment(value)) is not None:
            day, hour = when
            return self.time.says_day(day) and (role == "day" or hour is None or self.time.says_hour(hour))
        if role in _EXACT and altered(value):
            return False
        if role == "url":
            return address(value) in self.urls
        if _EMAIL.fullmatch(value.strip()):
            return mailbox(value) in self.emails
        if role == "amount":
            sign = set(value) & set("$€£")
            return number(value) in self.numbers and sign <= set(self.text)
        return self.holds(value, exact=role in _EXACT)

    def mentions(self, value: JsonValue, role: Role) -> bool:
        """Whether the text says a value, or one that differs from it in case or in what nobody sees."""
        return self.says(value, role) or self.says(value)

    def names(self, parameter: str) -> bool:
        """Whether the text names a parameter: its words in a row, `is` and its like left out, one of them long enough
        to be its own."""
        parts = [part for part in parameter.casefold().split("_") if part and part not in _AUXILIARY]
        if all(len(part) < _OWN_WORD for part in parts):
            return False
        words = _words(self.text)
        return any(
            all(map(str.startswith, words[at : at + len(parts)], parts)) for at in range(len(words) - len(parts) + 1)
        )

    def holds(self, value: str, exact: bool = False) -> bool:
        """Whether a text stands here whole, between word boundaries, whatever its spaces; whatever its case unless
        `exact`."""
        wanted, text = (spaced(value), spaced(self.text)) if exact else (plain(value), self.plain)
        if not wanted or wanted not in text:
            return False
        return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", text) is not None


@kept(most=1024)
def meaning(text: str, today: date) -> Meaning:
    """The meaning of a text. Texts are the same from call to call: what was read once is kept a while."""
    return Meaning(text, today)


def norm(value: JsonValue) -> str:
    """A value as it is compared whole: numbers exactly, texts as `plain` has them, links as addresses."""
    if isinstance(value, int | float) and not isinstance(value, bool) and (exact := number(value)) is not None:
        return str(exact)
    text = plain(str(value))
    return address(str(value)) if is_link(text) else text


def number(value: JsonValue) -> Decimal | None:
    """A value as an exact number; None where it is none, as a text with an exponent, `NaN` and what no sum has.

    A currency's sign does not change it.
    """
    if isinstance(value, float) and not isfinite(value):
        return None
    if not isinstance(value, int | float):
        text = str(value).strip()
        if not _AMOUNT.fullmatch(text):
            return None
        value = text.strip("$€£").replace(",", "").strip()
    elif isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return None
    exact = Decimal(str(value))
    return exact.normalize(_WHOLE) if exact else Decimal(0)
