"""Characters of a text that a person does not see, or takes for others (H17): what is approved is what was read.

A letter that looks like one of ASCII deceives where ASCII stands beside it, in one word, one address, and where a word
is made of nothing else. Words wholly of another script, and letters with accents, are read as what they are.
"""

import re
import unicodedata

from state.checks.hidden import hidden_characters

_TOKEN = re.compile(r"\S+")
# Scripts with letters that are drawn like those of ASCII.
_NEAR = ("CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LISU", "LATIN LETTER SMALL CAPITAL", "DESERET")
_TWINS = frozenset("АВЕЅІЈКМНОРСТУХЗԌԜаеорсухіјѕһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲϳօսոհզցԼՕՏ")
_MARKS = frozenset("․‥∙⁄∕꞉։‐‑−ʼʹ′⁎∗⧸⧹﹨")  # drawn like . / : - ' * \
_STYLED = ("<font>", "<wide>", "<narrow>", "<small>")
_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
_LATIN_TWINS = frozenset("ɑɡɩʟɪǀɢʀʙɴʏ")


def deceptive(text: str) -> frozenset[int]:
    """The places of a text whose characters are not seen, or look like others."""
    if text.isascii() and text.isprintable():
        return frozenset()
    unseen = {place for place, character in enumerate(text) if _is_unseen(character)}
    taken = (place for token in _TOKEN.finditer(text) for place in _taken_for_others(token[0], token.start()))
    return frozenset(unseen.union(taken))


def _is_unseen(character: str) -> bool:
    if character in "\n\t" or character == " ":
        return False  # a writer of JSON makes the first two seen
    if unicodedata.category(character) in _UNSEEN or hidden_characters(character):
        return True
    # Selectors of an emoji's look, and every space but the one.
    return (
        character.isspace() or "\ufe00" <= character <= "\ufe0f" or unicodedata.name(character, "").endswith("FILLER")
    )


def _taken_for_others(token: str, start: int) -> list[int]:
    if token.isascii():
        return []
    latin = any(character.isascii() and character.isalpha() for character in token)
    letters = [character for character in token if character.isalpha()]
    twins = bool(letters) and all(character in _TWINS or _is_styled(character) for character in letters)
    known = latin or any(character.isascii() and character.isalnum() for character in token)
    return [
        start + place
        for place, character in enumerate(token)
        if (twins and character.isalpha())
        or (latin and _is_near(character))
        or (known and unicodedata.bidirectional(character) in ("R", "AL", "AN"))  # reorders what stands beside it
    ]


def _is_near(character: str) -> bool:
    if character.isascii():
        return False
    near = unicodedata.name(character, "").startswith(_NEAR) or character in _LATIN_TWINS or character in _MARKS
    joined = character.isalpha() and unicodedata.decomposition(character).startswith("<compat>")  # as the ligature fi
    # A mark that is not one with its letter is drawn over it, or over nothing.
    return near or joined or _is_styled(character) or unicodedata.category(character) in ("Mn", "Me")


def _is_styled(character: str) -> bool:
    return unicodedata.decomposition(character).startswith(_STYLED)
