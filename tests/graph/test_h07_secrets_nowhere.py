"""H07: a credential reaches the tool, and is in no byte that is stored, logged, traced or shown."""

import asyncio
import hashlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run

from graph.app import App, open_app
from graph.checkpoint_metadata import own
from graph.inspection.verify import verify
from graph.masking import install
from state.run import RunContext
from state.work import Status
from tests.domains.leaking_desk import RECEIVED
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, on_both_engines, settings
from tests.graph.stored_bytes import stored, stored_on_server

ROOT = Path(__file__).resolve().parents[2]
DESK = "tests.domains.leaking_desk"
VALUE = "demo-cred-4471-QWER"
GIVEN = "demo-conf-9913-ASDF"
VARIABLE = "EXPEDIENTE_TOOL_SECRET_BILLING_API"
QUESTION = "Is my loan overdue?"
AS_MAYA: RunContext = {"principal": "maya@northside"}


class Tracer(BaseTracer):
    """Keeps all that a tracer is told of a run and its children."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def _persist_run(self, run: Run) -> None:
        self.told.append(repr(run))

    def _start_trace(self, run: Run) -> None:
        self.told.append(repr((run.inputs, run.extra, run.tags, run.serialized)))
        super()._start_trace(run)

    def _end_trace(self, run: Run) -> None:
        self.told.append(repr((run.inputs, run.outputs, run.error, run.events)))
        super()._end_trace(run)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str | None) -> Iterator[App]:
    monkeypatch.setenv(VARIABLE, VALUE)
    before = logging.getLogRecordFactory()
    install()
    with open_app(settings(tmp_path, domain=DESK, database_url=database_url), clock=FakeClock(NOW)) as app:
        yield app
    logging.setLogRecordFactory(before)


def found(home: Path, database_url: str | None, value: str) -> list[str]:
    """Where a value stands among all stored bytes."""
    everything = list(stored(home)) + (list(stored_on_server(database_url)) if database_url else [])
    assert len(everything) > 20
    return [where for where, content in everything if value.encode() in content]


def received(home: Path) -> list[str]:
    return (home / "domain" / RECEIVED).read_text(encoding="utf-8").splitlines()


@on_both_engines
def test_the_tool_has_the_value_and_no_byte_holds_it(
    desk: App,
    tmp_path: Path,
    database_url: str | None,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    tracer = Tracer()
    config: RunnableConfig = {"configurable": {"thread_id": "t"}, "callbacks": [tracer]}
    shown = []
    for _ in ("it returns the value", "it raises the value"):
        question = {"messages": [HumanMessage(QUESTION)]}
        shown += [repr(each) for each in desk.graph.stream(question, config, context=AS_MAYA, durability="sync")]
    history = desk.history("t", as_="maya@northside")
    shown += [history.model_dump_json(), repr(history), repr(desk.settings), repr(desk.ports)]
    shown += [repr(list(desk.graph.get_state_history(config)))]

    assert received(tmp_path) == [hashlib.sha256(VALUE.encode()).hexdigest()] * 2
    seen = [seen for decision in history.decisions for seen in decision.observations]
    assert [(one.outcome, one.code) for one in seen] == [
        ("ok", None),
        ("error", "tool_failed:Exception"),
    ]
    assert seen[0].body["due"] == "[secret billing_api]"
    assert "signing in with [secret billing_api]" in caplog.text
    assert len(tracer.told) > 20
    output = capfd.readouterr()
    logged = repr([record.__dict__ for record in caplog.records])
    assert "'credential': ['[secret billing_api]']" in logged
    for text in (*shown, *tracer.told, caplog.text, logged, output.out, output.err):
        assert VALUE not in text
    assert found(tmp_path, database_url, VALUE) == []
    assert verify(desk, "t", as_="maya@northside").sound


@on_both_engines
def test_a_value_in_a_runs_configuration_is_kept_with_no_checkpoint(
    desk: App, tmp_path: Path, database_url: str | None
) -> None:
    """LangGraph copies plain values of `configurable` and `metadata` into each checkpoint's row: ours do not."""
    config: RunnableConfig = {
        "configurable": {"thread_id": "t", "api_key": GIVEN, "second": GIVEN},
        "metadata": {"note": GIVEN},
    }
    desk.graph.invoke({"messages": [HumanMessage(QUESTION)]}, config, context=AS_MAYA)
    desk.graph.update_state(config, {"messages": []})
    desk.graph.invoke({"messages": [HumanMessage(QUESTION)]}, config, context=AS_MAYA)
    assert desk.result("t", as_="maya@northside").status is Status.ANSWERED
    assert found(tmp_path, database_url, GIVEN) == []
    kept = {name for state in desk.graph.get_state_history(config) for name in state.metadata or {}}
    assert kept <= {"source", "step", "parents", "run_id"}


def test_of_metadata_only_langgraphs_own_fields_are_kept() -> None:
    """A fork copies the metadata of its checkpoint, which an earlier release may have written."""
    written: Any = {"source": "fork", "step": 3, "parents": {}, "api_key": GIVEN}
    assert own(written) == {"source": "fork", "step": 3, "parents": {}}


@on_both_engines
def test_neither_asynchronously(desk: App, tmp_path: Path, database_url: str | None) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "t", "api_key": GIVEN}}

    async def run() -> None:
        async with desk.asynchronous() as graph:
            await graph.ainvoke({"messages": [HumanMessage(QUESTION)]}, config, context=AS_MAYA)

    asyncio.run(run())
    assert found(tmp_path, database_url, GIVEN) == []
    assert found(tmp_path, database_url, VALUE) == []


def program(home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("EXPEDIENTE_")}
    return subprocess.run(
        [Path(sys.executable).with_name("agent"), *arguments],
        cwd=ROOT,
        env={**own, "EXPEDIENTE_HOME": str(home), "EXPEDIENTE_DOMAIN": DESK, **variables},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_the_command_line_shows_it_nowhere(tmp_path: Path) -> None:
    own = {VARIABLE: VALUE}
    calls = (
        ("ask", QUESTION, "--as", "maya@northside", "--thread", "t"),
        ("ask", QUESTION, "--as", "maya@northside", "--thread", "t", "--debug"),
        ("show", "t", "--as", "maya@northside", "--json"),
        ("replay", "t", "1", "--as", "maya@northside", "--request"),
        ("doctor", "--json"),
    )
    told = [program(tmp_path, *call, **own) for call in calls]
    assert received(tmp_path) == [hashlib.sha256(VALUE.encode()).hexdigest()] * 2
    for done in told:
        assert VALUE not in done.stdout + done.stderr
    assert "[secret billing_api]" in told[2].stdout
    assert json.loads(told[2].stdout)["thread"] == "t"
    assert found(tmp_path, None, VALUE) == []


def test_without_the_credential_the_call_is_not_begun_and_the_operator_is_told(tmp_path: Path) -> None:
    done = program(tmp_path, "ask", QUESTION, "--as", "maya@northside", "--thread", "t")
    assert f"set {VARIABLE} in the environment" in done.stderr
    shown: dict[str, Any] = json.loads(program(tmp_path, "show", "t", "--as", "maya@northside", "--json").stdout)
    (seen,) = [seen for decision in shown["decisions"] for seen in decision["observations"]]
    assert (seen["outcome"], seen["code"]) == ("error", "secret_missing")
    assert not (tmp_path / "domain" / RECEIVED).exists()
