"""A user of the errand: looks how the thread stands, and does what a sensible person does next."""

import time
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig

from evals.trials.protocol import THREAD, Order
from evals.trials.script import effects_in
from graph.app import App
from graph.conversation import Answer
from graph.result import DecisionShown, PendingCall, RunResult
from graph.stores.lease import ThreadBusy
from graph.stores.ownership import UnknownThread
from state.contract import Effect
from state.work import Status

_MOST_STEPS = 8
_PATIENCE_S = 0.1
_ON: RunnableConfig = {"configurable": {"thread_id": THREAD}}


class Restless(Exception):
    """The thread did not come to an end, whatever the user did."""


class User:
    """Asks, answers, and after a loss goes on or asks again. `steps` keeps what was done.

    `tell` is called with each event: `running` before each attempt, `busy` where another run holds the thread, `filed`
    with each decision.
    """

    def __init__(self, app: App, order: Order, tell: Callable[..., None]) -> None:
        self._app, self._order, self._errand, self._tell = app, order, order.errand, tell
        self._told_done = order.told_done
        self.steps: list[str] = []

    def until_done(self) -> RunResult:
        """Do what is to be done until the thread's turn is over. Raises Restless, and what the app raises."""
        for _ in range(_MOST_STEPS):
            result = self._look()
            if result is not None and result.pending:
                self._answer(result.pending)
            elif result is None or result.status is Status.FAILED:
                self._speak()
            else:
                return result
        raise Restless(", ".join(self.steps))

    def _look(self) -> RunResult | None:
        try:
            return self._app.result(THREAD, as_=self._errand.as_)
        except UnknownThread:
            return None

    def _speak(self) -> None:
        if self._order.goes_on and self._app.graph.get_state(_ON).tasks:
            self._do("went on", self._go_on)
            return
        text = self._errand.afterwards if self._told_done else self._errand.wish
        self._do(
            "asked what became of it" if self._told_done else "asked",
            lambda: self._app.ask(text, as_=self._errand.as_, thread=THREAD, on_decision=self._filed),
        )

    def _go_on(self) -> None:
        """Go on with the run where its last checkpoint is, in the name of whoever it ran for: an approver, perhaps."""
        verdicts: list[dict[str, Any]] = self._app.graph.get_state(_ON).values.get("verdicts") or []
        approved = [verdict["approval"]["by"] for verdict in verdicts if verdict.get("approval")]
        context: Any = {"principal": approved[-1] if approved else self._errand.as_}
        for _ in self._app.graph.stream(None, _ON, context=context, stream_mode="updates", durability="sync"):
            pass

    def _answer(self, pending: tuple[PendingCall, ...]) -> None:
        """Approve, unless a look into the world shows that the wish is fulfilled already."""
        done = effects_in(self._order.home / "domain" / self._order.file, self._errand)
        answer: Answer = "reject" if done else "approve"
        answers = {call.call_id: answer for call in pending}
        self._do(
            f"{answer} by {', '.join(call.rule for call in pending)}",
            lambda: self._app.resume(THREAD, as_=self._errand.approver, answers=answers, on_decision=self._filed),
        )

    def _do(self, step: str, run: Callable[[], object]) -> None:
        self.steps.append(step)
        while True:
            self._tell("running")
            try:
                run()
            except ThreadBusy:
                self._tell("busy")
                time.sleep(_PATIENCE_S)
            else:
                return

    def _filed(self, decision: DecisionShown) -> None:
        done = any(seen.effect is not Effect.READ and seen.outcome == "ok" for seen in decision.observations)
        self._told_done = self._told_done or done
        self._tell("filed", record=decision.record, done=done)
