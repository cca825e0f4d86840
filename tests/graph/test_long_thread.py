"""A long thread costs what a short one does: what a checkpoint holds does not grow with the decisions behind it."""

from pathlib import Path

from langchain_core.runnables import RunnableConfig

from graph.app import App
from state.canonical import canonical_json
from state.work import Status
from tests.desk import AGENT, Desk
from tests.graph.order_desk import ENDS, message, order_desk

DECISIONS = 120
LOOKS = message(("c1", "lookup", {"order": "A1"}), ("c2", "get_invoice", {"id": "INV-9"}))
QUESTION = "Question {:04d}: where is order A1, and what of invoice INV-9?"
ON: RunnableConfig = {"configurable": {"thread_id": "T"}}


def held(app: App) -> tuple[int, int]:
    """The bytes of the task state as JSON, and of the newest checkpoint as its saver writes it."""
    saver = app.graph.checkpointer
    assert not isinstance(saver, bool | None)
    stored = saver.get_tuple(ON)
    assert stored is not None
    task = stored.checkpoint["channel_values"]["task"]
    return len(canonical_json(task)), len(saver.serde.dumps_typed(stored.checkpoint)[1])


def test_what_a_checkpoint_holds_is_the_same_at_decision_60_and_at_120(tmp_path: Path) -> None:
    found: dict[int, tuple[int, int]] = {}
    # Two calls a turn: whatever the task keeps of earlier work, it is full before decision 60.
    with order_desk(tmp_path, Desk(), [LOOKS, ENDS] * (DECISIONS // 2)) as app:
        for number in range(DECISIONS // 2):
            result = app.ask(QUESTION.format(number), as_=AGENT.name, thread="T")
            assert (result.status, len(result.decisions)) == (Status.ANSWERED, 2)
            found[2 * (number + 1)] = held(app)
        assert len(app.records("T", as_=AGENT.name)) == DECISIONS
    for half, full in zip(found[DECISIONS // 2], found[DECISIONS], strict=True):
        assert abs(full - half) < 0.05 * half
    # And it was not empty all along: a short thread holds less.
    assert found[4][0] < 0.5 * found[DECISIONS][0]


def test_what_turns_out_of_sight_did_is_told_in_each_later_request(tmp_path: Path) -> None:
    """C5, C8: the objective of each turn, what was changed, and what was refused, from the request alone."""
    plan = message(("p", "plan", {"goal": "pay back", "steps": ["refund"]}))
    pays = message(("c1", "refund", {"order": "A1", "amount": 5}))
    turns = [[plan, plan, pays, ENDS], *[[LOOKS, ENDS]] * 12]
    desk = Desk()
    with order_desk(tmp_path, desk, [reply for turn in turns for reply in turn]) as app:
        app.ask("Please pay 5 back on order A1", as_=AGENT.name, thread="T")
        assert len(desk.effects) == 1
        for number in range(12):
            app.ask(QUESTION.format(number), as_=AGENT.name, thread="T")
        decision = app.records("T", as_=AGENT.name)[-1]
        assert decision.manifest is not None
        texts = {
            item.item_id: app.ports.artifacts.get("t1", item.ref)
            for item in decision.manifest.items
            if item.item_id.startswith("handover")
        }
    (done,) = [line for line in texts["handover"].splitlines() if "refund" in line]
    assert done.startswith("- turn 1: refund, ok, toolrun://req-")
    assert "turn 4: Question 0002" in texts["handover-words"]
    assert decision.manifest.total_input_tokens <= decision.manifest.budget_tokens
