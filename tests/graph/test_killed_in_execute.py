"""kill -9 between every two steps of execute's path: after going on, effects are as the contract says (H01, L7)."""

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from sqlalchemy import MetaData, create_engine

from graph.app import App
from graph.stores.artifacts import SqlArtifacts
from graph.stores.ledger import SqlLedger
from graph.stores.quotas import SqlQuotas
from graph.stores.url import database_url as url_of
from state.contract import Effect, OutputField, Rate
from state.tools import Tool, ToolContext, tool
from tests.desk import AGENT, POLICY, Desk
from tests.fakes import NOW, FakeClock
from tests.graph import order_desk as desks
from tests.graph.conftest import on_both_engines
from tests.graph.order_desk import ENDS, PLANS, message, order_desk

AS_AGENT: Any = {"principal": AGENT.name}
ON: RunnableConfig = {"configurable": {"thread_id": "T"}}
REFUND = {"order": "A1", "amount": 100}
LINES = (PLANS, message(("p2", "plan", {"goal": "g", "steps": ["refund"]})), message(("c1", "refund", REFUND)))
STEPS = {SqlLedger: ("rows", "claim", "close"), SqlQuotas: ("take",), SqlArtifacts: ("get", "put", "name")}
KINDS = ("idempotent", "once", "read back")
RATED = POLICY.model_copy(update={"values": {"refunds": 1, "refund_limit": 200}})
# Children of a clean process: a fork of this one would inherit the locks of whatever tests ran before.
CLEAN = multiprocessing.get_context("forkserver")
# A sample; `make kills-execute` dies at each.
EVERY = bool(os.environ.get("EXPEDIENTE_EVERY_MOMENT"))
CLEAN.set_forkserver_preload(["tests.graph.test_killed_in_execute"])


class Dying:
    """Counts the moments before and after each step, and at the chosen one is gone without a word."""

    def __init__(self, at: int) -> None:
        self.at, self.moment, self.armed = at, 0, False

    def passing(self) -> None:
        if self.armed:
            self.moment += 1
            if self.moment == self.at:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            self.passing()
            result = plain(*given, **named)
            self.passing()
            return result

        return step


def desk(kind: str, done: Path, dying: Dying | None = None) -> Desk:
    """A desk whose refunds are lines in a file: one a run, with the key of the effect."""

    def write(context: ToolContext, order: str, amount: int) -> None:
        if kind != "idempotent" or context.idempotency_key not in done.read_text():
            with done.open("a") as file:
                file.write(f"{context.idempotency_key}\n")
        if dying is not None:
            dying.passing()

    def found(context: ToolContext, **arguments: Any) -> dict[str, Any] | None:
        return arguments if context.idempotency_key in done.read_text() else None

    @tool(
        effect=Effect.WRITE,
        roles=("agent",),
        output=(OutputField(name="order", trust="system"), OutputField(name="amount", trust="system")),
        idempotent=kind == "idempotent",
        rates=(Rate(policy_key="refunds", per="turn"),),
        read_back=found if kind == "read back" else None,
    )
    def refund(context: ToolContext, *, order: str, amount: int) -> dict[str, Any]:
        """Refund part of an order."""
        write(context, order, amount)
        return {"order": order, "amount": amount}

    made = Desk()
    made.tools["refund"] = Tool(refund.contract, refund.run, refund.read_back)
    made.contracts["refund"] = refund.contract
    return made


def dies(at: int, kind: str, home: Path, database_url: str | None) -> None:
    """In a process of its own: run to the effect, and die at a moment on its way. Exit 0 where there are no so many."""
    dying = Dying(at)
    desks.POLICY = RATED  # type: ignore[attr-defined]  # the desk's policy, in this process
    for owner, names in STEPS.items():
        for name in names:
            setattr(owner, name, dying.around(getattr(owner, name)))
    app = order_desk(home, desk(kind, home / "done", dying), LINES, FakeClock(NOW), database_url)
    app.identity.owner(app.identity.principal(AGENT.name), "T")
    given: Any = {"messages": [{"type": "human", "content": "Refund A1, 100"}]}
    app._run_lock._lease_s = 0.1  # it outlives who is killed
    laps = 0
    for update in app.graph.stream(given, ON, context=AS_AGENT, stream_mode="updates", durability="sync"):
        laps += "validate" in update
        dying.armed = laps == 3 and "execute" not in update
        if "execute" in update:
            os._exit(0)


def gone_on(kind: str, home: Path, database_url: str | None) -> App:
    """Another process's app on the same home, gone on with until the turn is over."""
    app = order_desk(home, desk(kind, home / "done"), (ENDS, ENDS), FakeClock(NOW), database_url)
    with app._run_lock.holding("T", wait_s=10):  # until the lease of what was killed is over
        pass
    app.graph.invoke(None, ON, context=AS_AGENT)
    return app


@on_both_engines
@pytest.mark.parametrize("kind", KINDS)
def test_wherever_execute_is_killed_an_effect_is_done_as_its_contract_says(
    tmp_path: Path, database_url: str | None, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "POLICY", RATED)
    ends: Counter[tuple[int, str]] = Counter()
    at, alive = 0, False
    while not alive:
        at += 1 if EVERY else 3 if database_url is None else 6  # on a server each trial costs more
        home = tmp_path / str(at)
        home.mkdir()
        (home / "done").touch()
        if database_url is not None:
            _emptied(database_url)
        child = CLEAN.Process(target=dies, args=(at, kind, home, database_url))
        child.start()
        child.join(60)
        assert child.exitcode in (0, -signal.SIGKILL), child.exitcode
        alive = child.exitcode == 0
        with gone_on(kind, home, database_url) as app:
            act = next(one for one in app.records("T", as_=AGENT.name) if one.kind == "act")
            (seen,) = act.observations
            effects = (home / "done").read_text().splitlines()
            assert len(effects) <= 1, (at, effects)
            ends[len(effects), seen.outcome] += 1
    assert at > 15  # moments, the last of which is never reached
    # Not known is said, never "done" of what was not done, nor "failed" of what was.
    told = {(1, "ok")}
    if kind != "idempotent":
        told |= {(0, "unknown")} | ({(1, "unknown")} if kind == "once" else set())
    assert set(ends) == told if EVERY else (1, "ok") in ends and set(ends) <= told


def _emptied(database_url: str) -> None:
    """The schema as new: each trial begins with nothing."""
    engine = create_engine(url_of(database_url))
    metadata = MetaData()
    metadata.reflect(engine)
    metadata.drop_all(engine)
    engine.dispose()
