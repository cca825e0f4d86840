"""What a text says, as values: a typed argument is found in it by meaning, or whole, never by a part of it (X4)."""

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property

from pydantic import JsonValue

from state.checks.dates import Said, moment, said, without_time
from state.checks.hidden import visible
from state.checks.kept import kept
from state.labels import Role

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'`)\]}]+|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/[^\s<>\"'`)\]}]*", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.,-])[-+]?[$€£]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?=%|[$€£]|[^\w]|$)(?!\.\d)")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
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
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text that say something, in one case, in order."""
    return tuple(word for word in _words(text) if len(word) > 1 and word not in _STOP)


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in _WORD.findall(text.casefold().replace("’", "'"))]


def address(url: str) -> str:
    """A URL for comparison: without scheme, `www.` and what closes a sentence."""
    bare = url.strip().rstrip(".,;:!?/").casefold()
    return bare.removeprefix("https://").removeprefix("http://").removeprefix("www.")


def urls(text: str) -> frozenset[str]:
    """The addresses of web pages in a text."""
    return frozenset(address(found) for found in _URL.findall(text))


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
        return frozenset(found.casefold() for found in _EMAIL.findall(self.text))

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

    def says(self, value: JsonValue, role: Role = "object") -> bool:
        """Whether a typed value stands in the text: by its meaning where its role has one, else whole."""
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
        if role == "url":
            return address(value) in self.urls or self.holds(value)
        if _EMAIL.fullmatch(value.strip()):
            return value.strip().casefold() in self.emails
        return self.holds(value) or (role == "amount" and number(value) in self.numbers)

    def holds(self, value: str) -> bool:
        """Whether a text stands here whole, between word boundaries, whatever its case and spaces."""
        wanted = plain(value)
        if not wanted or wanted not in self.plain:
            return False
        return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", self.plain) is not None


@kept(most=1024)
def meaning(text: str, today: date) -> Meaning:
    """The meaning of a text. Texts are the same from call to call: what was read once is kept a while."""
    return Meaning(text, today)


def norm(value: JsonValue) -> str:
    """A value as it is compared whole: numbers exactly, texts as `plain` has them, links as addresses."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(number(value))
    text = plain(str(value))
    return address(text) if text.startswith(("http://", "https://", "www.")) else text


def number(value: JsonValue) -> Decimal | None:
    """A value as an exact number, None where it is none. A currency's sign does not change it."""
    try:
        return Decimal(str(value).strip().strip("$€£").replace(",", "")).normalize() + 0
    except InvalidOperation:
        return None
