"""Progress at once, the answer once it is on record: what `on_progress` and `stream_mode="custom"` are told."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from graph.app import App
from graph.build import ORDER
from graph.models.adapter import ChatModelAdapter
from graph.models.inprocess import proposing
from graph.models.scripted import Scripted
from state.work import Status
from tests.graph.conftest import OpenApp

QUESTION = "Why is my API key not working?"
PHRASE = "PHRASE-OF-THE-MODEL-77"

Told = list[Mapping[str, JsonValue]]


def scripted(*forms: tuple[str, dict[str, JsonValue]]) -> ChatModelAdapter:
    return ChatModelAdapter(Scripted(lines=[proposing(form) for form in forms]), "scripted")


def answers(told: Told) -> list[Any]:
    return [(event["decision"], event["status"], event["text"]) for event in told if event["event"] == "answer"]


def test_each_node_is_told_as_it_begins_and_the_answer_last(start: OpenApp) -> None:
    app, told = start(), Told()
    result = app.ask(QUESTION, as_="ana@acme", on_progress=told.append)
    nodes = [(event["decision"], event["node"]) for event in told[:-1]]
    assert nodes == [*((0, name) for name in ORDER), *((1, name) for name in ORDER if name != "execute")]
    assert result.answer is not None
    assert answers(told[-1:]) == [(1, "answered", result.answer.text)]


def test_an_answer_that_validate_refuses_is_never_told(start: OpenApp) -> None:
    cites: dict[str, JsonValue] = {"text": PHRASE, "citations": [{"source": "runbook/nowhere@v1#nothing"}]}
    app, told = start(model=scripted(("answer", cites), ("escalate", {"reason": "A person has to look."}))), Told()
    result = app.ask(QUESTION, as_="ana@acme", on_progress=told.append)
    assert result.status is Status.ESCALATED
    assert answers(told) == [(1, "escalated", "A person has to look.")]
    assert PHRASE not in str(told)


def test_a_failed_turn_tells_no_answer(start: OpenApp) -> None:
    app, told = start(model=scripted(("answer", {"text": 5}))), Told()
    assert app.ask(QUESTION, as_="ana@acme", on_progress=told.append).status is Status.FAILED
    assert answers(told) == []


def credit(app: App, by: str) -> Told:
    told = Told()
    (call,) = app.ask("Issue a credit of 51 EUR to account A-125", as_="leo@acme", thread="t").pending
    app.resume("t", as_=by, answers={call.call_id: "approve"}, on_progress=told.append)
    return told


def test_who_only_approves_is_not_told_what_the_owner_is_answered(start: OpenApp) -> None:
    amount: dict[str, JsonValue] = {"account_id": "A-125", "amount": 51, "currency": "EUR"}
    app = start(
        model=scripted(
            ("plan", {"goal": "credit"}),
            ("plan", {"goal": "credit", "steps": ["issue_credit"]}),
            ("issue_credit", amount),
            ("answer", {"text": PHRASE, "citations": []}),
        )
    )
    told = credit(app, by="vera@acme")
    assert [event["node"] for event in told] == [*ORDER[ORDER.index("validate") :], *ORDER[:6], "log"]
    found = app.result("t", as_="leo@acme")
    assert found.answer is not None
    assert found.answer.text == PHRASE
