"""The bench runs and measures what it says. Speed itself is no test: machines differ, and so do their neighbours."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from evals.bench.floor import run_turn
from evals.bench.ground import open_ground
from evals.bench.measure import LEAST, measure
from evals.bench.parts import SAVER, in_parts
from evals.bench.report import Report, is_flat
from evals.bench.subject import DECISIONS_PER_TURN, PRINCIPAL, THREAD, open_subject
from graph.build import ORDER
from state.context import Kind
from state.work import Status

ON: RunnableConfig = {"configurable": {"thread_id": THREAD}}


def test_a_turn_of_the_subject_gathers_and_answers_from_a_full_request(tmp_path: Path) -> None:
    with open_subject(tmp_path / "home") as app:
        result = app.ask("Why does the machine stop?", as_=PRINCIPAL.name)
    assert result.status is Status.ANSWERED
    assert [decision.kind for decision in result.decisions] == ["gather", "answer"]
    assert len(result.decisions) == DECISIONS_PER_TURN
    for decision in result.decisions:
        assert decision.manifest is not None
        assert {item.kind for item in decision.manifest.items} == set(Kind)


def test_the_empty_loop_takes_the_same_steps(tmp_path: Path) -> None:
    """One checkpoint for the input and one for each node of each lap, as the app's turn writes them."""
    with open_ground(tmp_path, None) as ground:
        run_turn(ground.floor, "Why does the machine stop?")
        steps = list(ground.floor.get_state_history(ON))
        assert len(steps) == 2 + len(ORDER) * DECISIONS_PER_TURN
        ground.app.ask("Why does the machine stop?", as_=PRINCIPAL.name, thread=THREAD)
        ours = list(ground.app.graph.get_state_history(ON))
        assert len(ours) == len(steps) - 1  # an answering lap executes nothing


def test_timing_the_parts_leaves_the_app_as_it_was(tmp_path: Path) -> None:
    with open_subject(tmp_path / "home") as app:
        nodes: list[Any] = [spec.runnable for spec in app.drawing.nodes.values()]
        before = [node.func for node in nodes]
        with in_parts(app) as seconds:
            app.ask("Why does the machine stop?", as_=PRINCIPAL.name)
        assert set(seconds) == {*ORDER, SAVER}
        assert all(took > 0 for took in seconds.values())
        assert [node.func for node in nodes] == before


def test_too_few_decisions_are_refused() -> None:
    with pytest.raises(ValueError, match=f"at least {LEAST}"):
        measure(LEAST - 1)


def test_what_is_flat() -> None:
    assert [is_flat(grew) for grew in (0.94, 0.96, 1.0, 1.04, 1.06)] == [False, True, True, True, False]


@pytest.mark.slow
def test_it_measures_on_a_server_too(postgres_url: str) -> None:
    report = measure(LEAST, postgres_url)
    assert report.engine == "postgresql"
    assert report.verified.records == LEAST
    for mark in report.marks:
        assert min(mark.checkpoint_bytes, mark.floor_bytes, mark.graph_ms, mark.task_bytes) > 0


@pytest.mark.slow
def test_the_command_prints_a_report() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evals.bench", "--json", "--decisions", str(LEAST)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    report = Report.model_validate(json.loads(done.stdout))
    assert len(report.turns) == LEAST // DECISIONS_PER_TURN
    assert [mark.decision for mark in report.marks] == [LEAST // 2, LEAST]
    assert {part.name for part in report.aged.parts} == {*ORDER, SAVER, "langgraph", "around the run"}
    assert min(report.graph_ms, report.floor_ms, *(mark.checkpoint_bytes for mark in report.marks)) > 0
    assert (report.engine, report.verified.records) == ("sqlite", LEAST)
