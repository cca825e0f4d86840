"""A real server of the protocol: what profile `llama.cpp` says of it, and the worked example through it.

The model behind it has 135 million parameters: its answers are worth nothing, and nothing here rests on them.
"""

import asyncio
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from graph.app import open_app
from graph.inspection.replay import replay
from graph.inspection.verify import verify
from graph.model_fit import fitting
from graph.model_probe import examine_model
from graph.models.adapter import ChatModelAdapter
from graph.models.openai import openai_model
from graph.settings import Settings
from nodes.propose.written import calls_written
from state.asking import asked, calls_schema
from state.context import RequestSettings
from state.request import Message, Mode, ModelError, Reply, Request, ToolSpec
from state.work import Status
from tests.fakes import FakeClock
from tests.graph.conftest import NOW
from tests.graph.models.live.conftest import ALIAS, WINDOW_TOKENS

pytestmark = [
    pytest.mark.live_model,
    pytest.mark.timeout(560),
    pytest.mark.may_skip_in_ci(reason="a server that was built elsewhere may not run on this processor"),
]

LOOK_UP = ToolSpec(
    name="look_up",
    description="Look up a loan.",
    parameters={"type": "object", "properties": {"loan": {"type": "string"}}, "required": ["loan"]},
)


def a_request(text: str = "Look up loan L-1.", *, tools: bool = True, limit: int = 100) -> Request:
    return Request(
        messages=(
            Message(channel="instruction", content="You look up loans."),
            Message(channel="input", content=text),
        ),
        tools=(LOOK_UP,) if tools else (),
        settings=RequestSettings(max_output_tokens=limit),
    )


def model(url: str, profile: str = "llama.cpp") -> ChatModelAdapter:
    return openai_model(ALIAS, base_url=url, profile=profile, timeout_s=180.0)


def test_it_chats_and_reports_what_it_counts_and_no_more(live_url: str) -> None:
    reply = model(live_url).reply(a_request("Hello!", tools=False))
    assert reply.text
    assert reply.model == ALIAS
    usage = reply.usage
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    assert usage.input_tokens > 10
    assert 0 < usage.output_tokens <= 100
    assert (usage.cached_tokens, usage.reasoning_tokens) == (None, None)


def test_it_calls_an_offered_tool(live_url: str) -> None:
    reply = model(live_url).reply(a_request())
    assert [call.name for call in reply.calls] == ["look_up"]
    assert list(json.loads(reply.calls[0].arguments)) == ["loan"]
    assert reply.finish_reason == "tool_calls"


def test_a_json_object_is_bound_by_the_schema_beside_it(live_url: str) -> None:
    reply = model(live_url).reply(asked(a_request(limit=200), "json_object", (), ""))
    assert reply.finish_reason == "stop"
    assert Draft202012Validator(calls_schema((LOOK_UP,))).is_valid(json.loads(reply.text))
    assert [call.name for call in calls_written(reply.text)] == ["look_up"]


def test_a_reply_is_cut_at_the_limit_and_says_so(live_url: str) -> None:
    reply = model(live_url).reply(a_request("Tell a long story about the sea.", tools=False, limit=8))
    assert reply.finish_reason == "length"
    assert reply.usage.output_tokens == 8


def test_a_request_longer_than_its_window_is_known_by_its_code(live_url: str) -> None:
    with pytest.raises(ModelError) as caught:
        model(live_url).reply(a_request("word " * 2 * WINDOW_TOKENS, tools=False))
    assert caught.value.outcome.name == "context_too_long"


@pytest.mark.parametrize(
    ("profile", "mode"),
    [("vllm", "tools"), ("vllm", "json_schema"), ("openai", "text")],
    ids=["tool_choice required", "json_schema", "the role developer"],
)
def test_what_it_does_not_know_it_refuses(live_url: str, profile: str, mode: Mode) -> None:
    with pytest.raises(ModelError) as caught:
        model(live_url, profile).reply(asked(a_request(), mode, (), ""))
    assert caught.value.outcome.name == "model_error"


def test_without_a_tool_choice_it_does_not_look_at_tools(live_url: str) -> None:
    assert model(live_url, "compatible").reply(a_request(limit=20)).calls == ()


def test_two_clients_are_both_answered(live_url: str) -> None:
    async def both() -> list[Reply]:
        first, second = model(live_url), model(live_url)
        asking = first.areply(a_request()), second.areply(a_request("Look up loan L-2."))
        return list(await asyncio.gather(*asking))

    for reply in asyncio.run(both()):
        assert [call.name for call in reply.calls] == ["look_up"]


def test_the_doctor_finds_its_profile(live_url: str) -> None:
    checks = list(
        examine_model(
            lambda profile: openai_model(ALIAS, base_url=live_url, profile=profile.name, timeout_s=180.0),
            window_tokens=1_000,  # a whole window would take this small a machine long
        )
    )
    (window,) = [check for check in checks if check.name == "window"]
    assert window.ok
    assert window.found.endswith("tokens are read")
    assert {check.name: check.ok for check in checks if check.name.startswith("as ")} == {
        "as openai": False,
        "as openai-responses": False,
        "as compatible": False,
        "as llama.cpp": True,
        "as ollama": False,
        "as vllm": False,
    }
    found = fitting(checks, live_url)
    assert found is not None
    assert found.name == "llama.cpp"


def test_the_worked_example_comes_to_a_clean_end(live_url: str, home: Path) -> None:
    """Whatever it says: the run ends in a known way, no gate gives, and the record proves each attempt."""
    settings = Settings.load(
        home=home,
        model="openai",
        openai_model=ALIAS,
        openai_base_url=live_url,
        openai_profile="llama.cpp",
        window_tokens=WINDOW_TOKENS,
        reserved_output_tokens=256,
        model_retries=1,
        model_timeout_s=180.0,
    )
    with open_app(settings, clock=FakeClock(NOW)) as app:
        result = app.ask("Why is my API key not working?", as_="ana@acme", thread="t")
        assert result.status in set(Status)
        assert result.effects == ()
        assert result.decisions[0].manifest is not None
        tools = [item.item_id for item in result.decisions[0].manifest.items if item.source.startswith("tool://")]
        assert tools == ["check_api_key_status", "search_incidents"]
        attempted = [(decision.index, n) for decision in result.decisions for n in range(len(decision.attempts))]
        assert attempted
        for index, number in attempted:
            assert replay(app, "t", index, as_="ana@acme", attempt=number).proved
        for decision in result.decisions:
            assert len(decision.attempts) <= 3
            for attempt in decision.attempts:
                assert attempt.usage is None or attempt.usage.cached_tokens is None
        checked = verify(app, "t", as_="ana@acme")
        assert (checked.faults, checked.attempts) == ((), len(attempted))
