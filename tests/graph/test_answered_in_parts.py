"""Approvals that take their time, and what becomes of the calls beside them: on the real graph (H02, H03)."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from graph.app import App
from graph.conversation import Answer
from graph.result import RunResult
from state.labels import Argument
from state.verdict import Denied, NeedsApproval
from state.work import Status
from tests.desk import AGENT, LEAD, POLICY, Desk
from tests.fakes import NOW, FakeClock
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, OPENS, PLANS, Call, message, order_desk
from tests.graph.test_gates_at_the_desk import FIRST, QUESTION, SECOND, THIRD, act

OVER_LONG_S = 1_200  # within the time of an approval, beyond that of a verdict
PAY_A: Call = ("c1", "pay", {"vendor": "A", "amount": 120})
PAY_B: Call = ("c2", "pay", {"vendor": "B", "amount": 75})
LOOK: Call = ("c3", "lookup", {"order": "A2"})
CONTROL = {"vendor": Argument(role="target"), "amount": Argument(role="amount")}
REPEATED = "an effect of this turn did the same"


class Waiting:
    """A turn whose calls wait, on a desk whose clock a test moves."""

    def __init__(self, home: Path, stack: ExitStack, database_url: str | None) -> None:
        self.desk, self.clock = Desk(), FakeClock(NOW)
        self._home, self._stack, self._url = home, stack, database_url

    def ask(self, *calls: Call) -> RunResult:
        lines = (PLANS, OPENS, message(*calls), ENDS, ENDS)
        desk = order_desk(self._home, self.desk, lines, clock=self.clock, database_url=self._url)
        self.app: App = self._stack.enter_context(desk)
        return self.app.ask(QUESTION, as_=AGENT.name, thread="T")

    def answer(self, **answers: Answer) -> RunResult:
        ids = {"first": FIRST, "second": SECOND, "third": THIRD}
        return self.app.resume("T", as_=LEAD.name, answers={ids[name]: given for name, given in answers.items()})

    def outcomes(self) -> dict[str, str]:
        return {seen.call_id: seen.outcome for seen in act(self.app.history("T", as_=AGENT.name)).observations}

    def verdict(self, call_id: str) -> Any:
        verdicts = act(self.app.history("T", as_=AGENT.name)).verdicts
        return next(verdict for verdict in verdicts if verdict.call_id == call_id)


@pytest.fixture
def waiting(tmp_path: Path, database_url: str | None) -> Iterator[Waiting]:
    (tmp_path / "home").mkdir()
    with ExitStack() as stack:
        yield Waiting(tmp_path / "home", stack, database_url)


def edited(vendor: str, amount: int) -> Answer:
    return {"decision": "edit", "arguments": {"vendor": vendor, "amount": amount}}


@on_both_engines
def test_a_read_beside_a_call_that_waited_long_is_made_when_the_answer_comes(waiting: Waiting) -> None:
    waiting.ask(PAY_A, PAY_B, LOOK)
    waiting.clock.advance(OVER_LONG_S)
    waiting.answer(first="approve", second="reject")
    assert waiting.outcomes() == {FIRST: "ok", THIRD: "ok"}
    assert waiting.desk.read == [("t1", "A2")]


def test_what_one_person_approved_is_done_though_another_answered_much_later(waiting: Waiting) -> None:
    waiting.ask(PAY_A, PAY_B)
    waiting.answer(first="approve")
    waiting.clock.advance(OVER_LONG_S)
    waiting.answer(second="approve")
    assert waiting.desk.effects == [("pay", "A", "120"), ("pay", "B", "75")]


def test_an_approval_whose_time_ended_while_a_sibling_waited_is_void(waiting: Waiting) -> None:
    waiting.ask(PAY_A, PAY_B)
    waiting.answer(first="approve")
    waiting.clock.advance(POLICY.approval_ttl_s)
    waiting.answer(second="approve")
    assert waiting.desk.effects == []
    assert [waiting.verdict(one).rule for one in (FIRST, SECOND)] == ["approval_expired", "approval_expired"]


def test_what_was_allowed_unasked_is_denied_where_it_is_not_allowed_any_more_when_the_answer_comes(
    waiting: Waiting,
) -> None:
    waiting.desk.replace("refund", waiting.desk.tools["refund"].run, requires=("desk_open",))
    waiting.ask(("c1", "refund", {"order": "A1", "amount": 50}), PAY_B)
    waiting.desk.open = False
    waiting.answer(second="approve")
    assert waiting.desk.effects == [("pay", "B", "75")]
    assert waiting.verdict(FIRST).rule == "precondition_unmet"


def test_what_a_person_approved_is_denied_where_it_is_not_allowed_any_more_when_its_sibling_is_answered(
    waiting: Waiting,
) -> None:
    waiting.desk.replace("pay", waiting.desk.tools["pay"].run, requires=("desk_open",))
    waiting.ask(PAY_A, PAY_B)
    waiting.answer(first="approve")
    waiting.desk.open = False
    waiting.answer(second="approve")
    assert waiting.desk.effects == []
    denied = waiting.verdict(FIRST)
    assert (denied.rule, denied.approval.by) == ("precondition_unmet", LEAD.name)


@on_both_engines
@pytest.mark.parametrize("together", [True, False])
def test_a_call_that_is_edited_into_its_sibling_makes_that_one_ask_again(waiting: Waiting, together: bool) -> None:
    waiting.desk.replace("pay", waiting.desk.tools["pay"].run, reversible=False, arguments=CONTROL)
    waiting.ask(PAY_A, PAY_B)
    if together:
        waiting.answer(first=edited("B", 75), second="approve")
    else:
        waiting.answer(second="approve")
        waiting.answer(first=edited("B", 75))
    assert waiting.desk.effects == []
    result = waiting.app.result("T", as_=AGENT.name)
    assert result.status is Status.NEEDS_APPROVAL
    assert [call.call_id for call in result.pending] == [SECOND]
    assert REPEATED in result.pending[0].reason
    waiting.answer(second="reject")
    assert waiting.desk.effects == [("pay", "B", "75")]


def test_an_edit_that_repeats_the_call_before_it_is_not_taken_and_says_so(waiting: Waiting) -> None:
    waiting.desk.replace("pay", waiting.desk.tools["pay"].run, reversible=False, arguments=CONTROL)
    waiting.ask(PAY_A, PAY_B)
    waiting.answer(first="approve", second=edited("A", 120))
    (pending,) = waiting.app.result("T", as_=AGENT.name).pending
    assert (pending.call_id, REPEATED in pending.note) == (SECOND, True)
    assert waiting.desk.effects == []


def test_an_edit_to_what_a_person_rejected_in_this_turn_is_not_taken(waiting: Waiting) -> None:
    waiting.desk.replace("pay", waiting.desk.tools["pay"].run, arguments=CONTROL)
    waiting.ask(PAY_A, PAY_B)
    waiting.answer(first="reject", second=edited("A", 120))
    assert waiting.desk.effects == []
    assert isinstance(waiting.verdict(FIRST), Denied)
    assert isinstance(waiting.verdict(SECOND), NeedsApproval)


def test_a_rejected_call_keeps_where_its_arguments_came_from(waiting: Waiting) -> None:
    waiting.desk.replace("pay", waiting.desk.tools["pay"].run, arguments=CONTROL)
    waiting.ask(PAY_A)
    waiting.answer(first="reject")
    assert {one.argument for one in waiting.verdict(FIRST).trace} == {"vendor", "amount"}
