"""Identifiers that a user typed: kept exact however long the conversation gets, since a summary loses them first (H05).

Told by form alone: letters and digits together, or five digits and more, joined by what ids are joined by. One too many
costs a few tokens; one too few would be lost.
"""

import re
from collections.abc import Iterator

_IDENTIFIER = re.compile(r"(?<![\w./#-])(?=[\w./#-]*\d)[^\W_]+(?:[-_./#][^\W_]+)*(?![\w#-])")
SHORTEST, LONGEST, DIGITS = 3, 80, 5


def identifiers(turn: str) -> Iterator[tuple[int, int]]:
    """Where identifiers stand in a turn, end exclusive."""
    for found in _IDENTIFIER.finditer(turn):
        text = found[0]
        mixed = any(sign.isalpha() for sign in text) or any(sign in "-_/#" for sign in text)
        if SHORTEST <= len(text) <= LONGEST and (mixed or sum(sign.isdigit() for sign in text) >= DIGITS):
            yield found.span()
