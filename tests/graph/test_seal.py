"""The contract of the port Seal, and the rotation of its keys."""

import math

import pytest

from graph.seal import HmacSeal
from state.ports import Seal
from tests.fakes import FakeSeal

KEY, NEXT = b"k" * 32, b"n" * 32
PAYLOAD = {"thread": "T", "head": None, "call": "d1", "approver": "bo@acme", "expires_at": "2026-07-15T10:30:00Z"}


@pytest.fixture(params=["fake", "hmac"])
def seal(request: pytest.FixtureRequest) -> Seal:
    return FakeSeal() if request.param == "fake" else HmacSeal([KEY])


def test_a_seal_holds_for_its_payload_only(seal: Seal) -> None:
    made = seal.sign(PAYLOAD)
    assert seal.verify(PAYLOAD, made)
    assert seal.verify(dict(reversed(PAYLOAD.items())), made)
    for key in PAYLOAD:
        assert not seal.verify({**PAYLOAD, key: "changed"}, made)
        assert not seal.verify({name: value for name, value in PAYLOAD.items() if name != key}, made)
    assert not seal.verify({**PAYLOAD, "more": 1}, made)


@pytest.mark.parametrize("forged", ["", ".", "x", "\x00", "\ud800.\ud800", "é.é", "a" * 64, "00000000." + "0" * 64])
def test_what_is_no_seal_verifies_nothing(seal: Seal, forged: str) -> None:
    made = seal.sign(PAYLOAD)
    assert not seal.verify(PAYLOAD, forged)
    assert not seal.verify(PAYLOAD, made[:-1])
    assert not seal.verify(PAYLOAD, made + "0")
    assert not seal.verify(PAYLOAD, f"{made.partition('.')[0]}.{forged}")


def test_a_payload_that_json_cannot_carry(seal: Seal) -> None:
    for value in (math.nan, math.inf, "\ud800"):
        assert not seal.verify({"limit": value}, seal.sign(PAYLOAD))
        with pytest.raises(ValueError, match=r"."):
            seal.sign({"limit": value})


def test_the_first_key_signs_and_all_verify() -> None:
    old, both, new = HmacSeal([KEY]), HmacSeal([NEXT, KEY]), HmacSeal([NEXT])
    made = old.sign(PAYLOAD)
    assert both.verify(PAYLOAD, made)
    assert not new.verify(PAYLOAD, made)
    assert new.verify(PAYLOAD, both.sign(PAYLOAD))
    assert both.sign(PAYLOAD).partition(".")[0] != made.partition(".")[0]


@pytest.mark.parametrize("keys", [[], [b""], [KEY, b""]])
def test_a_seal_needs_keys(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="at least one key"):
        HmacSeal(keys)


def test_a_key_never_shows() -> None:
    seal = HmacSeal([KEY])
    assert KEY.decode() not in repr(seal) + seal.sign(PAYLOAD)
    assert KEY.hex() not in seal.sign(PAYLOAD)
