"""Words as the offline reader compares them: folded, without endings, function words apart."""

import re
import unicodedata
from collections.abc import Iterable

from graph.models.vocabulary import ENGLISH, IRREGULAR, SPANISH

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NUMBER = re.compile(r"(?<![\w.,-])\d{2,}(?![\w-]|[.,]\d)")  # alone: no part of an id, a date or another number

# Written as names are in code, with a capital or an underscore inside: nobody writes such a word by chance.
_NAME = re.compile(r"\b[^\W\d_]+(?:_\w+|\w*[a-zà-ÿ][A-ZÀ-Þ]\w*)")

_FUNCTION = ENGLISH | SPANISH
# Written alike in both languages: they tell nothing about which one it is.
_EITHER = ENGLISH & SPANISH

_PREFIX = 4  # letters that two words of different languages must share at the start to count as the same word
# Longest first; what is left of a word keeps at least three letters.
_ENDINGS = ("ingly", "ings", "ions", "lies", "lied", "ing", "ion", "ies", "ied", "ed", "es", "ly", "e", "s", "y")


def fold(text: str) -> str:
    """Lower case without accents and with plain apostrophes."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return "".join(character for character in plain if not unicodedata.combining(character)).casefold()


def spoken(text: str) -> list[str]:
    """The folded words of a text in order; of a contraction the part before the apostrophe."""
    return [word.partition("'")[0] for word in _WORD.findall(fold(text))]


def stem(word: str) -> str:
    """A folded word without its English ending, so that forms of one word compare equal."""
    word = IRREGULAR.get(word, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)]
    return word


def is_content(word: str) -> bool:
    """Whether a folded word says what a text is about. Numbers and single letters are parts of ids."""
    return len(word) > 1 and not word.isdigit() and word not in _FUNCTION


def terms(text: str) -> list[str]:
    """The stems of a text's content words, each once, in order."""
    return list(dict.fromkeys(stem(word) for word in spoken(text) if is_content(word)))


def terms_and_numbers(text: str) -> list[str]:
    """The stems of a text's content words, and the numbers that stand alone in it: codes, limits, years."""
    return [*terms(text), *dict.fromkeys(_NUMBER.findall(text))]


def akin(one: str, other: str) -> bool:
    """Whether two stems of different languages look like one word: `adopta` and `adopt`."""
    shorter = min(len(one), len(other))
    shared = 0
    while shared < shorter and one[shared] == other[shared]:
        shared += 1
    return shared >= _PREFIX and shared >= shorter - 1


def content_words(text: str) -> list[str]:
    """The content words of a text as they were written, each once, in order; nothing with a digit, as ids have."""
    written = (word for word in _WORD.findall(text.replace("’", "'")) if not any(map(str.isdigit, word)))
    return list(dict.fromkeys(word for word in written if is_content(fold(word).partition("'")[0])))


def covered(wanted: Iterable[str], text: str, *, loosely: bool = False) -> list[str]:
    """Those of the wanted stems that a text holds; loosely, a shared beginning is enough."""
    held = set(terms(text))
    return [term for term in wanted if term in held or (loosely and any(akin(term, other) for other in held))]


def code_names(text: str) -> set[str]:
    """The words of a text that are names in code, folded: `etcdNoLeader`, `max_connections`."""
    return {fold(name) for name in _NAME.findall(text)}


def is_spanish(text: str) -> bool:
    """Whether a text reads as Spanish rather than English, by its function words."""
    words = [word for word in spoken(text) if word not in _EITHER]
    spanish = sum(word in SPANISH for word in words)
    return spanish > sum(word in ENGLISH for word in words) or ("¿" in text and spanish > 0)
