"""The request of an attempt: its mode and what was wrong before, made of values that the record holds (M4)."""

import pytest
from jsonschema import Draft202012Validator

from state.asking import CORRECTABLE, asked, calls_schema
from state.context import RequestSettings
from state.forms import FORMS
from state.request import Attempt, AttemptOutcome, Message, Mode, Request, ToolSpec
from state.work import MOST_CALLS, Form

LOOK_UP = ToolSpec(
    name="look_up",
    description="Look up a loan.",
    parameters={"type": "object", "properties": {"loan": {"type": "string"}}, "required": ["loan"]},
)
REQUEST = Request(
    messages=(
        Message(channel="instruction", content="Be brief."),
        Message(channel="input", content="<decision>\nact\n</decision>"),
    ),
    tools=(LOOK_UP, FORMS[Form.ANSWER]),
    settings=RequestSettings(max_output_tokens=500),
)
JSON_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "text")


def attempt(name: str, detail: str = "a reason", manifest_ref: str = "m") -> Attempt:
    outcome = AttemptOutcome.model_validate({"name": name, "detail": detail})
    return Attempt(manifest_ref=manifest_ref, request_hash="h", mode="tools", model="x", outcome=outcome)


def test_the_first_attempt_as_tool_calls_is_the_rendered_request_itself() -> None:
    assert asked(REQUEST, "tools", (), "m") is REQUEST
    assert b"reply_form" not in REQUEST.canonical_bytes()


@pytest.mark.parametrize("mode", JSON_MODES)
def test_without_tool_calls_what_was_offered_stands_behind_the_instructions(mode: Mode) -> None:
    made = asked(REQUEST, mode, (), "m")
    instruction, data = made.messages
    assert made.tools == ()
    assert data == REQUEST.messages[1]
    assert instruction.channel == "instruction"
    assert instruction.content.startswith("Be brief.\n\n<section")
    assert '"name":"look_up"' in instruction.content
    assert "One of these stands alone: answer." in instruction.content
    assert made.reply_form is not None
    assert (made.reply_form.mode, made.reply_form.json_schema) == (mode, calls_schema(REQUEST.tools))


@pytest.mark.parametrize(
    ("calls", "fits"),
    [
        ([{"name": "look_up", "arguments": {"loan": "L-1"}}], True),
        ([{"name": "look_up", "arguments": {"loan": "L-1"}}] * 2, True),
        ([{"name": "answer", "arguments": {"text": "x", "citations": []}}], True),
        ([], False),
        ([{"name": "look_up", "arguments": {"loan": "L-1"}}] * (MOST_CALLS + 1), False),
        ([{"name": "look_up", "arguments": {}}], False),
        ([{"name": "answer", "arguments": {"loan": "L-1"}}], False),
        ([{"name": "open", "arguments": {}}], False),
        ([{"name": "look_up", "arguments": {"loan": "L-1"}, "id": "x"}], False),
    ],
)
def test_the_schema_admits_calls_of_what_is_offered(calls: list[object], fits: bool) -> None:
    schema = calls_schema(REQUEST.tools)
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid({"calls": calls}) is fits


@pytest.mark.parametrize("name", sorted(CORRECTABLE))
def test_the_next_attempt_is_told_what_was_wrong_at_the_very_end(name: str) -> None:
    made = asked(REQUEST, "tools", (attempt(name),), "m")
    *_, last = made.messages
    assert last.content.startswith(REQUEST.messages[1].content)
    told = last.content.removeprefix(REQUEST.messages[1].content)
    assert told.startswith(f'\n\n<correction outcome="{name}">\nYour reply to this was not used: a reason. ')
    assert told.endswith("\n</correction>")
    assert made.hash() != REQUEST.hash()


@pytest.mark.parametrize(
    ("before", "told"),
    [
        pytest.param([attempt("unreachable")], None, id="no reply has nothing wrong"),
        pytest.param([attempt("malformed", "one"), attempt("wrong_schema", "two")], "two", id="the newest"),
        pytest.param([attempt("malformed", "one"), attempt("rate_limited")], "one", id="still wrong after a pause"),
        pytest.param([attempt("malformed", "one", "other")], None, id="what another working set brought"),
    ],
)
def test_what_is_told_is_the_newest_fault_of_this_working_set(before: list[Attempt], told: str | None) -> None:
    last = asked(REQUEST, "tools", before, "m").messages[-1].content
    assert last.count("<correction") == (told is not None)
    assert told is None or f"not used: {told}." in last
