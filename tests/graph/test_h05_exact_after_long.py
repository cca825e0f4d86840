"""H05: after sixty more turns identifiers, prohibitions and refusals are exact, from typed state and no summary."""

from pathlib import Path

from state.work import Status
from tests.desk import AGENT, LEAD, Desk
from tests.graph.order_desk import ENDS, PLANS, message, order_desk

FILLERS = 60
OPENS = message(("p2", "plan", {"goal": "pay back", "steps": ["refund"]}))
DEAR = message(("c1", "refund", {"order": "A1", "amount": 500}))


def test_h05_what_was_said_early_is_exact_in_a_late_request(tmp_path: Path) -> None:
    lines = [ENDS] * 5 + [PLANS, OPENS, DEAR, ENDS] + [ENDS] * FILLERS
    with order_desk(tmp_path, Desk(), lines) as app:

        def said(text: str) -> None:
            assert app.ask(text, as_=AGENT.name, thread="T").status is Status.ANSWERED

        said("Good morning.")
        said("It is about order RX-20417-B.")
        said("I moved.")
        said("Never ship it to Calle Roble 12.")
        said("Thank you.")
        asked = app.ask("Pay 500 back on order A1", as_=AGENT.name, thread="T")
        assert asked.status is Status.NEEDS_APPROVAL
        app.resume("T", as_=LEAD.name, answers={asked.pending[0].call_id: "reject"})
        for number in range(FILLERS):
            said(f"And {'one ' * (number % 7)}more thing about the weather")
        last = app.records("T", as_=AGENT.name)[-1]
        assert last.manifest is not None
        items = {item.item_id: item for item in last.manifest.items}
        texts = {name: app.ports.artifacts.get("t1", item.ref) for name, item in items.items()}
    shown = {name: text for name, text in texts.items() if name.startswith(("handover", "constraint"))}
    assert shown["handover-identifiers"].splitlines() == ["turn 2: RX-20417-B"]
    assert [text for name, text in shown.items() if name.startswith("constraint")] == [
        "Never ship it to Calle Roble 12."
    ]
    assert "- turn 6: refund, by rule rejected_by_person, by leo@t1" in shown["handover"].splitlines()
    # What stands for which turns, and the hash of what was replaced.
    handover = items["handover"]
    assert handover.version == f"turns 1 to {6 + FILLERS - 7}"
    assert [name for name in items if name.endswith("-answer")] == [f"turn-{n}-answer" for n in range(60, 66)]
    assert len(handover.provenance.derived_from) == 1
    assert "RX-20417-B" not in shown["handover-words"]  # a summary alone would have lost it
    assert last.manifest.total_input_tokens <= last.manifest.budget_tokens
