"""Personal data taken out of a text before it is remembered (X7): what stands around it stays as it is (H23).

Beside what `personal_data` counts, addresses of machines are masked: who stores one of somebody's, stores where the
person is. Four numbers behind a word such as `release` are a version.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterator

from state.checks.personal import Span, personal_spans

_IPV4 = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)", re.ASCII)
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-f:]{3,39}(?![\w:])", re.IGNORECASE | re.ASCII)
_VERSION = re.compile(r"\b(?:versi[oó]n|release|build|v)\.?\s*$", re.IGNORECASE)


def personal_masked(text: str) -> str:
    """The text with `[email]`, `[card]` and the like where personal data stood. A masked text stays as it is."""
    while (masked := _once(text)) != text:
        text = masked  # what stood beside something masked may be told now
    return text


def _once(text: str) -> str:
    plain, places = _plain(text)
    found: list[tuple[str, Span]] = [(kind, span) for kind, spans in personal_spans(plain) for span in spans]
    found += [("ip", span) for span in _addresses(plain)]
    end = len(text) + 1
    for kind, (start, stop) in sorted(found, key=lambda one: one[1], reverse=True):
        if places[stop - 1] < end:  # what lies in a place that is masked already is gone
            end = places[start]
            text = f"{text[:end]}[{kind}]{text[places[stop - 1] + 1 :]}"
    return text


def _plain(text: str) -> tuple[str, list[int]]:
    """The text in plain characters, and for each of them the place it comes from."""
    if text.isascii():
        return text, list(range(len(text)))
    signs = [(sign, place) for place, written in enumerate(text) for sign in unicodedata.normalize("NFKC", written)]
    return "".join(sign for sign, _ in signs), [place for _, place in signs]


def _addresses(text: str) -> Iterator[Span]:
    for found in _IPV4.finditer(text):
        if _is_address(found[0]) and not _VERSION.search(text[max(0, found.start() - 16) : found.start()]):
            yield found.span()
    for found in _IPV6.finditer(text):
        # Without a digit it is a name with its module, as in `a::b`.
        if found[0].count(":") > 1 and any(map(str.isdigit, found[0])) and _is_address(found[0]):
            yield found.span()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
