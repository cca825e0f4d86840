"""Field report H03 on the real graph with real stores: edits, odd answers, and tools whose approval is bounded."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graph.admission import BadInput
from graph.app import App
from graph.conversation import NothingPending
from graph.inspection.replay import replay
from graph.inspection.verify import verify
from graph.result import PendingCall, RunResult
from state.verdict import Allowed, Denied
from state.work import Status
from tests.desk import AGENT, LEAD
from tests.graph.conftest import on_both_engines
from tests.graph.drafts_desk import BOSS, CALL, DRAFT, PAYMENT, QUESTION, Acting, Proposed, drafts_desk
from tests.graph.stored_bytes import stored

CONFIG: Any = {"configurable": {"thread_id": "T"}}


class Desk:
    """An app on which one call waits for a person."""

    def __init__(self, app: App, model: Acting, effects: list[tuple[Any, ...]]) -> None:
        self.app, self.model, self.effects = app, model, effects

    def pending(self) -> PendingCall:
        (call,) = self.app.result("T", as_=AGENT.name).pending
        return call

    def answered(self, answer: Any, as_: str = LEAD.name) -> RunResult:
        return self.app.resume("T", as_=as_, answers={CALL: answer})

    def still_waits(self, result: RunResult) -> str:
        """The note on the call, which still waits and was not done."""
        assert self.effects == []
        assert result.status is Status.NEEDS_APPROVAL
        assert self.pending().note == result.pending[0].note
        return result.pending[0].note


@pytest.fixture
def waiting(tmp_path: Path, database_url: str | None, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A desk whose model proposed DRAFT and goes on proposing it; a test may name other calls."""
    laps: tuple[Proposed, ...] = getattr(request, "param", (DRAFT,))
    with ExitStack() as stack:
        effects: list[tuple[Any, ...]] = []
        model = Acting(*laps)
        app = stack.enter_context(
            drafts_desk(tmp_path / "home", model, lambda *done: effects.append(done), database_url)
        )
        assert app.ask(QUESTION, as_=AGENT.name, thread="T").status is Status.NEEDS_APPROVAL
        yield Desk(app, model, effects)


proposing_payment = pytest.mark.parametrize("waiting", [(PAYMENT,)], indirect=True)


def edit(**arguments: Any) -> dict[str, Any]:
    return {"decision": "edit", "arguments": arguments}


@on_both_engines
def test_h03a_an_edit_to_another_tool_is_not_carried_out(waiting: Desk) -> None:
    note = waiting.still_waits(waiting.answered({**edit(amount=9, to="x"), "tool": "send_payment"}))
    assert (
        note == "invalid decision: an edit keeps the tool; reject and ask for the other one; the call is still pending"
    )


@proposing_payment
def test_h03a_a_tool_that_allows_only_a_no_takes_nothing_else(waiting: Desk) -> None:
    assert waiting.pending().decisions == ("reject",)
    for answer in ("approve", edit(amount=1, to="A")):
        note = waiting.still_waits(waiting.answered(answer))
        assert note == "invalid decision: for this tool only reject is allowed; the call is still pending"
    assert waiting.answered("reject").status is Status.ANSWERED
    assert waiting.effects == []


@on_both_engines
def test_h03b_an_edit_that_does_not_fit_the_schema_leaves_the_call_pending(waiting: Desk) -> None:
    note = waiting.still_waits(waiting.answered(edit(txt=1)))
    assert note.startswith(
        "invalid decision: rule arguments_invalid denies the call as edited: the arguments do not fit"
    )
    assert waiting.answered("approve").status is Status.ANSWERED
    assert waiting.effects == [("save_draft", "hola")]


ODD: dict[str, Any] = {
    "None": None,
    "nothing": {},
    "an empty text": "",
    "False": False,
    "a text": "yes please",
    "approved false": {"approved": "false"},
    "a list": ["approve"],
    "a number": 1,
    "zero": 0,
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_h03c_an_odd_answer_executes_nothing_and_the_thread_goes_on(waiting: Desk, odd: Any) -> None:
    """As the answer to the call, as all the answers, and past our door as LangGraph's own resume value."""
    assert waiting.still_waits(waiting.answered(odd)).startswith("invalid decision: answer {call_id: ")
    with pytest.raises(NothingPending, match=r"^invalid decision: got "):
        waiting.app.resume("T", as_=LEAD.name, answers=odd)
    try:
        waiting.app.graph.invoke(Command(resume=odd), CONFIG, context={"principal": LEAD.name})
    except BadInput:
        assert odd is None  # LangGraph would take it for a command without an answer
    assert waiting.effects == []
    assert waiting.pending().note.startswith("invalid decision: ")
    waiting.answered("approve")
    assert waiting.effects == [("save_draft", "hola")]


def _ring() -> Any:
    endless: dict[str, Any] = {}
    endless["in"] = endless
    return endless


def _deep() -> Any:
    made: Any = "end"
    for _ in range(5_000):
        made = [made]
    return made


UNSTORABLE = (edit(text=_ring()), edit(text=_deep()), edit(text=10**5000), edit(text=2**64), edit(text={5}), {5}, 2**64)


def test_h03c_an_answer_that_no_store_carries_is_refused_by_name_and_the_call_still_waits(waiting: Desk) -> None:
    for odd in (*UNSTORABLE, edit(text="half \ud800")):
        with pytest.raises(BadInput, match=r"^invalid decision: the answers .*; the call is still pending$"):
            waiting.answered(odd)
    assert waiting.pending().note == ""
    waiting.answered("approve")
    assert waiting.effects == [("save_draft", "hola")]


@on_both_engines
def test_h03d_an_edited_call_is_done_once_as_edited_and_both_forms_are_in_the_record(waiting: Desk) -> None:
    done = waiting.answered(edit(text="adiós"))
    assert [(effect.arguments, effect.state) for effect in done.effects] == [({"text": "adiós"}, "done")]
    assert waiting.effects == [("save_draft", "adiós")]
    told = waiting.app.history("T", as_=AGENT.name)
    act = next(decision for decision in told.decisions if decision.kind == "act")
    assert act.proposal is not None
    assert act.proposal["calls"] == [{"call_id": CALL, "tool": "save_draft", "arguments": {"text": "hola"}}]
    (verdict,) = act.verdicts
    assert isinstance(verdict, Allowed)
    assert verdict.edited == {"text": "adiós"}
    assert verdict.approval is not None
    assert (verdict.approval.decision, verdict.approval.by) == ("edit", LEAD.name)
    with pytest.raises(NothingPending, match="already decided: edited and approved by leo@t1 at 2026-07-15 09:30"):
        waiting.answered(edit(text="adiós"))
    assert waiting.effects == [("save_draft", "adiós")]
    assert verify(waiting.app, "T", as_=AGENT.name).sound


def test_h03d_the_model_is_told_that_the_call_was_edited_and_done(waiting: Desk) -> None:
    waiting.answered(edit(text="adiós"))
    assert (
        "call call-2-0 was edited by a person; as edited it was done; as it was proposed it"
        in waiting.model.requests[-1]
    )
    assert '{"tool": "save_draft", "arguments": {"text": "adiós"}}' in waiting.model.requests[-1]
    last = waiting.app.records("T", as_=AGENT.name)[-1]
    assert replay(waiting.app, "T", last.index, as_=AGENT.name).proved


@pytest.mark.parametrize("waiting", [(DRAFT, DRAFT)], indirect=True)
def test_h03d_the_call_as_it_was_is_refused_when_it_is_proposed_again(waiting: Desk) -> None:
    waiting.answered(edit(text="adiós"))
    acts = [decision for decision in waiting.app.records("T", as_=AGENT.name) if decision.kind == "act"]
    again = acts[1].verdicts[0]
    assert isinstance(again, Denied)
    assert again.rule == "edited_by_person"
    assert waiting.effects == [("save_draft", "adiós")]


@proposing_payment
def test_an_approver_whom_only_a_contract_names_sees_and_answers_the_call(waiting: Desk) -> None:
    """The policy's approvers are leads; a boss is named by the contract of send_payment alone."""
    (call,) = waiting.app.result("T", as_=BOSS.name).pending
    assert call.approver_roles == ("boss", "lead")
    done = waiting.answered("reject", as_=BOSS.name)
    assert done.status is Status.ANSWERED


def test_the_owner_sees_every_call_and_answers_none_that_does_not_ask_him(waiting: Desk) -> None:
    note = waiting.still_waits(waiting.answered("approve", as_=AGENT.name))
    assert note == "invalid decision: this principal may not approve the call; the call is still pending"


def test_an_edit_that_holds_a_secret_is_stored_nowhere(waiting: Desk, tmp_path: Path) -> None:
    secret = "sk-" + "Zx9" * 8
    with pytest.raises(BadInput, match=r"hold a secret.*the call is still pending$"):
        waiting.answered(edit(text=f"Use {secret} for it"))
    assert [name for name, held in stored(tmp_path / "home") if secret.encode() in held] == []
    waiting.answered("approve")
    assert waiting.effects == [("save_draft", "hola")]
