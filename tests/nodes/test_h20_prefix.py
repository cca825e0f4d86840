"""H20: clock, order of registration or of keys, and process change no byte of the prefix; CJK is not undercounted."""

import hashlib
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from graph.tokens import ENCODINGS, EncodingCounter
from nodes.pack.budget import Window
from state.contract import ToolContract
from state.request import Request
from tests.fakes import NOW
from tests.nodes.packing import Packing
from tests.nodes.parts import Parts

TOOLS = ("get_invoice", "lookup", "refund")
CHINESE = "密钥已于星期五被撤销请在新的页面上申请一把新的钥匙" * 80


def request_of(turned: bool, after_s: int) -> Request:
    """A packed request; `turned` registers tools and the keys of their schemas the other way round."""
    parts = Parts()
    if turned:
        contracts = {name: _turned(contract) for name, contract in reversed(parts.desk.contracts.items())}
        parts.desk.contracts.clear()
        parts.desk.contracts.update(contracts)
    packing = Packing(parts)
    tools = TOOLS[::-1] if turned else TOOLS
    request = parts.request(now=NOW + timedelta(seconds=after_s))
    return packing.replayed(packing.manifest(request=request, decided={"tools": tools}))


def _turned(contract: ToolContract) -> ToolContract:
    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(inner) for key, inner in reversed(value.items())}
        return value

    return contract.model_copy(update={"parameters": turned(contract.parameters)})


def prefix(turned: bool, after_s: int) -> str:
    """The sha256 of what stands before the first changing block."""
    request = request_of(turned, after_s)
    tools = b"\n".join(spec.canonical for spec in request.tools)
    return hashlib.sha256(request.messages[0].content.encode() + b"\n" + tools).hexdigest()


def test_h20_the_prefix_is_the_same_whatever_came_first_and_the_clock_stands_in_the_tail() -> None:
    plain, later = request_of(turned=False, after_s=0), request_of(turned=True, after_s=90)
    assert prefix(turned=False, after_s=0) == prefix(turned=True, after_s=90)
    assert plain.messages[0] == later.messages[0]
    assert plain.messages[1] != later.messages[1]
    assert "2026-07-15T09:31:30" in later.messages[1].content
    assert "09:3" not in later.messages[0].content


def test_h20_another_process_with_another_hash_seed_makes_the_same_prefix() -> None:
    root = Path(__file__).resolve().parents[2]
    program = "from tests.nodes.test_h20_prefix import prefix\nprint(prefix(True, 90))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.strip() == prefix(turned=False, after_s=0)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_h20_two_thousand_chinese_characters_do_not_pass_for_few_tokens(encoding: str) -> None:
    text = CHINESE[:2_000]
    counter = EncodingCounter(encoding)
    assert counter.count(text) >= 1_200
    parts = Parts()
    small = Window(window_tokens=1_100, reserved_output_tokens=100)
    packed = Packing(parts, small, counter).run(request=parts.request(turn_ref=parts.put(text)))
    assert (packed.ref, packed.failure) == (None, "does_not_fit")


def test_h20_definitions_of_tools_are_counted_too(parts: Parts) -> None:
    few, many = (Packing(parts).manifest(decided={"tools": TOOLS[:n]}) for n in (1, 3))
    assert many.total_input_tokens - few.total_input_tokens > sum(
        item.token_count for item in many.items if item.item_id in TOOLS[1:]
    )
