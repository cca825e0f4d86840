"""A result that was cut is read on page by page, by whoever it belongs to, in bounded pages that make it whole."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.app import App, open_app
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.result import RunResult
from graph.result_reader import MAX_BYTES, ResultReader, around, pages, readable
from graph.stores.artifacts import SqlArtifacts
from state.contract import Effect, OutputField
from state.domain import DecisionTable, Domain, Rule
from state.tools import ToolContext, ToolError, tool
from state.work import DecisionKind, DecisionSpec
from tests.desk import AGENT, LEAD, SCOPE, Desk
from tests.fakes import NOW, FakeClock, SequentialIds
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import on_both_engines, settings
from tests.graph.order_desk import ENDS, FORMS, Call, desk_domain, message

LOG = "\n".join(f'line {number}: el año "{number}" \\ de la señal' for number in range(600))
RUN = "toolrun://req-1/step-1"
TABLE = DecisionTable(
    specs=(
        DecisionSpec(kind=DecisionKind.GATHER, toolset="look", tools=("get_log", "read_result"), forms=FORMS),
        DecisionSpec(kind=DecisionKind.CLOSE, toolset="bound"),
    ),
    rules=(Rule(name="bound", at_bound=True, then="close/bound"), Rule(name="look", then="gather/look")),
)


@tool(
    effect=Effect.READ,
    roles=("agent", "lead"),
    output=(OutputField(name="text"), OutputField(name="kept", trust="system")),
)
def get_log(context: ToolContext) -> dict[str, Any]:
    """Get the log."""
    return {"text": LOG, "kept": 600, "hidden": "not in the contract"}


def log_desk(home: Path) -> Domain:
    return replace(desk_domain(home, Desk()), tools=(get_log,), table=TABLE)


Start = Callable[..., App]


@pytest.fixture
def start(tmp_path: Path, database_url: str | None) -> Iterator[Start]:
    """The desk's app, again and again on one home, with a model that plays these lines."""
    with ExitStack() as stack:
        ids = SequentialIds()

        def started(*lines: Any) -> App:
            model = ChatModelAdapter(Scripted(lines=list(lines)), "scripted")
            home = settings(tmp_path, database_url=database_url)
            return stack.enter_context(
                open_app(
                    home,
                    clock=FakeClock(NOW),
                    ids=ids,
                    domain=log_desk(tmp_path),
                    model=model,
                    embedder=WordEmbedder(),
                )
            )

        yield started


def read(name: str = RUN, **more: Any) -> Call:
    return ("r", "read_result", {"artifact_ref": name, **more})


def last(result: RunResult) -> dict[str, Any]:
    return dict(result.decisions[1].observations[0].body)


@on_both_engines
def test_a_result_that_was_cut_is_read_to_its_end_in_bounded_pages(start: Start) -> None:
    first = message(("c", "get_log", {}))
    app = start(first, message(*(read(page=page) for page in (1, 2, 3, 4))), ENDS)
    result = app.ask("What does the log say?", as_=AGENT.name, thread="T")
    (cut,) = result.decisions[0].observations
    assert (cut.artifact_ref, cut.truncated) == (RUN, True)
    read_on = result.decisions[1].observations
    assert {seen.body["pages"] for seen in read_on} == {4}
    assert "".join(str(seen.body["text"]) for seen in read_on) == f"text: {LOG}\nkept: 600"
    for seen in read_on:
        assert len(json.dumps(seen.body, ensure_ascii=False).encode()) <= MAX_BYTES + 100  # and what execute adds
        assert (seen.outcome, seen.truncated, "text" in seen.trusted_fields) == ("ok", False, False)
        assert seen.body["whole_bytes"] == len(f"text: {LOG}\nkept: 600".encode())


def test_only_the_parts_around_a_text_are_read_and_nothing_where_it_does_not_occur(start: Start) -> None:
    found, nothing = read(find="LINE 431:"), read(find="line 9999:")
    app = start(message(("c", "get_log", {})), message(found, nothing), ENDS)
    seen = app.ask("What does the log say?", as_=AGENT.name, thread="T").decisions[1].observations
    assert [one.outcome for one in seen] == ["ok", "empty"]
    text = str(seen[0].body["text"])
    assert (seen[0].body["matches"], "line 431: el año" in text, "line 300:" in text) == (1, True, False)


def test_somebody_elses_result_looks_like_one_that_was_never_there(start: Start) -> None:
    start(message(("c", "get_log", {})), ENDS).ask("What does the log say?", as_=AGENT.name, thread="T")
    never = "toolrun://req-99/step-1"
    app = start(message(read(), read(never)), ENDS, ENDS)
    foreign = app.ask(f"Read {RUN} and {never}", as_=LEAD.name, thread="U").decisions[0].verdicts
    app = start(message(read(), read(never)), ENDS, ENDS)
    elsewhere = app.ask(f"Read {RUN} and {never}", as_=AGENT.name, thread="V").decisions[0].verdicts
    for verdicts in (foreign, elsewhere):
        said = {(one.verdict, one.rule, getattr(one, "reason", "")) for one in verdicts}
        assert len(verdicts) == 2
        assert said == {("denied", "resource_not_owned", "argument artifact_ref names no result of this principal")}


def test_a_name_that_the_request_does_not_show_is_not_read(start: Start) -> None:
    start(message(("c", "get_log", {})), ENDS).ask("What does the log say?", as_=AGENT.name, thread="T")
    (verdict,) = start(message(read()), ENDS).ask("And now?", as_=AGENT.name, thread="T").decisions[0].verdicts
    assert (verdict.verdict, verdict.rule) == ("denied", "argument_invented")


@on_both_engines
def test_a_result_of_another_branch_belongs_to_the_thread(start: Start) -> None:
    app = start(message(("c", "get_log", {})), ENDS)
    app.ask("What does the log say?", as_=AGENT.name, thread="T")
    reader = ResultReader(app.ports.artifacts, app.ports.log, {"get_log": ("agent",)})
    (name,) = [one for one in app.ports.log.names("t1", "T") if app.ports.log.get("t1", "T", one).observations]
    record = app.ports.log.get("t1", "T", name)
    seen = record.observations[0].model_copy(update={"artifact_ref": "toolrun://req-7/step-1"})
    assert not reader.owns(SCOPE, "toolrun://req-7/step-1")
    app.ports.log.append(record.model_copy(update={"observations": (seen,)}))
    assert reader.owns(SCOPE, "toolrun://req-7/step-1")
    assert reader.owns(SCOPE, RUN)
    other = SCOPE.principal.model_copy(update={"tenant": "t2"})
    assert not reader.owns(SCOPE.model_copy(update={"principal": other, "actor": other}), RUN)


def test_what_the_roles_no_longer_reach_is_not_read_back_either(start: Start) -> None:
    app = start(message(("c", "get_log", {})), ENDS)
    app.ask("What does the log say?", as_=AGENT.name, thread="T")
    for allowed in ({"get_log": ("lead",)}, {}):
        reader = ResultReader(app.ports.artifacts, app.ports.log, allowed)
        assert not reader.owns(SCOPE, RUN)
        with pytest.raises(ToolError, match="not_found"):
            reader.tool(("agent",)).run(ToolContext(SCOPE, NOW, "key"), artifact_ref=RUN)


def test_a_page_that_is_not_there_and_a_body_that_was_erased_are_told_apart(start: Start) -> None:
    app = start(message(("c", "get_log", {})), ENDS)
    app.ask("What does the log say?", as_=AGENT.name, thread="T")
    run = ResultReader(app.ports.artifacts, app.ports.log, {"get_log": ("agent",)}).tool(("agent",)).run
    with pytest.raises(ToolError, match="no_such_page: there are 4 pages"):
        run(ToolContext(SCOPE, NOW, "key"), artifact_ref=RUN, page=5)
    assert isinstance(app.ports.artifacts, SqlArtifacts)
    assert app.ports.artifacts.erase("t1", app.ports.artifacts.resolved("t1", (RUN, f"{RUN}/whole")).values()) == 2
    with pytest.raises(ToolError, match="erased"):
        run(ToolContext(SCOPE, NOW, "key"), artifact_ref=RUN)


def test_a_domain_that_does_not_offer_it_has_neither_the_tool_nor_its_resource(tmp_path: Path) -> None:
    model = ChatModelAdapter(Scripted(lines=[message(read()), ENDS, ENDS]), "scripted")
    domain = desk_domain(tmp_path, Desk())
    with open_app(settings(tmp_path), clock=FakeClock(NOW), domain=domain, model=model, embedder=WordEmbedder()) as app:
        result = app.ask(f"Read {RUN}", as_=AGENT.name, thread="T")
    assert [one.rule for one in result.decisions[0].verdicts] == ["unknown_tool"]


@given(text=st.text(max_size=400), most=st.integers(12, 80))
def test_pages_are_bounded_and_make_the_text_again(text: str, most: int) -> None:
    cut = pages(text, most)
    assert "".join(cut) == text
    assert all(cut) or text == ""
    for page in cut:
        assert len(json.dumps(page, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")) <= most


def test_a_page_ends_with_a_line_where_the_line_fits() -> None:
    assert pages("one\ntwo\nthree\n", 12) == ["one\ntwo\n", "three\n"]
    assert pages("ñ" * 10, 7) == ["ñññ", "ñññ", "ñññ", "ñ"]


def test_places_that_lie_close_are_one_part() -> None:
    text = "x" * 1000 + "key" + "y" * 100 + "KEY" + "z" * 2000 + "key"
    shown, matches = around(text, "key")
    assert (matches, shown.count("[...]")) == (3, 1)
    assert around(text, "nowhere") == ("", 0)


def test_a_body_reads_as_lines_and_what_is_no_object_stays_as_it_is() -> None:
    body = json.dumps({"tool": "t", "rows": [{"a": "é"}, {"a": 2}], "total_rows": 2, "artifact_ref": RUN})
    assert readable(body) == 'rows:\n{"a": "é"}\n{"a": 2}\ntotal_rows: 2'
    assert readable("plain") == "plain"
    assert readable("[1]") == "[1]"
