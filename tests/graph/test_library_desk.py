"""A second domain on the same engine by one setting (U7): it answers, asks a person, and knows no other domain."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.app import App, open_app
from graph.domain_loading import load_domain
from graph.result import RunResult
from graph.stores.ownership import UnknownThread
from state.work import Status
from tests.domains.library_desk.loans import Loans
from tests.fakes import FakeClock
from tests.graph.conftest import NOW, settings

ROOT = Path(__file__).resolve().parents[2]
DESK = "tests.domains.library_desk"
QUESTION = "Is my loan overdue, and which fee does it cost?"
WISH = "Renew my loan"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[App]:
    with open_app(settings(tmp_path, domain=DESK), clock=FakeClock(NOW)) as app:
        yield app


def loans(home: Path) -> Loans:
    return Loans(home / "domain" / "loans.sqlite", NOW)


def denied(result: RunResult) -> set[str]:
    verdicts = [verdict for decision in result.decisions for verdict in decision.verdicts]
    return {verdict.rule for verdict in verdicts if verdict.verdict == "denied"}


def test_a_question_is_answered_with_the_loan_and_its_document(desk: App) -> None:
    result = desk.ask(QUESTION, as_="maya@northside")
    assert result.status is Status.ANSWERED
    assert result.answer is not None
    assert "status is overdue" in result.answer.text
    assert "20 cents for each day" in result.answer.text
    assert "desk/overdue@v2#fees" in result.answer.sources


def test_a_renewal_waits_for_a_librarian_and_happens_once(desk: App, tmp_path: Path) -> None:
    waiting = desk.ask(WISH, as_="maya@northside", thread="t")
    assert waiting.status is Status.NEEDS_APPROVAL
    (call,) = waiting.pending
    assert (call.tool, call.arguments, loans(tmp_path).extensions()) == ("renew_loan", {"loan_id": "L-2041"}, [])

    desk.resume("t", as_="otto@northside", answers={call.call_id: "approve"})
    done = desk.result("t", as_="maya@northside")
    assert done.status is Status.ANSWERED
    assert [effect.tool for effect in done.effects] == ["renew_loan"]
    assert loans(tmp_path).extensions() == ["L-2041"]


def test_the_reader_who_asks_cannot_confirm(desk: App, tmp_path: Path) -> None:
    (call,) = desk.ask(WISH, as_="maya@northside", thread="t").pending
    still = desk.resume("t", as_="maya@northside", answers={call.call_id: "approve"})
    assert still.status is Status.NEEDS_APPROVAL
    assert loans(tmp_path).extensions() == []


def test_the_other_librarys_librarian_finds_no_such_thread(desk: App) -> None:
    (call,) = desk.ask(WISH, as_="maya@northside", thread="t").pending
    with pytest.raises(UnknownThread):
        desk.resume("t", as_="vera@riverside", answers={call.call_id: "approve"})


@pytest.mark.parametrize("wish", ["Is the loan L-7310 overdue?", "Renew the loan L-7310"])
def test_the_other_librarys_loan_is_denied(desk: App, tmp_path: Path, wish: str) -> None:
    result = desk.ask(wish, as_="maya@northside")
    assert denied(result) == {"resource_not_owned"}
    assert loans(tmp_path).extensions() == []
    assert "Ficciones" not in result.model_dump_json()


def test_a_document_of_the_other_library_is_never_seen(desk: App) -> None:
    question = "Which rare books are kept in the vault?"
    assert "riverside/rare-books" not in desk.ask(question, as_="maya@northside").model_dump_json()
    assert "riverside/rare-books" in desk.ask(question, as_="reed@riverside").model_dump_json()


def test_nothing_of_the_shipped_domain_is_in_any_request(desk: App, tmp_path: Path) -> None:
    shipped = load_domain("domain", tmp_path / "shipped", FakeClock(NOW))
    names = {tool.contract.name for tool in shipped.tools} | {
        key for policy in shipped.policies for key in policy.values
    }
    names |= {policy.version for policy in shipped.policies} | {"runbook/"}
    shipped.close()

    results = [desk.ask(QUESTION, as_="maya@northside", thread="t"), desk.ask(WISH, as_="maya@northside", thread="t")]
    manifests = [decision.manifest for result in results for decision in result.decisions]
    items = [item for manifest in manifests if manifest is not None for item in manifest.items]
    texts = desk.ports.artifacts.get_all("northside", [item.ref for item in items])
    seen = "\n".join([*texts.values(), *(manifest.model_dump_json() for manifest in manifests if manifest is not None)])
    assert "find_loan" in seen
    assert "desk/overdue@v2" in seen
    assert {name for name in names if name in seen} == set()


def agent(home: Path, *arguments: str) -> dict[str, Any]:
    """One call of the program where a fork's developer would start it: in the folder that holds the package."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("EXPEDIENTE_")}
    done = subprocess.run(
        [Path(sys.executable).with_name("agent"), *arguments, "--json"],
        cwd=ROOT,
        env={**own, "EXPEDIENTE_HOME": str(home), "EXPEDIENTE_DOMAIN": DESK},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_setting_makes_the_program_a_library_desk(tmp_path: Path) -> None:
    waiting = agent(tmp_path, "ask", WISH, "--as", "maya@northside", "--thread", "t")
    (call,) = waiting["pending"]
    assert call["tool"] == "renew_loan"
    agent(tmp_path, "resume", "t", "--as", "otto@northside", "--approve", call["call_id"])
    told = agent(tmp_path, "ask", QUESTION, "--as", "maya@northside", "--thread", "t")
    assert told["status"] == "answered"
    assert "status is running" in told["answer"]["text"]
    assert loans(tmp_path).extensions() == ["L-2041"]
