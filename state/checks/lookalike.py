"""Characters of a text that a person does not see, or takes for others (H17): what is approved is what was read.

A letter or figure of which Unicode itself says that it is one of ASCII in another form (NFKC) deceives wherever it
stands. Others that look like one of ASCII deceive where ASCII stands beside them, in one word, one address, and where a
word is made of nothing else. Words wholly of another script, and letters with accents, are read as what they are; so
are fractions, raised figures and signs in circles, which look like themselves.
"""

import re
import unicodedata

from state.checks.hidden import hidden_characters

_TOKEN = re.compile(r"\S+")
# Scripts with letters that are drawn like those of ASCII.
_NEAR = ("CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LISU", "LATIN LETTER SMALL CAPITAL", "DESERET")
_TWINS = frozenset("АВЕЅІЈКМНОРСТУХЗԌԜаеорсухіјѕһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲϳօսոհզցԼՕՏ")
_MARKS = frozenset("․‥∙⁄∕꞉։‐‑−ʼʹ′⁎∗⧸⧹﹨")  # drawn like . / : - ' * \
# Forms of a sign that are drawn as the sign is: in another face or width, or a mere copy of it.
_STYLED = frozenset({"", "<font>", "<wide>", "<narrow>", "<small>", "<compat>"})
_DOTS = frozenset("。｡．")  # which a browser takes for the dot of an address
_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
_LATIN_TWINS = frozenset("ɑɡɩʟɪǀɢʀʙɴʏ")
_DOTLESS = frozenset("ıȷ")  # Turkish has the first in words of its own: they are shown with its number


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
    twins = bool(letters) and all(character in _TWINS or _is_form(character) for character in letters)
    known = any((character.isascii() and character.isalnum()) or _is_form(character) for character in token)
    return [
        start + place
        for place, character in enumerate(token)
        if _is_form(character)
        or character in _DOTLESS
        or (twins and character.isalpha())
        or (latin and _is_near(character))
        or (known and _is_mark(character))
        or (character in _DOTS and _joins(token, place))
    ]


def _is_form(character: str) -> bool:
    """Whether a letter or a figure is one of ASCII, or several, in another form: Ⅳ, ａ, 𝐚, ﬁ, K."""
    return unicodedata.category(character)[0] in "LN" and _written(character)


def _is_mark(character: str) -> bool:
    """Whether a sign between letters is one of ASCII in another form, a figure of another script, or reorders what
    stands beside it."""
    if character.isascii():
        return False
    foreign = unicodedata.category(character) == "Nd" or unicodedata.bidirectional(character) in ("R", "AL", "AN")
    return foreign or (len(unicodedata.normalize("NFKC", character)) == 1 and _written(character))


def _is_near(character: str) -> bool:
    if character.isascii():
        return False
    near = unicodedata.name(character, "").startswith(_NEAR) or character in _LATIN_TWINS or character in _MARKS
    # A mark that is not one with its letter is drawn over it, or over nothing.
    return near or unicodedata.category(character) in ("Mn", "Me")


def _written(character: str) -> bool:
    """Whether a character is written as ASCII alone, by Unicode's own account of what it is a form of."""
    form = unicodedata.decomposition(character)
    tag = form.partition(" ")[0] if form.startswith("<") else ""
    return bool(form) and tag in _STYLED and unicodedata.normalize("NFKC", character).isascii()


def _joins(token: str, place: int) -> bool:
    """Whether a dot stands between letters or figures that an address may be made of."""
    beside = token[max(0, place - 1) : place] + token[place + 1 : place + 2]
    return len(beside) == 2 and all(one.isascii() or _is_form(one) for one in beside)
