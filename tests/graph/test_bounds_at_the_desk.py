"""Limits, rates and what is not known to be done, as a model or a wait would get around them: on the real graph."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.errors import GraphRecursionError

from graph.app import App
from graph.conversation import Answer
from state.contract import FailureMode, Rate
from state.tools import ToolError
from state.work import Status
from tests.desk import AGENT, LEAD, Desk
from tests.fakes import NOW, FakeClock
from tests.graph.order_desk import ENDS, OPENS, PLANS, Call, message, order_desk
from tests.graph.test_gates_at_the_desk import FIRST, QUESTION, act

APPROVE: dict[str, Answer] = {FIRST: "approve"}
WINDOW_S = 60


class Bounded:
    """A desk whose turns open its effects and make one call each."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self.desk, self.clock = Desk(), FakeClock(NOW)
        self._home, self._stack = home, stack

    def opens(self, *calls: Call, wait: bool = False) -> App:
        ends = () if wait else (ENDS,)
        lines = [line for call in calls for line in (PLANS, OPENS, message(call), *ends)]
        return self.plays(*lines, *(ENDS for _ in calls))

    def plays(self, *lines: AIMessage) -> App:
        return self._stack.enter_context(order_desk(self._home, self.desk, lines, clock=self.clock))

    def parameters(self, tool: str, **changes: Any) -> dict[str, Any]:
        """The tool's schema with other properties, none of which has to be given."""
        given: Any = self.desk.contracts[tool].parameters
        return {**given, "properties": {**given["properties"], **changes}, "required": []}


@pytest.fixture
def bounded(tmp_path: Path) -> Iterator[Bounded]:
    (tmp_path / "home").mkdir()
    with ExitStack() as stack:
        yield Bounded(tmp_path / "home", stack)


def test_an_amount_that_is_left_out_is_bounded_as_the_default_that_the_tool_takes(bounded: Bounded) -> None:
    schema = bounded.parameters("refund", amount={"type": "number", "default": 500})
    bounded.desk.replace("refund", lambda context, order, amount=500: None, parameters=schema)
    app = bounded.opens(("c1", "refund", {"order": "A1"}))
    result = app.ask(QUESTION, as_=AGENT.name, thread="T")
    assert result.status is Status.NEEDS_APPROVAL
    (pending,) = result.pending
    assert (pending.reason, pending.arguments["amount"]) == ("argument amount is over the limit refund_limit", 500)


def test_an_id_that_is_left_out_is_looked_up_as_the_default_that_the_tool_takes(bounded: Bounded) -> None:
    schema = bounded.parameters("get_invoice", id={"type": "string", "default": "INV-t2-1"})
    bounded.desk.replace("get_invoice", bounded.desk.tools["get_invoice"].run, parameters=schema)
    result = bounded.opens(("c1", "get_invoice", {})).ask(QUESTION, as_=AGENT.name, thread="T")
    assert act(result).verdicts[0].rule == "resource_not_owned"


@pytest.mark.parametrize(
    ("amount", "schema"),
    [("900", {"type": "string"}), ([900], {"type": "array", "items": {"type": "number"}})],
)
def test_an_amount_that_is_no_number_is_not_beyond_its_limit(bounded: Bounded, amount: Any, schema: Any) -> None:
    parameters = bounded.parameters("refund", amount=schema)
    bounded.desk.replace("refund", bounded.desk.tools["refund"].run, parameters=parameters)
    app = bounded.opens(("c1", "refund", {"order": "A1", "amount": amount}))
    verdict = act(app.ask(QUESTION, as_=AGENT.name, thread="T")).verdicts[0]
    assert (verdict.verdict, verdict.rule) == ("denied", "over_limit")
    assert bounded.desk.effects == []


def test_a_rate_counts_the_time_before_the_call_and_not_that_in_which_it_waited(bounded: Bounded) -> None:
    rate = Rate(policy_key="refund_limit", per="actor", window_s=WINDOW_S, counts="cost")
    bounded.desk.replace("pay", bounded.desk.tools["pay"].run, rates=(rate,), cost=150)
    pays: Call = ("c1", "pay", {"vendor": "A", "amount": 120})
    app = bounded.opens(pays, pays, pays, wait=True)
    for thread in ("T", "U", "V"):
        app.ask(QUESTION, as_=AGENT.name, thread=thread)
    app.resume("T", as_=LEAD.name, answers=APPROVE)
    bounded.clock.advance(WINDOW_S + 1)
    app.resume("U", as_=LEAD.name, answers=APPROVE)
    app.resume("V", as_=LEAD.name, answers=APPROVE)  # right behind it
    assert len(bounded.desk.effects) == 2


IN_ALL = (Rate(policy_key="refund_limit", per="actor", window_s=86_400, counts="amount", parameter="amount"),)


def test_amounts_of_one_actor_are_bounded_in_all_on_whichever_threads(bounded: Bounded) -> None:
    bounded.desk.replace("refund", bounded.desk.tools["refund"].run, rates=IN_ALL)
    amounts = {"T": 150, "U": 100, "V": 50, "W": 1}
    app = bounded.opens(*(("c1", "refund", {"order": "A1", "amount": amount}) for amount in amounts.values()))
    found = [act(app.ask(QUESTION, as_=AGENT.name, thread=thread)).verdicts[0] for thread in amounts]
    assert [(one.verdict, one.rule) for one in found] == [
        ("allowed", "write_opened"),
        ("denied", "rate_exceeded"),
        ("allowed", "write_opened"),
        ("denied", "rate_exceeded"),
    ]
    assert [amount for _, _, amount in bounded.desk.effects] == ["150", "50"]


@pytest.mark.parametrize("first", [120, -120])
def test_amounts_of_one_proposal_add_up_whatever_their_signs(bounded: Bounded, first: int) -> None:
    bounded.desk.replace("pay", bounded.desk.tools["pay"].run, rates=IN_ALL)
    pays = message(("c1", "pay", {"vendor": "A", "amount": first}), ("c2", "pay", {"vendor": "B", "amount": 120}))
    app = bounded.plays(PLANS, OPENS, pays, ENDS)
    result = app.ask(QUESTION, as_=AGENT.name, thread="T")
    assert [(one.verdict, one.rule) for one in act(result).verdicts] == [
        ("needs_approval", "needs_confirmation"),
        ("denied", "rate_exceeded"),
    ]


@pytest.mark.parametrize("amount", ["120", None, True, [1], 2**60, 10**30])
def test_what_is_no_number_has_no_part_in_a_sum(bounded: Bounded, amount: Any) -> None:
    bounded.desk.replace("pay", bounded.desk.tools["pay"].run, rates=IN_ALL)
    result = bounded.opens(("c1", "pay", {"vendor": "A", "amount": amount})).ask(QUESTION, as_=AGENT.name, thread="T")
    assert result.status is not Status.NEEDS_APPROVAL
    assert [one.verdict for decision in result.decisions for one in decision.verdicts if decision.kind == "act"] in (
        [],  # a number that no store holds is no proposal
        ["denied"],
    )
    assert bounded.desk.effects == []


def test_an_edit_is_bounded_by_what_it_makes_of_the_amount(bounded: Bounded) -> None:
    bounded.desk.replace("pay", bounded.desk.tools["pay"].run, rates=IN_ALL)
    app = bounded.opens(("c1", "pay", {"vendor": "A", "amount": 120}), wait=True)
    app.ask(QUESTION, as_=AGENT.name, thread="T")
    for amount, status in ((201, Status.NEEDS_APPROVAL), (200, Status.ANSWERED)):
        edit: Answer = {"decision": "edit", "arguments": {"vendor": "A", "amount": amount}}
        assert app.resume("T", as_=LEAD.name, answers={FIRST: edit}).status is status
    assert bounded.desk.effects == [("pay", "A", "200")]


def test_an_amount_that_waits_is_bounded_by_what_was_taken_meanwhile(bounded: Bounded) -> None:
    bounded.desk.replace("pay", bounded.desk.tools["pay"].run, rates=IN_ALL)
    pays: Call = ("c1", "pay", {"vendor": "A", "amount": 120})
    app = bounded.opens(pays, pays, wait=True)
    for thread in ("T", "U"):
        assert app.ask(QUESTION, as_=AGENT.name, thread=thread).status is Status.NEEDS_APPROVAL
    for thread in ("T", "U"):
        app.resume(thread, as_=LEAD.name, answers=APPROVE)
    assert bounded.desk.effects == [("pay", "A", "120")]


def test_what_may_have_been_done_in_an_earlier_turn_is_not_done_in_other_words_unasked(bounded: Bounded) -> None:
    tried: list[float] = []

    def breaks(context: Any, order: str, amount: float) -> dict[str, Any]:
        tried.append(amount)
        raise ConnectionError

    bounded.desk.replace("refund", breaks)
    app = bounded.opens(
        ("c1", "refund", {"order": "A1", "amount": 50}), ("c1", "refund", {"order": "A1", "amount": 60})
    )
    first = app.ask(QUESTION, as_=AGENT.name, thread="T")
    assert [effect.state for effect in first.effects] == ["unknown"]
    again = app.ask(QUESTION, as_=AGENT.name, thread="T")
    assert again.status is Status.NEEDS_APPROVAL
    assert "was to do the same was begun before" in again.pending[0].reason
    assert tried == [50]


def test_what_a_tool_refused_is_shown_as_failed_and_not_as_done(bounded: Bounded) -> None:
    def refuses(context: Any, order: str, amount: float) -> dict[str, Any]:
        raise ToolError("order_closed", "the order is closed")

    bounded.desk.replace("refund", refuses, failures=(FailureMode(code="order_closed"),))
    app = bounded.opens(("c1", "refund", {"order": "A1", "amount": 50}))
    app.ask(QUESTION, as_=AGENT.name, thread="T")
    assert [(effect.tool, effect.state) for effect in app.history("T", as_=AGENT.name).effects] == [
        ("refund", "failed")
    ]


async def _events(app: App, **config: Any) -> None:
    given: Any = {"messages": [{"type": "human", "content": QUESTION}]}
    on: Any = {"configurable": {"thread_id": "T"}, **config}
    async with app.asynchronous() as graph:
        async for _ in graph.astream_events(given, on, context={"principal": AGENT.name}, version="v2"):
            pass


def test_a_stream_of_events_goes_as_far_as_the_policy_lets_it(bounded: Bounded) -> None:
    app = bounded.opens(("c1", "refund", {"order": "A1", "amount": 50}))
    asyncio.run(_events(app))
    assert bounded.desk.effects == [("refund", "A1", "50")]
    assert app.history("T", as_=AGENT.name).status is Status.ANSWERED


def test_whoever_begins_a_run_may_let_it_go_less_far(bounded: Bounded) -> None:
    app = bounded.opens(("c1", "refund", {"order": "A1", "amount": 50}))
    with pytest.raises(GraphRecursionError):
        asyncio.run(_events(app, recursion_limit=12))
    assert bounded.desk.effects == []
