"""One value, one serialisation: what is hashed, signed or compared byte by byte."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from state.canonical import canonical_json, digest
from state.context import Span
from state.request import Message

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"b": 1, "a": [True, None]}, b'{"a":[true,null],"b":1}', id="keys sorted, no spaces"),
        pytest.param({"ñ": "退款"}, '{"ñ":"退款"}'.encode(), id="text is not escaped"),
        pytest.param("a\n\"b'", b'"a\\n\\"b\'"', id="text on one line"),
        pytest.param([], b"[]", id="nothing"),
        pytest.param(1.0, b"1.0", id="a float stays one"),
        pytest.param(Span(start=1, end=2, section="x"), b'{"end":2,"section":"x","start":1}', id="a value"),
    ],
)
def test_the_bytes_of_a_value(value: JsonValue, expected: bytes) -> None:
    assert canonical_json(value) == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {"a": [math.nan]}, "\ud83d", {"\ud83d": 1}])
def test_what_json_cannot_carry_is_refused(value: JsonValue) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the standard library's
        canonical_json(value)


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_the_bytes_hold_the_whole_value(value: JsonValue) -> None:
    assert json.loads(canonical_json(value)) == value


@given(pairs=st.dictionaries(st.text(), st.integers(), max_size=6))
def test_the_order_of_keys_does_not_matter(pairs: dict[str, int]) -> None:
    turned = dict(reversed(pairs.items()))
    assert canonical_json({**turned}) == canonical_json({**pairs})


def test_a_value_and_its_json_have_one_digest() -> None:
    message = Message(channel="input", content="hola")
    assert digest(message) == digest({"content": "hola", "channel": "input"}) == digest(canonical_json(message))
    assert digest(message) == "72b38d724c51549d1e95a41640fb7113485f68eb74c3dec0a20d594bc4ceaecc"  # sha256sum says so


@pytest.mark.parametrize("seed", ["0", "1"])
def test_another_process_writes_the_same_bytes(seed: str) -> None:
    program = (
        "from state.canonical import canonical_json\n"
        "print(canonical_json({name: [1, {'z': 1, 'a': 2}] for name in {'b', 'a', 'ñ', 'c'}}).decode())"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    inner = '[1,{"a":2,"z":1}]'
    assert done.stdout == f'{{"a":{inner},"b":{inner},"c":{inner},"ñ":{inner}}}\n'
