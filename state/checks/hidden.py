"""Characters that no reader sees but a model does (H17)."""

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line reads this file for its screen, and `agent --help` is quick
    from pydantic import JsonValue

# Tag characters, variation selectors beyond the emoji's, zero-width space, byte order mark, soft hyphen, fillers,
# invisible operators, bidirectional overrides, isolates and annotations. Joiners and direction marks (U+200C-U+200F)
# stay: Persian, Hebrew and emoji need them.
_HIDDEN = re.compile(
    "[\U000e0000-\U000e007f\U000e0100-\U000e01ef\u00ad\u034f\u115f\u1160\u180b-\u180e\u200b\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def hidden_characters(text: str) -> int:
    """How many characters of a text are invisible carriers."""
    return 0 if text.isascii() else len(_HIDDEN.findall(text))


def unseen(text: str) -> bool:
    """Whether a text holds invisible carriers, controls, or halves of characters."""
    return _CONTROL.search(text) is not None or hidden_characters(text) > 0


def without_unseen(value: "JsonValue") -> "tuple[JsonValue, int]":
    """The value with no invisible carriers, controls and lone surrogates in its texts, and how many there were."""
    match value:
        case str():
            left = _CONTROL.sub("", value if value.isascii() else _HIDDEN.sub("", value))
            return left, len(value) - len(left)
        case list():
            parts = [without_unseen(inner) for inner in value]
            return [left for left, _ in parts], sum(count for _, count in parts)
        case dict():
            named = {name: without_unseen(inner) for name, inner in value.items()}
            return {name: left for name, (left, _) in named.items()}, sum(count for _, count in named.values())
        case _:
            return value, 0


def visible(text: str) -> str:
    """The text as a request may show it: composed (NFC), without invisible carriers, controls and lone surrogates."""
    if text.isascii():
        return _CONTROL.sub("", text)
    return unicodedata.normalize("NFC", _CONTROL.sub("", _HIDDEN.sub("", text)))
