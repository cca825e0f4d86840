"""H21: calls written as JSON in a text are read whole or not at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.propose.written import NotWritten, calls_written, without_reasoning
from state.asking import CallTerms
from state.request import Mode
from state.work import Act, Answer
from tests.nodes.parts import Parts, act
from tests.nodes.proposing import Finish, proposed, said, stored

A9 = {"calls": [{"name": "refund", "arguments": {"order_id": "A9", "items": []}}]}
ZZ = {"calls": [{"name": "refund", "arguments": {"order_id": "ZZ", "items": []}}]}
CUT = '{"calls": [{"name": "refund", "arguments": {"order_id": "A9", "items": ["x", "y"'
WHOLE = json.dumps(A9)
FOUND = act(("call-3-0", "refund", {"order_id": "A9", "items": []}))
JSON_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "text")


@pytest.mark.parametrize("mode", JSON_MODES)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WHOLE, id="bare"),
        pytest.param(f"```json\n{WHOLE}\n```", id="in a fence"),
        pytest.param(f"{WHOLE}\nhope this helps", id="words behind"),
        pytest.param(f"Sure, here it is:\n\n{WHOLE}", id="words before"),
        pytest.param(f"<think>{json.dumps(ZZ)}</think>{WHOLE}", id="other thoughts before"),
        pytest.param(f"{json.dumps(ZZ)}</think>\n{WHOLE}", id="thoughts whose beginning the server kept"),
        pytest.param(f"<think>a</think><think>{json.dumps(ZZ)}</think>{WHOLE}", id="thoughts twice"),
    ],
)
def test_one_whole_object_is_the_proposal(parts: Parts, text: str, mode: Mode) -> None:
    wrote, _ = proposed(parts, said(text), terms=CallTerms(modes=(mode,)))
    assert stored(parts, wrote) == FOUND
    assert wrote.attempts[0].mode == mode


@pytest.mark.parametrize(
    ("text", "finish", "name"),
    [
        pytest.param(CUT, "length", "truncated", id="cut"),
        pytest.param(WHOLE, "length", "truncated", id="whole, and cut behind it"),
        pytest.param(CUT, "stop", "malformed", id="cut, though the server says that it stopped"),
        pytest.param('{"calls": ' + WHOLE, "stop", "malformed", id="a whole object inside a damaged one"),
        pytest.param("", "stop", "empty_output", id="nothing"),
        pytest.param(f"<think>{WHOLE}</think>", "stop", "empty_output", id="only thoughts"),
        pytest.param(f"<think>{WHOLE}", "stop", "empty_output", id="thoughts without an end"),
        pytest.param(WHOLE, "refused", "refused", id="refused"),
        pytest.param("I would refund it.", "stop", "malformed", id="words"),
        pytest.param(WHOLE + WHOLE, "stop", "malformed", id="twice"),
        pytest.param(f"{json.dumps(ZZ)}\n{WHOLE}", "stop", "malformed", id="two of them"),
        pytest.param(f"{{x}} {WHOLE}", "stop", "malformed", id="a brace before it"),
        pytest.param('{"calls": [], "calls": [{"name": "x", "arguments": {}}]}', "stop", "malformed", id="doubled"),
        pytest.param('{"calls": [{"name": "refund", "arguments": {"n": NaN}}]}', "stop", "malformed", id="NaN"),
        pytest.param('{"calls": [{"name": "refund", "arguments": {"n": 1e999}}]}', "stop", "malformed", id="large"),
        pytest.param('{"calls": [{"name": "refund", "arguments": {"n": "\\ud83d"}}]}', "stop", "malformed", id="half"),
        pytest.param('{"a":' * 5_000 + "1" + "}" * 5_000, "stop", "malformed", id="too deep"),
        pytest.param('{"order_id": "A9", "items": []}', "stop", "malformed", id="another object"),
        pytest.param('{"calls": {"name": "refund", "arguments": {}}}', "stop", "malformed", id="no list"),
        pytest.param('{"calls": [{"name": "refund"}]}', "stop", "malformed", id="no arguments"),
        pytest.param('{"calls": [{"name": null, "arguments": {}}]}', "stop", "malformed", id="no name"),
        pytest.param('{"calls": [], "approved": true}', "stop", "malformed", id="a field too much"),
        pytest.param('{"calls": []}', "stop", "empty_output", id="no call"),
        pytest.param('{"calls": [{"name": "refund", "arguments": "A1"}]}', "stop", "wrong_schema", id="a text"),
        pytest.param('{"calls": [{"name": "answer", "arguments": {}}]}', "stop", "wrong_schema", id="an empty answer"),
    ],
)  # fmt: skip
def test_anything_less_is_a_typed_failure(parts: Parts, text: str, finish: Finish, name: str) -> None:
    packed = parts.manifest()
    before = dict(parts.artifacts.bodies)
    wrote, _ = proposed(parts, said(text, finish), packed=packed, terms=CallTerms(modes=("text",)))
    assert (wrote.proposal, wrote.attempts[0].outcome.name) == (None, name)
    assert parts.artifacts.bodies == before


def test_a_form_is_one_of_the_calls(parts: Parts) -> None:
    text = '{"calls": [{"name": "answer", "arguments": {"text": "Done.", "citations": []}}]}'
    wrote, _ = proposed(parts, said(text), terms=CallTerms(modes=("json_object",)))
    assert stored(parts, wrote) == Answer(text="Done.")


def test_a_tool_that_was_not_offered_is_left_to_validate(parts: Parts) -> None:
    text = '{"calls": [{"name": "wipe_all", "arguments": {}}]}'
    wrote, _ = proposed(parts, said(text), terms=CallTerms(modes=("json_object",)))
    found = stored(parts, wrote)
    assert isinstance(found, Act)
    assert [call.tool for call in found.calls] == ["wipe_all"]


@given(text=st.text(alphabet=st.sampled_from('{}[]":,\\ acls<think>/0')))
def test_no_text_is_more_than_calls_or_an_error(text: str) -> None:
    try:
        found = calls_written(without_reasoning(text))
    except NotWritten:
        return
    assert all(call.name is not None for call in found)


@given(cut=st.integers(min_value=0, max_value=len(WHOLE) - 1))
def test_no_beginning_of_an_object_is_ever_calls(cut: int) -> None:
    with pytest.raises(NotWritten):
        calls_written(WHOLE[:cut])


@given(thought=st.text(), answer=st.text(alphabet=st.characters(exclude_characters="<")))
def test_a_thought_never_becomes_the_text(thought: str, answer: str) -> None:
    marked: Any = without_reasoning(f"<think>SECRET{thought}</think>{answer}")
    assert marked == answer
    assert "SECRET" not in without_reasoning(f"<think>SECRET{thought}")
