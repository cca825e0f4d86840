"""A run that ends after it filed a record and before its checkpoint: asked anew, the thread has one branch."""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from graph.app import App
from graph.inspection.tree import tree
from graph.inspection.verify import verify
from state.record import DecisionRecord
from state.work import Status
from tests.desk import AGENT, POLICY, Desk
from tests.graph import order_desk as desks
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, OPENS, PLANS, message, order_desk

# Two turns before are one more than a request shows: what the third leaves to the handover is in question too.
SHORT = POLICY.model_copy(update={"history_turns": 1, "max_decisions": 4})
BEFORE = ("What is open?", "And now?")
CUT = AIMessage(content="Half an ans", response_metadata={"finish_reason": "length"})
LOOKS = message(("c1", "lookup", {"order": "A1"}))
WAITS = message(("c1", "pay", {"vendor": "v1", "amount": 40}))

OUTCOMES: dict[str, tuple[AIMessage, ...]] = {
    "answered": (ENDS,),
    "asked": (message(("a", "clarify", {"question": "Which order?"})),),
    "escalated": (message(("a", "escalate", {"reason": "Nobody knows."})),),
    "closed": (LOOKS, PLANS, PLANS),
    "model_failed": (CUT, CUT, CUT, CUT),
    "plan_requested": (PLANS,),
    "planned": (PLANS, OPENS),
    "observed": (LOOKS,),
    "denied": (message(("c1", "get_invoice", {"id": "INV-t2-1"})),),
    "abandoned": (PLANS, OPENS, WAITS),  # at the question after, while a person is asked
}
CLEAN = multiprocessing.get_context("forkserver")
CLEAN.set_forkserver_preload(["tests.graph.test_filed_again"])


class Gone(RuntimeError):
    """The run ends here, and its checkpoint is not written."""


def lost_after(app: App, outcome: str, dies: bool) -> None:
    """From now on a run ends right after it filed a record of this outcome, with its process where it dies."""
    append = app.ports.log.append

    def filed(record: DecisionRecord) -> str:
        name = append(record)
        if record.outcome == outcome:
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)
            raise Gone
        return name

    app.ports.log.append = filed  # type: ignore[method-assign]  # on this app alone


def opened(home: Path, lines: Sequence[AIMessage], database_url: str | None) -> App:
    desks.POLICY = SHORT  # type: ignore[attr-defined]  # the desk's policy, in this process
    return order_desk(home, Desk(), lines, database_url=database_url)


def is_gone(home: Path, database_url: str | None, outcome: str, dies: bool) -> None:
    """Two turns are over, and the run of the third ends, or is killed, before a checkpoint tells of its record."""
    with opened(home, (ENDS, ENDS, *OUTCOMES[outcome]), database_url) as app:
        app._run_lock._lease_s = 0.5  # it outlives who is killed
        for question in BEFORE:
            app.ask(question, as_=AGENT.name, thread="T")
        lost_after(app, outcome, dies)
        for question in ("Look at A1", "Never mind"):
            app.ask(question, as_=AGENT.name, thread="T")


def assert_in_one_branch(home: Path, database_url: str | None, outcome: str) -> None:
    """Asked anew, the thread has the records that it had, and the answer's."""
    with opened(home, (ENDS,), database_url) as app:
        names = app.ports.log.names("t1", "T")
        app._run_lock._lease_s = 0.5
        with app._run_lock.holding("T", wait_s=5):
            pass
        assert app.ask("What became of it?", as_=AGENT.name, thread="T").status is Status.ANSWERED
        filed = {one.record: one.outcome for one in tree(app, "T", as_=AGENT.name).records}
        assert list(filed.values())[-2:] == [outcome, "answered"]
        assert [*filed][:-1] == sorted(names, key=[*filed].index)
        found = verify(app, "T", as_=AGENT.name)
        assert (found.records, found.branches, found.faults) == (len(names) + 1, 1, ())
        assert not any(decision.edited for decision in app.records("T", as_=AGENT.name))


@on_both_engines
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_asked_anew_a_lap_whose_checkpoint_was_lost_is_filed_as_it_was(
    tmp_path: Path, database_url: str | None, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "POLICY", SHORT)
    with pytest.raises(Gone):
        is_gone(tmp_path, database_url, outcome, dies=False)
    assert_in_one_branch(tmp_path, database_url, outcome)


@on_both_engines
@pytest.mark.parametrize("outcome", ["answered", "abandoned"])
def test_so_it_is_after_a_kill(
    tmp_path: Path, database_url: str | None, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "POLICY", SHORT)
    child = CLEAN.Process(target=is_gone, args=(tmp_path, database_url, outcome, True))
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL
    assert_in_one_branch(tmp_path, database_url, outcome)
