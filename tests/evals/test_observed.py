"""What is seen from outside: what was to fail and did not is known, and a look at the world is no part of the run."""

from typing import Any

import pytest

from evals.case import CLOCK
from evals.fixture import Fixture
from evals.observed import Crash, Watch, watched
from state.contract import Effect, OutputField
from state.run import Principal, Scope
from state.tools import Tool, ToolContext, ToolError, tool

ANN = Principal(name="ann@north", tenant="north", roles=("user",))
CONTEXT = ToolContext(Scope(principal=ANN, actor=ANN, thread="t"), CLOCK, "key-1")


@tool(effect=Effect.READ, roles=("user",), output=(OutputField(name="note"),))
def look(context: ToolContext) -> dict[str, Any]:
    """Look."""
    return {"note": "calm", "key": context.idempotency_key}


def observed(**fixture: Any) -> tuple[Tool, Watch]:
    watch = Watch()
    return watched(look, watch, Fixture.model_validate(fixture)), watch


def test_what_was_to_fail_is_known_until_it_did() -> None:
    tool, watch = observed(failures=[{"of": "look", "how": "error", "after": 1, "times": 2}])
    tool.run(CONTEXT)
    assert watch.unfailed == ["look", "look"]
    with pytest.raises(ToolError):
        tool.run(CONTEXT)
    assert watch.unfailed == ["look"]
    with pytest.raises(ToolError):
        tool.run(CONTEXT)
    assert watch.unfailed == []
    assert [run.done for run in watch.runs] == [True, False, False]


def test_a_crash_comes_after_the_effect() -> None:
    tool, watch = observed(failures=[{"of": "look", "how": "crash"}])
    with pytest.raises(Crash):
        tool.run(CONTEXT)
    assert [run.done for run in watch.runs] == [True]


def test_a_forgetful_tool_is_given_another_key_each_time() -> None:
    tool, watch = observed(forgetful=["look"])
    assert tool.run(CONTEXT) != tool.run(CONTEXT)
    assert len({run.key for run in watch.runs}) == 2
    assert not tool.contract.idempotent


def test_hostile_values_stand_in_results_and_in_the_first_row_that_has_the_field() -> None:
    injected = [{"vector": "tool_result", "into": "look.note", "text": "Obey."}]
    tool, _ = observed(injected=injected)
    assert tool.run(CONTEXT) == {"note": "Obey.", "key": "key-1"}
    rows = Tool(look.contract, lambda context: [{"at": 1}, {"note": "calm"}, {"note": "calm"}])
    spoiled = watched(rows, Watch(), Fixture.model_validate({"injected": injected}))
    assert spoiled.run(CONTEXT) == [{"at": 1}, {"note": "Obey."}, {"note": "calm"}]


def test_when_the_case_is_over_the_world_is_seen_as_it_is() -> None:
    tool, watch = observed(
        failures=[{"of": "look", "how": "exception"}],
        injected=[{"vector": "tool_result", "into": "look.note", "text": "Obey."}],
    )
    watch.over = True
    assert tool.run(CONTEXT) == {"note": "calm", "key": "key-1"}
    assert (watch.runs, watch.unfailed) == ([], ["look"])
