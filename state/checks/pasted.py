"""What a user's turn repeats of others: a pasted mail, a block in quotes. It is shown to be read, and asks for nothing
(X3).

Where it is not clear how far it reaches, it reaches to the end of the turn: then a person is asked.
"""

import re

_BLOCK = re.compile(
    r"^[ \t]*>[^\n]*$"  # a line of a mail that was answered
    r"|(?P<fence>`{3,}|~{3,}|\"{3}|'{3}).*?(?:(?P=fence)|\Z)"
    r"|^[ \t]*-{2,}[ \t]*(?:original|forwarded|mensaje)\b[^\n]*-{2,}.*\Z"
    r"|^[ \t]*(?:begin forwarded message|inicio del mensaje reenviado):.*\Z"
    r"|^[ \t]*(?:on|el|am|le)\b[^\n]{1,200}\b(?:wrote|escribió|schrieb|écrit)[ \t]?:[ \t]*$.*\Z"
    r"|^[ \t*]*(?:from|de|von)[ \t*]*:[^\n]*\n"
    r"[ \t*]*(?:to|cc|date|sent|subject|reply-to|para|fecha|enviado|asunto)[ \t*]*:.*\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|„[^„“”\n]*[“”]")


def without_pasted(text: str) -> str:
    """A turn without its blocks of others' text."""
    return _BLOCK.sub(" ", text)


def pasted(text: str, start: int, end: int) -> bool:
    """Whether a part of a turn stands, in whole or in part, in a block of others' text."""
    return any(found.start() < end and start < found.end() for found in _BLOCK.finditer(text))


def pasted_in(text: str) -> str:
    """The blocks of others' text in a turn."""
    return "\n".join(found[0] for found in _BLOCK.finditer(text))


def without_quoted(text: str) -> str:
    """A turn without what stands in quotes and is more than a word: it says what is written there, not what to do."""
    return _QUOTED.sub(lambda found: " " if len(found[0].split()) > 1 else found[0], text)
