"""How a secret may be spelt in what others write of it: as JSON, as Python says it, in an address, in base64 (X7)."""

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

_LINE_CHARS = 16  # a line of a value that is shorter stands in ordinary texts too
_CHARACTERS_BEFORE = (0, 2, 3)  # of base64 that depend on what stands before, by how many bytes that has beyond threes


def spellings(value: str) -> Iterator[str]:
    """Each way in which a value is masked, itself first; some come twice. What is too short to mask is the caller's."""
    for text in (value, *_lines(value)):
        yield text
        for written in (json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)):
            yield written[1:-1]
        yield repr(text.encode())[2:-1]
        for address in (quote(text, safe=""), quote(text), quote_plus(text)):
            yield address
            yield re.sub("%[0-9A-F]{2}", lambda hit: hit[0].lower(), address)
    raw = value.encode()
    yield raw.hex()
    yield raw.hex().upper()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before, skipped in enumerate(_CHARACTERS_BEFORE):
            # Within a longer text, such as `user:password` of Basic: the characters that depend on the value alone.
            yield encode(bytes(before) + raw).decode()[skipped : (before + len(raw)) * 8 // 6]


def _lines(value: str) -> list[str]:
    """The lines of a key in armour, without its armour: loggers and traces write line by line."""
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if len(line) >= _LINE_CHARS and not line.startswith("-----")] if lines[1:] else []
