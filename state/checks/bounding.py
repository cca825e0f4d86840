"""Sentences by which a user bounds what may be done: kept verbatim, however long the conversation gets (C1, S2).

Told by form alone, in English and Spanish. A sentence too many costs a few tokens once its turn is out of sight; one
too few would be forgotten there. Nothing is ever allowed or forbidden by them: that is for the rules.
"""

import re
from collections.abc import Iterator

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_BOUND = re.compile(
    r"\b(?:do(?:es)? not|don['’]?t|never(?! mind)|must(?:n['’]?t)?|may not|only|without|unless|except|avoid|at most"
    r"|no more than|not before|not until|instead of|nunca|jamás|solo|sólo|solamente|únicamente|sin|salvo|excepto|evita"
    r"|evite|como máximo|antes de|no más de|en lugar de)\b"
    r"|^\W*no (?!me\b|se\b|le\b|nos\b|funciona|puedo|sé\b|hay\b)\w+",
    re.IGNORECASE,
)
LONGEST = 400  # characters of a sentence: beyond that it is a text, not a bound


def bounds(turn: str) -> Iterator[tuple[int, int]]:
    """Where the sentences stand in a turn that bound it, end exclusive. Questions bound nothing."""
    for found in _SENTENCE.finditer(turn):
        sentence = found[0].strip()
        if not sentence or len(sentence) > LONGEST or "?" in sentence or "¿" in sentence:
            continue
        if _BOUND.search(sentence):
            start = found.start() + found[0].index(sentence)
            yield start, start + len(sentence)
