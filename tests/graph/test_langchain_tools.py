"""LangChain tools run under a contract, through the real graph, and not without one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.runnables.config import set_config_context
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException, tool
from langchain_core.tools import Tool as SingleInputTool
from langgraph.config import get_config
from pydantic import BaseModel, field_validator

from graph.app import open_app
from graph.domain_check import DomainBroken
from graph.langchain_tools import ToolNotContracted, contracted
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.result import DecisionShown
from state.contract import Effect, FailureMode, OutputField
from state.domain import DecisionTable, Domain
from state.tools import Tool
from state.work import DecisionKind
from tests.desk import AGENT, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings
from tests.graph.order_desk import ENDS, PLANS, desk_domain, message

TEXT = (OutputField(name="text"),)
QUESTION = "What is the weather in Turin? Note order A1 down."
Ask = Callable[..., DecisionShown]


def offering(home: Path, made: Any, name: str) -> Domain:
    """The order desk with one more tool, offered where it looks and where it acts."""
    domain = desk_domain(home, Desk())
    specs = [
        spec.model_copy(update={"tools": (*spec.tools, name)})
        if spec.kind in (DecisionKind.GATHER, DecisionKind.ACT)
        else spec
        for spec in domain.table.specs
    ]
    table = DecisionTable(specs=tuple(specs), rules=domain.table.rules)
    return replace(domain, tools=(*domain.tools, made), table=table)


def reading(lc_tool: BaseTool, *, output: tuple[OutputField, ...] = TEXT, **terms: Any) -> Tool:
    return contracted(lc_tool, effect=terms.pop("effect", Effect.READ), roles=("agent",), output=output, **terms)


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """The lap in which the model calls this one tool, with no plan before it or the one given, on a whole app."""
    with ExitStack() as stack:

        def asked(made: Tool, opened: bool = False, **arguments: Any) -> DecisionShown:
            name = made.contract.name
            opens = [PLANS, message(("p", "plan", {"goal": "as asked", "steps": [name]}))]
            lines = [*(opens if opened else ()), message(("c", name, arguments)), ENDS, ENDS, ENDS]
            app = open_app(
                settings(tmp_path),
                clock=FakeClock(NOW),
                domain=offering(tmp_path, made, name),
                model=ChatModelAdapter(Scripted(lines=lines), "scripted"),
                embedder=WordEmbedder(),
            )
            stack.enter_context(app)
            result = app.ask(QUESTION, as_=AGENT.name)
            return next(one for one in result.decisions if "calls" in (one.proposal or {}))

        yield asked


@tool
def get_weather(city: str, days: int = 1) -> str:
    """Get the weather of a city.

    Args and whatever else a docstring holds.
    """
    return f"sun over {city} for {days}"


def test_parameters_and_description_are_the_tools_own_and_nothing_else_is_taken() -> None:
    contract = reading(get_weather).contract
    assert (contract.name, contract.description) == ("get_weather", "Get the weather of a city.")
    assert contract.parameters == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_contracted_tool_is_called_and_its_text_is_untrusted(ask: Ask) -> None:
    (seen,) = ask(reading(get_weather), city="Turin").observations
    assert (seen.outcome, seen.body["text"], seen.trusted_fields) == ("ok", "sun over Turin for 1", ())


def test_an_argument_that_the_schema_does_not_have_is_refused_before_the_call(ask: Ask) -> None:
    lap = ask(reading(get_weather), city="Turin", tenant="t2")
    assert [(one.verdict, one.rule) for one in lap.verdicts] == [("denied", "arguments_invalid")]
    assert lap.observations == ()


def test_an_object_inside_the_arguments_is_closed_too(ask: Ask) -> None:
    class Place(BaseModel):
        city: str

    def find(place: Place) -> str:
        return place.city

    made = reading(StructuredTool.from_function(find, name="find", description="Find a place."))
    (verdict,) = ask(made, place={"city": "Turin", "tenant": "t2"}).verdicts
    assert verdict.rule == "arguments_invalid"


def test_an_opened_write_is_done_once_and_an_unopened_one_is_not(ask: Ask) -> None:
    sent: list[str] = []

    def note(order: str) -> dict[str, Any]:
        sent.append(order)
        return {"order": order, "margin": "80 %"}

    lc_tool = StructuredTool.from_function(note, name="note", description="Note an order down.")
    output = (OutputField(name="order", trust="system"),)
    made = reading(lc_tool, effect=Effect.WRITE, output=output, resources={"order": "order"})
    (refused,) = ask(made, order="A1").verdicts
    assert (refused.rule, sent) == ("effect_not_opened", [])
    (seen,) = ask(made, opened=True, order="A1").observations
    assert (seen.outcome, seen.body["order"], sent) == ("ok", "A1", ["A1"])
    assert "margin" not in seen.body


@pytest.mark.parametrize(
    ("returned", "output", "body"),
    [
        pytest.param("plain", ("text",), {"text": "plain"}, id="text"),
        pytest.param(b"bytes", ("text",), {"text": "bytes"}, id="bytes"),
        pytest.param({"a": 1, "b": 2}, ("a",), {"a": 1}, id="an object"),
        pytest.param([{"a": 1}, {"a": 2}], ("a",), {"rows": [{"a": 1}, {"a": 2}], "total_rows": 2}, id="objects"),
        pytest.param(["x", "y"], ("text",), {"rows": [{"text": "x"}, {"text": "y"}], "total_rows": 2}, id="a list"),
        pytest.param(41, ("text",), {"text": "41"}, id="a number"),
        pytest.param(
            [Document(page_content="found", metadata={"id": "secret"})],
            ("page_content",),
            {"rows": [{"page_content": "found"}], "total_rows": 1},
            id="documents",
        ),
    ],
)
def test_what_a_tool_returns_is_projected(
    ask: Ask, returned: Any, output: tuple[str, ...], body: dict[str, Any]
) -> None:
    made = StructuredTool.from_function(lambda: returned, name="look_up", description="Look something up.")
    (seen,) = ask(reading(made, output=tuple(OutputField(name=name) for name in output))).observations
    assert seen.outcome == "ok"
    assert {name: value for name, value in seen.body.items() if name not in ("tool", "artifact_ref")} == body


def test_the_artifact_beside_the_content_brings_its_fields(ask: Ask) -> None:
    @tool(response_format="content_and_artifact")
    def score(city: str) -> tuple[str, dict[str, Any]]:
        """Score a city."""
        return "very good", {"score": 9, "raw": "kept back"}

    made = reading(score, output=(OutputField(name="score", trust="system"), *TEXT))
    (seen,) = ask(made, city="Turin").observations
    assert (seen.body["score"], seen.body["text"], "raw" in seen.body) == (9, "very good", False)


def test_a_tool_with_only_an_asynchronous_side_runs(ask: Ask) -> None:
    @tool
    async def later(city: str) -> str:
        """Look at a city, in time."""
        return f"later, {city}"

    (seen,) = ask(reading(later), city="Turin").observations
    assert seen.body["text"] == "later, Turin"


def test_a_class_with_only_an_asynchronous_side_runs(ask: Ask) -> None:
    class Later(BaseTool):
        name: str = "later"
        description: str = "Look at a city, in time."

        def _run(self, city: str) -> str:
            raise NotImplementedError

        async def _arun(self, city: str) -> str:
            return f"later, {city}"

    (seen,) = ask(reading(Later()), city="Turin").observations
    assert seen.body["text"] == "later, Turin"


def test_a_tool_of_one_input_runs(ask: Ask) -> None:
    made = reading(SingleInputTool(name="Web Search", func=lambda asked: f"found {asked}", description="Search."))
    assert made.contract.name == "web_search"
    (seen,) = ask(made, tool_input="Turin").observations
    assert seen.body["text"] == "found Turin"


@pytest.mark.parametrize("handled", [False, True, "all went well"])
def test_a_tool_exception_is_an_error_with_a_code_even_where_langchain_would_hide_it(ask: Ask, handled: Any) -> None:
    tries = []

    def fail() -> str:
        tries.append(1)
        raise ToolException("the service of t2 is down")

    lc_tool = StructuredTool.from_function(fail, name="fail", description="Fail.", handle_tool_error=handled)
    failures = (FailureMode(code="tool_exception", passing=True),)
    (seen,) = ask(reading(lc_tool, failures=failures, retries=1)).observations
    assert (seen.outcome, seen.code, len(tries)) == ("error", "tool_exception", 2)
    assert "t2" not in str(seen.body)


def test_what_the_tools_own_validators_refuse_never_ran(ask: Ask) -> None:
    ran = []

    class City(BaseModel):
        city: str

        @field_validator("city")
        @classmethod
        def known(cls, city: str) -> str:
            raise ValueError(f"no such city: {city}")

    def pave(city: str) -> str:
        ran.append(city)
        return "paved"

    lc_tool = StructuredTool.from_function(pave, name="pave", description="Pave.", args_schema=City)
    (seen,) = ask(reading(lc_tool, effect=Effect.WRITE), opened=True, city="Atlantis").observations
    assert (seen.outcome, seen.code, ran) == ("error", "arguments_refused", [])


def test_a_tool_gets_neither_the_runs_configuration_nor_its_callbacks(ask: Ask) -> None:
    heard: list[str] = []

    class Listener(BaseCallbackHandler):
        def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
            heard.append("start")

    def look() -> dict[str, Any]:
        return {"configurable": sorted(get_config()["configurable"])}

    lc_tool = StructuredTool.from_function(look, name="look", description="Look around.")
    (seen,) = ask(reading(lc_tool, output=(OutputField(name="configurable"),))).observations
    assert (seen.outcome, seen.body["configurable"]) == ("ok", [])
    with set_config_context({"callbacks": [Listener()]}) as context:
        context.run(reading(get_weather).run, None, city="Turin")
        assert heard == []
        context.run(get_weather.invoke, {"city": "Turin"})
    assert heard == ["start"]


def test_a_tool_that_needs_what_only_a_run_injects_is_refused() -> None:
    @tool
    def mine(city: str, user: Annotated[str, InjectedToolArg]) -> str:
        """Look at my city."""
        return city

    with pytest.raises(ToolNotContracted, match="whose arguments user a run injects"):
        reading(mine)


@pytest.mark.parametrize(
    ("given", "made"), [("getWeather", "get_weather"), ("get-weather.v2", "get_weather_v2"), ("Wikipedia", "wikipedia")]
)
def test_a_name_becomes_one_of_ours(given: str, made: str) -> None:
    assert reading(get_weather.model_copy(update={"name": given})).contract.name == made


@pytest.mark.parametrize("given", ["42", "天气", "x", "a" * 65])
def test_a_name_that_cannot_become_one_of_ours_is_refused_in_one_line(given: str) -> None:
    with pytest.raises(ToolNotContracted) as refused:
        reading(get_weather.model_copy(update={"name": given}))
    assert "allowed: a name that begins with a letter" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_a_contract_the_app_does_not_open(tmp_path: Path) -> None:
    bare = offering(tmp_path, get_weather, "get_weather")
    with pytest.raises(DomainBroken) as refused:
        open_app(settings(tmp_path), domain=bare, embedder=WordEmbedder())
    said = str(refused.value)
    assert "tools: got StructuredTool get_weather, which has no contract; allowed: state.tools.Tool" in said
    assert "graph.langchain_tools.contracted" in said
    assert "\n" not in said
