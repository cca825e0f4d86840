"""Two people approve one call at once: one effect, one winner, and the other is told who was first (H01)."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Barrier

import pytest

from graph.app import App
from graph.conversation import NothingPending
from graph.result import RunResult
from tests.desk import AGENT, LEAD
from tests.graph.conftest import on_both_engines
from tests.graph.drafts_desk import CALL, DRAFT, OTHER_LEAD, QUESTION, Acting, drafts_desk

BOTH = (LEAD.name, OTHER_LEAD.name)
ROUNDS_OF_THREADS, ROUNDS_OF_PROCESSES = 20, 5


def opened(home: Path, database_url: str | None) -> App:
    """The desk, which writes each effect into a file of its home: processes share it."""

    def note(*done: str) -> None:
        with (home / "effects").open("a", encoding="utf-8") as file:
            file.write(f"{'/'.join(done)}\n")

    return drafts_desk(home, Acting(DRAFT), note, database_url)


def approved(app: App, thread: str, who: str) -> str:
    """What an approver is told."""
    try:
        result: RunResult = app.resume(thread, as_=who, answers={CALL: "approve"})
    except NothingPending as refused:
        return str(refused)
    return ", ".join(f"{effect.tool} {effect.state}" for effect in result.effects)


def judged(app: App, home: Path, told: list[tuple[str, str, str]]) -> None:
    """For each thread what the two approvers were told: one that it is done, the other by whom."""
    effects = (home / "effects").read_text(encoding="utf-8").splitlines()
    assert effects == ["save_draft/hola"] * len(told)
    for thread, *both in told:
        winner = next(who for who, said in zip(BOTH, both, strict=True) if said == "save_draft done")
        (loser,) = [said for said in both if said != "save_draft done"]
        assert (
            loser
            == f"call {CALL} is already decided: approved by {winner} at 2026-07-15 09:30:00 UTC; nothing was changed"
        )
        (row,) = app.ports.ledger.rows("t1", thread)
        assert (row.claim.call_id, row.state) == (CALL, "done")


@pytest.fixture
def app(tmp_path: Path, database_url: str | None) -> Iterator[App]:
    with opened(tmp_path, database_url) as made:
        yield made


@on_both_engines
def test_of_two_approvals_in_two_threads_one_wins_and_the_other_is_told(
    app: App, tmp_path: Path, database_url: str | None
) -> None:
    told = []
    with opened(tmp_path, database_url) as other, ThreadPoolExecutor(2) as pool:
        for number in range(ROUNDS_OF_THREADS):
            thread, together = f"T{number}", Barrier(2)
            app.ask(QUESTION, as_=AGENT.name, thread=thread)

            def answer(at: App, who: str, thread: str = thread, together: Barrier = together) -> str:
                together.wait()
                return approved(at, thread, who)

            first, second = pool.map(answer, (app, other), BOTH)
            told.append((thread, first, second))
    judged(app, tmp_path, told)


def approver(home: Path, database_url: str | None, who: str, line: "Connection[str, str]") -> None:
    """A process that approves on each thread it is told, until it is told none."""
    with opened(home, database_url) as app:
        line.send("ready")
        while thread := line.recv():
            line.send(approved(app, thread, who))


@on_both_engines
def test_of_two_approvals_in_two_processes_one_wins_and_the_other_is_told(
    app: App, tmp_path: Path, database_url: str | None
) -> None:
    spawn, told = multiprocessing.get_context("spawn"), []
    with ExitStack() as stack:
        lines = []
        for who in BOTH:
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=approver, args=(tmp_path, database_url, who, theirs), daemon=True)
            process.start()
            theirs.close()  # so that a process that dies is an end of file here
            stack.callback(process.join, 30)
            stack.callback(ours.send, "")
            lines.append(ours)
        assert [line.recv() for line in lines] == ["ready", "ready"]
        for number in range(ROUNDS_OF_PROCESSES):
            thread = f"T{number}"
            app.ask(QUESTION, as_=AGENT.name, thread=thread)
            for line in lines:
                line.send(thread)
            first, second = (line.recv() for line in lines)
            told.append((thread, first, second))
    judged(app, tmp_path, told)
