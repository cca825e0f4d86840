"""The doctor's questions to a model server, on a real one that behaves as a test tells it to."""

from collections.abc import Callable
from typing import Any

import pytest

from graph.doctor import Check
from graph.model_fit import Fit, fitting, next_step
from graph.model_probe import examine_model
from graph.models.openai import openai_model
from graph.models.profiles import PROFILES
from state.request import Mode
from tests.graph.models.stub_server import Answer, Stub, completion, refusal, serving, tool_call

WINDOW = 8_000
ELSEWHERE = "http://127.0.0.1:8080/v1"
CALL = {"tool_calls": [tool_call("look_up", '{"loan": "L-17"}')]}


def examined(answer: Callable[[dict[str, Any]], Answer], modes: tuple[Mode, ...] | None = None) -> list[Check]:
    stub: Stub
    with serving(lambda number: answer(stub.asked[number - 1])) as stub:
        return list(
            examine_model(lambda profile: openai_model("small", base_url=stub.url, profile=profile.name), WINDOW, modes)
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


@pytest.mark.parametrize("before", [1, 2, 3, 5])
def test_a_limit_of_the_rate_amid_the_questions_is_no_fault_of_a_profile(before: int) -> None:
    asked = 0

    def limits(given: dict[str, Any]) -> Answer:
        nonlocal asked
        asked += 1
        return serves(100_000)(given) if asked <= before else refusal(429)

    *checks, last = examined(limits)
    assert (last.name, last.ok, last.found) == ("questions", False, "rate_limited")
    assert last.fix.endswith("then ask again: what is not told above was not asked")
    assert all(check.ok for check in checks)
    assert asked == before + 1
    assert fitting([*checks, last], ELSEWHERE) is None
    assert next_step([*checks, last], ELSEWHERE) == "not every profile was tried: see above, then ask again"


def test_a_question_that_takes_too_long_is_no_end_of_the_others() -> None:
    def hangs_up(given: dict[str, Any]) -> Answer:
        return Answer({}, hangs_up=True) if len(str(given)) > WINDOW else serves(100_000)(given)

    checks = examined(hangs_up)
    (window,) = [check for check in checks if check.name == "window"]
    assert (window.ok, "unreachable" in window.found) == (False, True)
    assert fitting(checks, ELSEWHERE) is not None


def test_who_does_not_answer_is_asked_nothing_more() -> None:
    checks = examined(lambda _: refusal(401))
    assert [(check.name, check.ok, check.found) for check in checks] == [("chat", False, "unauthorised")]
    assert fitting(checks, ELSEWHERE) is None
    assert next_step(checks, ELSEWHERE) == "no profile was tried: mend what is missing above, then ask again"


def fits(checks: list[Check]) -> dict[str, Fit]:
    return {check.profile: check for check in checks if isinstance(check, Fit)}


def of_everything(arguments: str, finish: str | None = "tool_calls") -> Callable[[dict[str, Any]], Answer]:
    """A server that takes every request: with tools it calls one with these arguments, else it answers as asked."""

    def answer(asked: dict[str, Any]) -> Answer:
        if "messages" not in asked:
            return refusal(404)
        if "tools" in asked:
            return completion({"tool_calls": [tool_call("look_up", arguments)]}, finish)
        if "loan" in asked["messages"][1]["content"]:
            return completion({"content": '{"calls": [{"name": "look_up", "arguments": {"loan": "L-17"}}]}'})
        return completion({"content": "Once upon a time"}, "length")

    return answer


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"broken": ', "malformed: a call's arguments are not JSON"),
        ('{"loan": "L-17", "loan": "L-18"}', "malformed: a call's arguments are not JSON"),
        ("[]", "wrong_schema: a call's arguments are not an object"),
        ("{}", "called it with arguments that do not fit its schema"),
        ('{"loan": "L-17", "sum": 5}', "called it with arguments that do not fit its schema"),
    ],
)
@pytest.mark.parametrize("finish", ["tool_calls", None])
def test_a_call_that_a_run_would_not_use_is_none(arguments: str, told: str, finish: str | None) -> None:
    checks = examined(of_everything(arguments, finish))
    for fit in fits(checks).values():
        assert not fit.ok
        assert "tools" not in fit.works
        assert f"tools fails ({told})" in fit.found or fit.profile == "openai-responses"


def test_where_no_profile_fits_the_modes_that_work_are_the_next_step_and_hold() -> None:
    server = of_everything('{"broken": ')
    checks = examined(server)
    assert next_step(checks, ELSEWHERE) == (
        "no profile fits; set EXPEDIENTE_OPENAI_PROFILE=compatible and "
        'EXPEDIENTE_MODEL_MODES=["json_schema","json_object","text"]'
    )
    assert next_step(examined(server, ("json_schema", "json_object", "text")), ELSEWHERE) == (
        "set EXPEDIENTE_OPENAI_PROFILE=compatible"
    )


def test_where_nothing_works_the_next_step_is_the_server_or_another_model() -> None:
    checks = examined(lambda _: completion({"content": "Hm."}, None))
    assert next_step(checks, ELSEWHERE).startswith("no profile fits: look at what fails above and at the server's own")


def test_of_profiles_that_fit_the_usual_one_of_the_address_is_taken() -> None:
    checks = examined(of_everything('{"loan": "L-17"}'))
    assert {name for name, fit in fits(checks).items() if fit.ok} == {*PROFILES} - {"openai-responses"}
    found, own = fitting(checks, ELSEWHERE), fitting(checks, None)
    assert (found and found.name, own and own.name) == ("compatible", "openai")


def test_the_providers_own_words_come_last_at_another_address() -> None:
    def only_when_it_must(asked: dict[str, Any]) -> Answer:
        if "tools" in asked and asked.get("tool_choice") != "required":
            return completion({"content": "Hm."})
        return of_everything('{"loan": "L-17"}')(asked)

    checks = examined(only_when_it_must)
    assert {name for name, fit in fits(checks).items() if fit.ok} == {"openai", "vllm"}
    found = fitting(checks, ELSEWHERE)
    assert found is not None
    assert found.name == "vllm"


def test_what_a_server_calls_instead_is_not_repeated() -> None:
    def echoes(asked: dict[str, Any]) -> Answer:
        if "tools" in asked:
            return completion({"tool_calls": [tool_call("sk-a-secret", "{}")]}, "tool_calls")
        return completion({"content": "Hm."}, "length")

    assert "sk-a-secret" not in str(examined(echoes))
