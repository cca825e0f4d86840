"""The seal over a lap and over a record: HMAC-SHA256 over canonical JSON, with keys that no channel can reach."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from state.canonical import canonical_json


class HmacSeal:
    """Signs with the first key, verifies with all: put a new key in front, drop the old one when its seals are past.

    A seal reads `KEYID.MAC`, both hex. The key id is derived from the key and tells nothing about it.
    Raises ValueError when there is no key or an empty one.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or not all(keys):
            raise ValueError("a seal needs at least one key, and none may be empty")
        self._keys = {_key_id(key): key for key in keys}
        self._signing = _key_id(keys[0])

    def sign(self, payload: Mapping[str, JsonValue]) -> str:
        """The seal of a payload. Raises ValueError for a payload that JSON cannot carry (NaN, Infinity)."""
        return f"{self._signing}.{_mac(self._keys[self._signing], payload)}"

    def verify(self, payload: Mapping[str, JsonValue], seal: str) -> bool:
        """Whether one of the keys made this seal for this payload. Malformed input is simply not sealed."""
        key_id, _, mac = seal.partition(".")
        key = self._keys.get(key_id)
        if key is None:
            return False
        try:
            expected = _mac(key, payload)
        except ValueError:
            return False
        return hmac.compare_digest(expected.encode(), mac.encode(errors="replace"))


def _key_id(key: bytes) -> str:
    return hmac.digest(key, b"expediente seal key id", hashlib.sha256).hex()[:8]


def _mac(key: bytes, payload: Mapping[str, JsonValue]) -> str:
    return hmac.digest(key, canonical_json(dict(payload)), hashlib.sha256).hex()
