"""Amounts that follow from what the user said and the server holds, by a step that the words name (X4)."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, localcontext
from itertools import chain

_MOST = 12  # numbers; of more than these anything could be made
_CENT = Decimal("0.005")
_DIGITS = 200  # of a step's result: more than two numbers of a text or a field can need
_PERCENT = re.compile(r"%|\bper ?cent\b|\bpor ciento\b")
_SUM = re.compile(
    r"\b(?:plus|more|extra|add(?:ed|ing|itional)?|increas\w+|rais\w+|higher"
    r"|top up|on top|sum|together|in total|más|suma\w*)\b|\+"
)
_DIFFERENCE = re.compile(
    r"\b(?:minus|less|differen\w+|reduc\w+|decreas\w+|lower(?:ed)?|deduct\w*|subtract\w*|remaind\w+|the rest"
    r"|discount\w*|menos|diferencia|rest[ae]\w*)\b"
)
_SHARE = re.compile(r"\b(?:split\w*|divid\w+|share\w*|evenly|equally|each|per (?:person|head)|repart\w+)\b")
_COUNTS = {word: count for count, word in enumerate(("two", "three", "four", "five", "six"), 2)}
_N = rf"(?P<count>[2-9]|{'|'.join(_COUNTS)})"
_COMPANION = (
    r"(?:friend|colleague|coworker|mate|buddy|classmate|flatmate|roommate|housemate|neighbou?r|brother|sister|mother|father"
    r"|cousin|partner|wife|husband|boss|amig[oa]|colega|herman[oa]|pareja|vecin[oa])"
)
# How many shared something: `the three of us`, `split between 4`, `with two friends`, `with my sister`.
_SHARERS = (
    (0, re.compile(rf"\b{_N} of us\b|\b(?:between|among) (?:the )?{_N.replace('count', 'among')}\b(?! and\b)")),
    (1, re.compile(rf"\b(?:with|con) {_N} {_COMPANION}s\b")),
    (2, re.compile(rf"\b(?:with|con) (?:a|an|one|my|another|un|una|mi) (?:\w+ )?{_COMPANION}\b")),
)
_PARTS = {2: r"half|halve|mitad", 3: r"thirds?|tercio", 4: r"quarter|cuarto"}
_TIMES = {2: r"twice|double|doble", 3: r"triple|treble"}


def derived(amount: Decimal, said: Iterable[Decimal], held: Iterable[Decimal], text: str) -> bool:
    """Whether an amount is made of two things that the user's words mention, by a step that they name.

    `said` are the numbers in `text`, `held` amounts of trusted fields that it points at. A step is a sum, a
    difference, a share, a percentage, or a price changed by it, or by it and a sum; and the difference between an
    amount that is held and the share of one that is said, where the words say among how many. One number is not
    combined with itself, and nothing negative, or nothing at all, is an amount.
    """
    words = set(said)
    numbers = words | set(held)
    if amount <= 0 or not numbers or len(numbers) > _MOST:
        return False
    with localcontext() as context:
        context.prec = _DIGITS
        steps = chain(_steps(words, numbers, text.casefold()), _beyond_share(words, numbers - words, text.casefold()))
        return any(abs(one - amount) < _CENT for one in steps)


def _steps(words: set[Decimal], numbers: set[Decimal], text: str) -> Iterator[Decimal]:
    more, less = _SUM.search(text), _DIFFERENCE.search(text)
    percent, share = _PERCENT.search(text), _SHARE.search(text)
    for one in words:
        for other in numbers - {one}:
            part = one * other / 100
            if percent:
                yield part
                if more:
                    yield other + part
                    yield from (part + third for third in words - {one, other})
                if less:
                    yield other - part
            else:
                if more:
                    yield one + other
                if less:
                    yield abs(one - other)
            if share and one:
                yield other / one
    for number in numbers:
        yield from (number / parts for parts, stems in _PARTS.items() if re.search(rf"\b(?:{stems})\b", text))
        yield from (number * times for times, stems in _TIMES.items() if re.search(rf"\b(?:{stems})\b", text))


def _beyond_share(words: set[Decimal], held: set[Decimal], text: str) -> Iterator[Decimal]:
    """What is held beyond the share of what was said, or short of it."""
    parts = {count for one in _SHARERS for count in _counted(*one, text)}
    if len(parts) == 1 and _SHARE.search(text) and _DIFFERENCE.search(text):
        yield from (abs(paid - whole / count) for count in parts for whole in words for paid in held)


def _counted(more: int, pattern: re.Pattern[str], text: str) -> Iterator[int]:
    for found in pattern.finditer(text):
        said = next((one for one in found.groups() if one), "0")
        yield more + (_COUNTS.get(said) or int(said))
