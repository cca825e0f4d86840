"""A credit on the real app: alone up to the policy's limit, above it by a supervisor who did not ask for it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.app import App
from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import proposing
from graph.models.scripted import Scripted
from graph.result import RunResult
from state.work import Status
from tests.graph.conftest import OpenApp

WISH = "Issue a credit of {} EUR to account A-125"


def credit(start: OpenApp, amount: int, as_: str = "leo@acme") -> tuple[App, RunResult]:
    lines = [
        proposing(("plan", {"goal": "credit"})),
        proposing(("plan", {"goal": "credit", "steps": ["issue_credit"]})),
        proposing(("issue_credit", {"account_id": "A-125", "amount": amount, "currency": "EUR"})),
        proposing(("answer", {"text": "That is what became of it.", "citations": [], "next_steps": []})),
    ]
    app = start(model=ChatModelAdapter(Scripted(lines=lines), "scripted"))
    return app, app.ask(WISH.format(amount), as_=as_, thread="t")


def issued(home: Path) -> list[tuple[str, str | None, int]]:
    with closing(sqlite3.connect(home / "domain" / "support.sqlite")) as connection:
        return connection.execute("SELECT issued_by, approved_by, amount FROM credits").fetchall()


def approved(app: App, asked: RunResult, by: str) -> RunResult:
    assert asked.status is Status.NEEDS_APPROVAL
    (call,) = asked.pending
    assert (call.tool, call.rule) == ("issue_credit", "over_limit")
    return app.resume("t", as_=by, answers={call.call_id: "approve"})


def test_up_to_the_limit_nobody_is_asked(start: OpenApp, home: Path) -> None:
    _, result = credit(start, 50)
    assert result.status is Status.ANSWERED
    assert issued(home) == [("leo@acme", None, 50)]


def test_above_it_a_supervisor_approves(start: OpenApp, home: Path) -> None:
    app, asked = credit(start, 51)
    assert issued(home) == []
    result = approved(app, asked, by="vera@acme")
    assert result.status is Status.ANSWERED
    assert issued(home) == [("leo@acme", "vera@acme", 51)]


def test_an_account_admins_approval_grants_the_own_organisation_nothing(start: OpenApp, home: Path) -> None:
    """The gate takes any approver of the tenant; the tool knows that this one is a customer."""
    app, asked = credit(start, 51)
    approved(app, asked, by="bea@acme")
    assert issued(home) == []
    (act,) = [decision for decision in app.records("t", as_="leo@acme") if decision.kind == "act"]
    assert [(seen.outcome, seen.code) for seen in act.observations] == [("error", "not_approved")]


def test_a_supervisor_does_not_approve_an_own_wish(start: OpenApp, home: Path) -> None:
    app, asked = credit(start, 51, as_="vera@acme")
    approved(app, asked, by="vera@acme")
    assert issued(home) == []


@pytest.mark.parametrize("amount", ["30 USD", "$30", "USD 30", "30 dollars"])
def test_a_credit_in_another_currency_is_asked_about_and_never_turned_into_ours(
    start: OpenApp, home: Path, amount: str
) -> None:
    app = start()
    asked = app.ask(f"Issue a credit of {amount} to account A-125", as_="leo@acme", thread="t")
    assert asked.status is Status.NEEDS_INPUT
    assert asked.answer is not None
    assert "in EUR only" in asked.answer.text
    assert issued(home) == []


@pytest.mark.parametrize("amount", ["120 EUR", "120 euros", "120"])
def test_whoever_approves_a_credit_sees_its_currency(start: OpenApp, amount: str) -> None:
    (call,) = start().ask(f"Issue a credit of {amount} to account A-125", as_="leo@acme").pending
    assert call.arguments == {"account_id": "A-125", "amount": 120, "currency": "EUR"}
