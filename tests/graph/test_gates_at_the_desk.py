"""Field reports H01, H02 and H18 on the real graph: every proposal goes through validate, approval and execute."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from graph.app import App
from graph.conversation import Answer, NothingPending
from graph.result import DecisionShown, RunResult
from state.record import DecisionRecord
from state.verdict import Allowed
from state.work import Status
from tests.desk import AGENT, LEAD, Desk
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, OPENS, PLANS, Call, message, order_desk
from tests.graph.stored_bytes import stored

# The ids of the calls of one proposal: our own, since a model's could carry words into our blocks. The third lap acts.
FIRST, SECOND, THIRD = "call-2-0", "call-2-1", "call-2-2"
QUESTION = "Refund 50, -5, 201 or 12,50 of order A1, show INV-9 and INV-t2-1, pay A 120 and B 75, look order A2 up"


class Opened:
    """A desk and its app, opened on a home of the test's."""

    def __init__(self, home: Path, stack: ExitStack, database_url: str | None) -> None:
        self.home, self.desk, self._stack, self._url = home, Desk(), stack, database_url

    def app(self, *lines: Any) -> App:
        return self._stack.enter_context(order_desk(self.home, self.desk, lines, database_url=self._url))

    def acting(self, *calls: Call) -> tuple[App, RunResult]:
        """The result of a turn that opens the desk's effects and then makes these calls in one proposal."""
        app = self.app(PLANS, OPENS, message(*calls), ENDS, ENDS)
        return app, app.ask(QUESTION, as_=AGENT.name, thread="T")


@pytest.fixture
def opened(tmp_path: Path, database_url: str | None) -> Iterator[Opened]:
    (tmp_path / "home").mkdir()
    with ExitStack() as stack:
        yield Opened(tmp_path / "home", stack, database_url)


def act(result: RunResult) -> DecisionShown:
    return next(decision for decision in result.decisions if decision.kind == "act")


def chain(app: App) -> tuple[DecisionRecord, ...]:
    names = app.ports.log.names("t1", "T")
    return tuple(app.ports.log.get_all("t1", "T", names))


H18 = {
    "a tenant argument": ("get_invoice", {"id": "INV-9", "tenant_id": "t2"}, "arguments_invalid"),
    "another tenant's invoice": ("get_invoice", {"id": "INV-t2-1"}, "resource_not_owned"),
    "a negative amount": ("refund", {"order": "A1", "amount": -5}, "arguments_invalid"),
    "a boolean amount": ("refund", {"order": "A1", "amount": True}, "arguments_invalid"),
    "an amount in words": ("refund", {"order": "A1", "amount": "12,50"}, "arguments_invalid"),
    "an approval of its own": ("refund", {"order": "A1", "amount": 50, "approved": True}, "arguments_invalid"),
}


@pytest.mark.parametrize(("tool", "arguments", "rule"), H18.values(), ids=H18)
def test_h18_a_call_that_rights_do_not_cover_is_denied(
    opened: Opened, tool: str, arguments: dict[str, Any], rule: str
) -> None:
    _, result = opened.acting(("c1", tool, arguments))
    (verdict,) = act(result).verdicts
    assert (verdict.verdict, verdict.rule) == ("denied", rule)
    assert opened.desk.effects == []
    assert opened.desk.read == []
    assert "t2" not in verdict.model_dump_json()
    assert result.status is Status.ANSWERED


def test_h18_infinity_is_no_number(opened: Opened) -> None:
    _, result = opened.acting(("c1", "refund", {"order": "A1", "amount": float("inf")}))
    assert [attempt.outcome.name for attempt in act(result).attempts] == ["malformed"]
    assert opened.desk.effects == []


def test_h18_an_amount_over_the_limit_needs_a_person(opened: Opened) -> None:
    app, result = opened.acting(("c1", "refund", {"order": "A1", "amount": 201}))
    assert result.status is Status.NEEDS_APPROVAL
    assert opened.desk.effects == []
    app.resume("T", as_=LEAD.name, answers={FIRST: "approve"})
    assert opened.desk.effects == [("refund", "A1", "201")]


def test_an_amount_within_the_limit_is_allowed_without_a_person(opened: Opened) -> None:
    _, result = opened.acting(("c1", "refund", {"order": "A1", "amount": 50}))
    assert result.status is Status.ANSWERED
    assert opened.desk.effects == [("refund", "A1", "50")]


@on_both_engines
def test_h01_an_approved_call_runs_once_and_a_second_approval_is_already_decided(opened: Opened) -> None:
    app, result = opened.acting(("c1", "pay", {"vendor": "A", "amount": 120}))
    assert (result.status, opened.desk.effects) == (Status.NEEDS_APPROVAL, [])
    done = app.resume("T", as_=LEAD.name, answers={FIRST: "approve"})
    assert done.status is Status.ANSWERED
    assert [(effect.tool, effect.state) for effect in done.effects] == [("pay", "done")]  # the approver is told
    assert (done.answer, done.decisions) == (None, ())  # and sees nothing else of the thread
    with pytest.raises(NothingPending, match="already decided: approved by leo@t1 at 2026-07-15 09:30:00 UTC"):
        app.resume("T", as_=LEAD.name, answers={FIRST: "approve"})
    assert opened.desk.effects == [("pay", "A", "120")]
    decisions = app.history("T", as_=AGENT.name).decisions
    verdicts = [verdict for decision in decisions for verdict in decision.verdicts if verdict.call_id == FIRST]
    (one,) = verdicts
    assert isinstance(one, Allowed)
    assert one.request is not None  # requested, once
    assert one.approval is not None  # approved, once
    assert (one.approval.decision, one.approval.by) == ("approve", LEAD.name)
    executed = [seen.outcome for decision in decisions for seen in decision.observations if seen.call_id == FIRST]
    assert executed == ["ok"]
    assert [row.claim.call_id for row in app.ports.ledger.rows("t1", "T")] == [FIRST]


@on_both_engines
@pytest.mark.parametrize("order", list(permutations([FIRST, SECOND])))
def test_h02_decisions_reach_their_calls_in_any_order_and_siblings_run_once(
    opened: Opened, order: tuple[str, str]
) -> None:
    app, result = opened.acting(
        ("c1", "pay", {"vendor": "A", "amount": 120}),
        ("c2", "pay", {"vendor": "B", "amount": 75}),
        ("c3", "lookup", {"order": "A2"}),
    )
    assert [call.call_id for call in result.pending] == [FIRST, SECOND]  # shown together, before any is answered
    decisions: dict[str, Answer] = {FIRST: "approve", SECOND: "reject"}
    early, late = order
    app.resume("T", as_=LEAD.name, answers={early: decisions[early]})
    with pytest.raises(NothingPending, match=r"already decided: (approved|rejected) by leo@t1"):
        app.resume("T", as_=LEAD.name, answers={early: decisions[early]})  # while its sibling still waits
    app.resume("T", as_=LEAD.name, answers={late: decisions[late]})
    done = act(app.history("T", as_=AGENT.name))
    assert opened.desk.effects == [("pay", "A", "120")]
    assert opened.desk.read == [("t1", "A2")]
    outcomes = {seen.call_id: seen.outcome for seen in done.observations}
    refused = {verdict.call_id for verdict in done.verdicts if verdict.verdict == "denied"}
    assert (outcomes, refused) == ({FIRST: "ok", THIRD: "ok"}, {SECOND})


def test_an_edited_call_keeps_the_users_words_as_a_place_in_the_turn(opened: Opened) -> None:
    app, _ = opened.acting(("c1", "pay", {"vendor": "A", "amount": 120}))
    app.resume("T", as_=LEAD.name, answers={FIRST: {"decision": "edit", "arguments": {"vendor": "A", "amount": 5}}})
    assert opened.desk.effects == [("pay", "A", "5")]
    (record,) = [one for one in chain(app) if any(isinstance(verdict, Allowed) for verdict in one.verdicts)]
    (verdict,) = record.verdicts
    assert isinstance(verdict, Allowed)
    assert verdict.edited is not None
    assert verdict.edited["amount"] == 5
    assert isinstance(verdict.edited["vendor"], dict)  # the turn stays the only copy
    (shown,) = act(app.history("T", as_=AGENT.name)).verdicts
    assert isinstance(shown, Allowed)
    assert shown.edited == {"vendor": "A", "amount": 5}


def test_a_foreign_id_is_stored_nowhere_but_in_the_users_turn(opened: Opened) -> None:
    opened.acting(("c1", "get_invoice", {"id": "INV-t2-1"}))
    for where, found in stored(opened.home):
        assert b"INV-t2-1" not in found.replace(QUESTION.encode(), b""), where


def test_the_agent_itself_cannot_approve(opened: Opened) -> None:
    app, _ = opened.acting(("c1", "pay", {"vendor": "A", "amount": 120}))
    still = app.resume("T", as_=AGENT.name, answers={FIRST: "approve"})
    assert still.status is Status.NEEDS_APPROVAL
    assert "may not approve" in still.pending[0].note
    assert opened.desk.effects == []
