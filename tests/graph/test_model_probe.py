"""The doctor's questions to a model server, on a real one that behaves as a test tells it to."""

from collections.abc import Callable
from typing import Any

import pytest

from graph.doctor import Check
from graph.model_probe import examine_model, fitting
from graph.models.openai import openai_model
from tests.graph.models.stub_server import Answer, Stub, completion, refusal, serving, tool_call

WINDOW = 8_000
CALL = {"tool_calls": [tool_call("look_up", '{"loan": "L-17"}')]}


def examined(answer: Callable[[dict[str, Any]], Answer]) -> list[Check]:
    stub: Stub
    with serving(lambda number: answer(stub.asked[number - 1])) as stub:
        return list(
            examine_model(lambda profile: openai_model("small", base_url=stub.url, profile=profile.name), WINDOW)
        )


def serves(num_ctx: int | None) -> Callable[[dict[str, Any]], Answer]:
    """A server that calls the tool it is offered, and reports what it read: at most so much."""

    def answer(asked: dict[str, Any]) -> Answer:
        words = len(str(asked.get("messages") or asked.get("input")).split())
        usage = {} if num_ctx is None else {"usage": {"prompt_tokens": min(words, num_ctx), "completion_tokens": 8}}
        if "tools" in asked:
            return completion(CALL, "tool_calls", **usage)
        return completion({"content": "Once upon a time there was a lighthouse"}, "length", **usage)

    return answer


def refuses(asked: dict[str, Any]) -> Answer:
    if len(str(asked)) > WINDOW:
        return refusal(400, code="context_length_exceeded")
    return serves(4_096)(asked)


@pytest.mark.parametrize(
    ("server", "ok", "found"),
    [
        (serves(100_000), True, "7910 tokens are read"),
        (serves(2_048), False, "7900 tokens were cut to 2048 in silence"),
        (refuses, False, "8000 tokens: context_too_long: the request is longer than the model's window"),
        (serves(None), True, "nobody can tell: the server does not report what it read"),
    ],
    ids=["a whole window", "cut in silence", "refused", "not reported"],
)
def test_a_window_smaller_than_the_settings_say_is_found(
    server: Callable[[dict[str, Any]], Answer], ok: bool, found: str
) -> None:
    (window,) = [check for check in examined(server) if check.name == "window"]
    assert window.ok is ok
    assert window.found.startswith(found)
    assert bool(window.fix) is not ok


def test_who_does_not_answer_is_asked_nothing_more() -> None:
    checks = examined(lambda _: refusal(401))
    assert [(check.name, check.ok, check.found) for check in checks] == [("chat", False, "unauthorised")]
    assert fitting(checks) is None
