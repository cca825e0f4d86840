"""Characters that no reader sees but a model does (H17)."""

import re
import unicodedata

# Tag characters, zero-width space, byte order mark, invisible operators, bidirectional overrides and isolates.
# Joiners (U+200C, U+200D) stay: Persian and emoji need them.
_HIDDEN = re.compile("[\U000e0000-\U000e007f\u200b\ufeff\u2060-\u2064\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def hidden_characters(text: str) -> int:
    """How many characters of a text are invisible carriers."""
    return 0 if text.isascii() else len(_HIDDEN.findall(text))


def visible(text: str) -> str:
    """The text as a request may show it: composed (NFC), without invisible carriers, controls and lone surrogates."""
    if text.isascii():
        return _CONTROL.sub("", text)
    return unicodedata.normalize("NFC", _CONTROL.sub("", _HIDDEN.sub("", text)))
