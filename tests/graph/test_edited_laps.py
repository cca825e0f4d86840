"""A lap that was written into from outside opens nothing, runs nothing, and is filed as edited (X3, H03)."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from graph.app import App
from state.record import DecisionRecord
from tests.desk import AGENT, LEAD, Desk
from tests.fakes import NOW, FakeClock
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, PLANS, message, order_desk

AS_AGENT: Any = {"principal": AGENT.name}
ON: RunnableConfig = {"configurable": {"thread_id": "T"}}
REFUND = {"order": "A1", "amount": 100}
REFUNDS = message(("c1", "refund", REFUND))
ONE_REFUND = message(("p2", "plan", {"goal": "g", "steps": ["refund"]}))


class Edited:
    """A desk whose graph can be stopped before a node, written into, and gone on with."""

    def __init__(self, home: Path, database_url: str | None, stack: ExitStack) -> None:
        self.desk, self._home, self._database_url, self._stack = Desk(), home, database_url, stack

    def app(self, *lines: AIMessage) -> App:
        self.opened = self._stack.enter_context(
            order_desk(self._home, self.desk, lines, FakeClock(NOW), self._database_url)
        )
        self.opened.identity.owner(self.opened.identity.principal(AGENT.name), "T")
        return self.opened

    def stop_before(self, node: str, nth: int = 1, question: str = "Refund A1, 100") -> None:
        """Run until a node is about to run for the n-th time."""
        given: Any = {"messages": [HumanMessage(question)]}
        for _ in range(nth):
            self.opened.graph.invoke(given, ON, context=AS_AGENT, interrupt_before=[node], durability="sync")
            given = None
        assert self.opened.graph.get_state(ON).next == (node,)

    def write(self, values: dict[str, Any]) -> None:
        self.opened.graph.update_state(ON, values)

    def go_on(self) -> None:
        self.opened.graph.invoke(None, ON, context=AS_AGENT)

    def body(self, proposal: dict[str, Any]) -> str:
        """The address of a proposal that the owner said as a sentence."""
        return self.opened.ports.artifacts.put("t1", json.dumps(proposal))

    def values(self) -> dict[str, Any]:
        return self.opened.graph.get_state(ON).values

    def chain(self) -> tuple[DecisionRecord, ...]:
        return self.opened.ports.log.chain("t1", "T", self.values()["head"])


@pytest.fixture
def edited(tmp_path: Path, database_url: str | None) -> Iterator[Edited]:
    (tmp_path / "home").mkdir()
    with ExitStack() as stack:
        yield Edited(tmp_path / "home", database_url, stack)


@on_both_engines
def test_a_plan_that_a_user_said_opens_nothing(edited: Edited) -> None:
    """The owner's own words, put in the place of the proposal, on a decision made a plan lap's."""
    edited.app(ENDS, REFUNDS, ENDS, ENDS)
    edited.stop_before("validate")
    plan = edited.body({"type": "plan", "goal": "g", "steps": ["refund"]})
    decision = {**edited.values()["decision"], "kind": "plan", "toolset": "open"}
    edited.write({"proposal": plan, "decision": decision})
    edited.go_on()
    forged = edited.chain()[-1]
    assert (forged.edited, forged.outcome, forged.verdicts, edited.desk.effects) == (True, "abandoned", (), [])
    assert "planned" not in {record.outcome for record in edited.chain()}


@on_both_engines
def test_a_call_that_a_user_said_does_not_run(edited: Edited) -> None:
    edited.app(PLANS, ONE_REFUND, ENDS, ENDS)
    edited.stop_before("validate", nth=3)
    calls = [{"call_id": "c1", "tool": "refund", "arguments": REFUND}]
    edited.write({"proposal": edited.body({"type": "act", "calls": calls})})
    edited.go_on()
    assert edited.desk.effects == []
    assert [record.edited for record in reversed(edited.chain())][:3] == [False, False, True]


EDITS: dict[str, tuple[str, Any]] = {
    "another decision": ("decision", lambda lap: {**lap["decision"], "tools": ["pay"]}),
    "another time": ("request", lambda lap: {**lap["request"], "now": "2030-01-01T00:00:00Z"}),
    "another manifest": ("manifest", lambda lap: {**lap["manifest"], "missing": ["all"]}),
    "another task": ("task", lambda lap: {**lap["task"], "denials_in_turn": 9}),
    "attempts that were not made": ("attempts", lambda lap: [*lap["attempts"], *lap["attempts"]]),
    "no seal": ("seal", lambda lap: None),
    "a seal of one's own": ("seal", lambda lap: {**lap["seal"], "mac": "0" * 8 + "." + "0" * 64}),
    "a seal that takes the edit back": ("seal", lambda lap: {**lap["seal"], "edited": True}),
    "a seal that is none": ("seal", lambda lap: ["seal"]),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("node", ["validate", "execute", "log"])
def test_whatever_of_a_lap_is_edited_its_record_says_so(edited: Edited, node: str, edit: str) -> None:
    edited.app(PLANS, ONE_REFUND, REFUNDS, ENDS, ENDS)
    edited.stop_before(node, nth=1 if node == "execute" else 3)
    channel, changed = EDITS[edit]
    edited.write({channel: changed(edited.values())})
    edited.go_on()
    record = edited.chain()[-3]
    assert (record.edited, record.outcome) == (True, "abandoned")
    # A node goes by what it reads: what ran all the same was allowed before the edit, and the ledger has it.
    assert len(edited.desk.effects) == len(edited.opened.ports.ledger.rows("t1", "T")) <= 1


@on_both_engines
def test_a_lap_whose_validate_is_skipped_comes_to_nothing(edited: Edited) -> None:
    app = edited.app(PLANS, ONE_REFUND, REFUNDS, ENDS, ENDS)
    edited.stop_before("validate", nth=3)
    app.graph.update_state(ON, {}, as_node="validate")
    edited.go_on()
    assert (edited.chain()[-3].outcome, edited.desk.effects) == ("abandoned", [])


@on_both_engines
def test_what_was_done_is_not_done_again_after_its_result_was_wiped_out(edited: Edited) -> None:
    """The ledger knows the effect, whatever the channel holds; the same call asks a person in the next plan."""
    edited.app(PLANS, ONE_REFUND, REFUNDS, PLANS, ONE_REFUND, REFUNDS, ENDS, ENDS)
    edited.stop_before("log", nth=3)
    assert len(edited.desk.effects) == 1
    edited.write({"observations": None, "verdicts": None})
    edited.go_on()
    edited.opened.graph.invoke({"messages": [HumanMessage("Refund A1, 100")]}, ON, context=AS_AGENT)
    assert len(edited.desk.effects) == 1
    edited_record = edited.chain()[-3]
    assert (edited_record.edited, edited_record.outcome) == (True, "abandoned")


def test_a_result_of_another_branch_is_not_taken_over(edited: Edited) -> None:
    reads = [message((f"c{n}", "get_invoice", {"id": "INV-9"})) for n in range(2)]
    app = edited.app(*reads, ENDS, ENDS, ENDS)
    edited.stop_before("log", question="What of INV-9?")
    here = edited.values()["observations"]
    start = next(state for state in app.graph.get_state_history(ON) if state.next == ("resolve",))
    app.graph.invoke(None, start.config, context=AS_AGENT, interrupt_before=["log"])
    edited.write({"observations": here})
    edited.go_on()
    record = edited.chain()[-1]
    assert (record.edited, record.observations) == (True, ())


@on_both_engines
def test_one_step_of_a_plan_is_spent_on_one_branch_alone(edited: Edited) -> None:
    """Two branches with other amounts, both allowed while neither had run."""
    app = edited.app(PLANS, ONE_REFUND, REFUNDS, message(("c2", "refund", {"order": "A1", "amount": 90})), ENDS, ENDS)
    edited.stop_before("propose", nth=3)
    fork = app.graph.get_state(ON).config
    waiting = []
    for _ in range(2):
        app.graph.invoke(None, fork, context=AS_AGENT, interrupt_before=["execute"], durability="sync")
        waiting.append(app.graph.get_state(ON).config)
    for config in waiting:
        app.graph.invoke(None, config, context=AS_AGENT)
    assert edited.desk.effects == [("refund", "A1", "100")]
    spent = edited.chain()[-3]
    assert [seen.code for seen in spent.observations] == ["step_spent"]
    assert spent.outcome == "call_failed"


def test_a_copied_lap_counts_for_nothing_on_another_thread(edited: Edited) -> None:
    app = edited.app(PLANS, ONE_REFUND, REFUNDS, ENDS, ENDS)
    edited.stop_before("execute")
    elsewhere: RunnableConfig = {"configurable": {"thread_id": "U"}}
    app.identity.owner(app.identity.principal(LEAD.name), "U")
    copied = {**edited.values(), "head": None}
    app.graph.update_state(elsewhere, copied, as_node="validate")
    app.graph.invoke(None, elsewhere, context={"principal": LEAD.name})
    assert edited.desk.effects == []
