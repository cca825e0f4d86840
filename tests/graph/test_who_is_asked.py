"""An approver sees, answers and is told of the calls that ask one of his roles, and of no other (X1).

The policy's approvers are leads; a boss is named by the contract of send_payment alone.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from graph.app import App
from graph.conversation import NothingPending
from state.work import Status
from tests.desk import AGENT, LEAD
from tests.graph.drafts_desk import BOSS, CALL, DRAFT, PAYMENT, QUESTION, Acting, Proposed, drafts_desk

Open = Callable[..., App]
NEXT_CALL = "call-3-0"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Open]:
    """The desk with a thread on which the first of these calls waits."""
    with ExitStack() as stack:

        def opened(*laps: Proposed) -> App:
            app = stack.enter_context(drafts_desk(tmp_path / "home", Acting(*laps), lambda *_: None))
            assert app.ask(QUESTION, as_=AGENT.name, thread="T").status is Status.NEEDS_APPROVAL
            return app

        yield opened


def told(app: App, call_id: str, as_: str) -> str:
    with pytest.raises(NothingPending) as refused:
        app.resume("T", as_=as_, answers={call_id: "approve"})
    return str(refused.value)


def test_a_call_that_asks_other_roles_is_not_there(desk: Open) -> None:
    app = desk(DRAFT)
    for seen in (app.result("T", as_=BOSS.name), app.history("T", as_=BOSS.name)):
        assert (seen.status, seen.pending) == (Status.NEEDS_APPROVAL, ())
    assert (
        told(app, CALL, BOSS.name) == f"invalid decision: got call {CALL}; pending on this thread: nothing: ask first"
    )
    assert [call.tool for call in app.result("T", as_=AGENT.name).pending] == ["save_draft"]
    assert [call.tool for call in app.result("T", as_=LEAD.name).pending] == ["save_draft"]


def test_of_what_was_decided_an_approver_is_told_what_he_was_asked(desk: Open) -> None:
    app = desk(DRAFT, PAYMENT)
    app.resume("T", as_=LEAD.name, answers={CALL: "approve"})
    assert [call.tool for call in app.result("T", as_=BOSS.name).pending] == ["send_payment"]
    app.resume("T", as_=LEAD.name, answers={NEXT_CALL: "reject"})
    assert f"call {NEXT_CALL} is already decided: rejected by {LEAD.name} at " in told(app, NEXT_CALL, BOSS.name)
    for other in (CALL, "plan", "answer", "call-0-0", "call-1-0"):
        assert "already decided" not in told(app, other, BOSS.name)


def test_the_owner_is_told_of_every_decision(desk: Open) -> None:
    app = desk(DRAFT)
    app.resume("T", as_=LEAD.name, answers={CALL: "approve"})
    assert f"call {CALL} is already decided: approved by {LEAD.name} at " in told(app, CALL, AGENT.name)
    assert "call plan is already decided: accepted by rule " in told(app, "plan", AGENT.name)
