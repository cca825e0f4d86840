"""One serialisation for everything that is hashed, signed or compared byte by byte."""

import hashlib
import json
from collections.abc import Iterable
from typing import TypeGuard

from pydantic import BaseModel, JsonValue

# Made once: json.dumps makes one for each call. What is written here is made of models or was JSON before: no cycles.
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical_json(value: BaseModel | JsonValue) -> bytes:
    """The canonical UTF-8 JSON of a value: sorted keys, no spaces, no NaN or Infinity.

    Raises ValueError for a non-finite number, which JSON cannot carry.
    """
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return _ENCODER.encode(plain).encode()


def digest(value: BaseModel | JsonValue | bytes) -> str:
    """The sha256 of bytes, or of a value's canonical JSON, in hex."""
    return hashlib.sha256(value if isinstance(value, bytes) else canonical_json(value)).hexdigest()


def named_once(pairs: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """The object of these fields, for a reader of JSON that others wrote (`object_pairs_hook`).

    Raises ValueError where a name stands twice: which of the two is meant nobody knows.
    """
    made: dict[str, JsonValue] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"the field {name!r:.60} stands twice")
        made[name] = value
    return made


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value of JSON is a number: True is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def one_number(value: JsonValue) -> JsonValue:
    """A value in which 100.0 is 100, wherever it stands: JSON knows one kind of number."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: one_number(inner) for name, inner in value.items()}
        case list():
            return [one_number(inner) for inner in value]
        case _:
            return value
