"""Text as words for the keyword index: identifiers, codes, accents and scripts without spaces all match (H11)."""

import re
import unicodedata
from collections.abc import Callable, Iterator

from retrieval.function_words import FUNCTION_WORDS

MAX_WORD_CHARS = 64
MAX_QUERY_WORDS = 48  # the first ones: a query of a megabyte costs as much as a long question
MAX_QUERY_CHARS = 20_000

# Scripts written without spaces: Thai to Burmese, kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[^\W_]|(?<=[^\W_])[-_.](?=[^\W_]))+)")
_PART = re.compile(r"[-_.]|(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))


def fold(text: str) -> str:
    """Accents off, compatibility forms plain, one kind of dash; case is kept, since it marks word parts."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_DASHES))
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]+", "", decomposed))


def index_words(text: str) -> list[str]:
    """The words to index, expanded: `findOrderByCode` gives itself and find, order, by, code; `E-4012` e4012, 4012."""
    words: list[str] = []
    for run, unspaced in _runs(fold(text)):
        if unspaced:
            words += [*run, *_pairs(run)]
        else:
            words += word_forms(run)
    return words


def word_forms(word: str) -> list[str]:
    """The word without its joints, its parts, and the singular of each that ends like an English or Spanish plural."""
    parts = [part for part in _PART.split(word) if part]
    # A lone letter of a code (the E of E-4012) would match every text.
    forms = [re.sub(r"[-_.]", "", word), *(part for part in parts if len(part) > 1 or part.isdigit())]
    plain = dict.fromkeys(form.casefold()[:MAX_WORD_CHARS] for form in forms)
    singular = [form[:-1] for form in plain if len(form) > 3 and form.endswith("s") and not form.endswith("ss")]
    return list(dict.fromkeys([*plain, *singular]))


def query_words(text: str, forms_of: Callable[[str], list[str]] = word_forms) -> list[str]:
    """The words to look for, each once, in order; empty for a query without letters and digits.

    Words of grammar alone are left out, unless the query has no others. Whoever reads very many texts gives `forms_of`
    with a memory.
    """
    words: dict[str, None] = {}
    grammar: dict[str, None] = {}
    for run, unspaced in _runs(fold(text[:MAX_QUERY_CHARS])):
        forms = (_pairs(run) or [run]) if unspaced else forms_of(run)
        (grammar if run.casefold() in FUNCTION_WORDS else words).update(dict.fromkeys(forms))
        if len(words) >= MAX_QUERY_WORDS:
            break
    return list(words or grammar)[:MAX_QUERY_WORDS]


def _runs(folded: str) -> Iterator[tuple[str, bool]]:
    for match in _RUN.finditer(folded):
        yield match[0], match.lastgroup == "unspaced"


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)]
