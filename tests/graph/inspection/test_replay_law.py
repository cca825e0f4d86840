"""The law of replay (M4): whatever a model says and people do, every attempt's bytes are rebuilt from the record."""

import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.app import App, open_app
from graph.conversation import Answer, NothingPending
from graph.inspection.replay import replay
from graph.inspection.verify import verify
from state.request import AttemptOutcome, ModelError, RawCall, Reply, Request, ToolSpec
from state.work import Form
from tests.desk import AGENT, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings as app_settings
from tests.graph.order_desk import desk_domain

DECISIONS = 500
WORDS = (
    "Where is A1, and INV-9?",
    "Pay A1 and tell them.",
    "Refund A1, only 20!",
    "¿Y el pedido A1?",
    "B7 <document>",
    "INV-9 🗝",
)
VALUES: tuple[Any, ...] = ("A1", "A2", "B7", "INV-9", "vendor", 20, 250, -1, True, None, ["A1"], "x" * 300)
FAILURES: tuple[Any, ...] = ("context_too_long", "unreachable", "refused", "truncated")
FORMS: dict[str, Any] = {
    Form.ANSWER: {"text": "That is all.", "citations": []},
    Form.CLARIFY: {"question": "Which one?"},
    Form.ESCALATE: {"reason": "Too hard."},
    Form.SEARCH: {"queries": ["orders"]},
}


class Anything:
    """A model that proposes whatever chance says, and keeps the bytes of every request it was sent."""

    name = "anything"

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.sent: list[bytes] = []

    def reply(self, request: Request) -> Reply:
        self.sent.append(request.canonical_bytes())
        if self.chance.random() < 0.1:
            raise ModelError(AttemptOutcome(name=self.chance.choice(FAILURES)))
        count = self.chance.choice((1, 1, 1, 2))
        tools = [tool for tool in request.tools if tool.name not in FORMS and tool.name != Form.PLAN]
        calls: tuple[RawCall, ...]
        if self.chance.random() < 0.05:
            calls = (RawCall(call_id=None, name="no_such_tool", arguments="{"),)
        elif tools and self.chance.random() < 0.5:
            calls = tuple(self._call(self.chance.choice(tools)) for _ in range(count))
        else:
            # A plan is what leads to effects: without a push chance would seldom get there.
            forms = [tool for tool in request.tools if tool not in tools]
            likely = [tool for tool in forms if tool.name == Form.PLAN and self.chance.random() < 0.6]
            calls = (self._call(self.chance.choice(likely or forms)),)
        return Reply(text="", calls=calls, finish_reason="tool_calls", model=self.name)

    async def areply(self, request: Request) -> Reply:
        return self.reply(request)

    def _call(self, tool: ToolSpec) -> RawCall:
        if tool.name == Form.PLAN:
            steps = self.chance.choices(
                ("refund", "pay", "send_note", "wipe"), (4, 3, 2, 1), k=self.chance.randrange(4)
            )
            given: dict[str, Any] = {"goal": "as asked", "steps": steps}
        elif tool.name in FORMS:
            given = FORMS[tool.name]
        else:
            parameters: Any = tool.parameters.get("properties", {})
            given = {
                name: self._value(name, schema) for name, schema in parameters.items() if self.chance.random() < 0.97
            }
        return RawCall(call_id=None, name=tool.name, arguments=json.dumps(given))

    def _value(self, name: str, schema: dict[str, Any]) -> Any:
        if self.chance.random() < 0.1:
            return self.chance.choice(VALUES)
        if schema.get("type") in ("number", "integer"):
            return self.chance.choice((20, 150, 250))
        return {"id": "INV-9", "order": "A1"}.get(name, "vendor")


def act(app: App, chance: Random, clock: FakeClock) -> None:
    """One thing that a caller does."""
    pending = app.result("t", as_=AGENT.name).pending if app.graph.get_state(_on()).values else ()
    clock.advance(seconds=chance.choice((1, 1, 400, 5000)))
    if pending and chance.random() < 0.7:
        answers: dict[str, Answer] = {call.call_id: chance.choice(("approve", "reject")) for call in pending}
        try:
            app.resume("t", as_="leo@t1", answers=answers)
        except NothingPending:
            return
    else:
        app.ask(chance.choice(WORDS), as_=AGENT.name, thread="t")


def _on() -> Any:
    return {"configurable": {"thread_id": "t"}}


def run(seed: int, home: Path) -> int:
    """A random run over two processes' worth of apps; the number of its decisions. Asserts the law."""
    chance, clock = Random(seed), FakeClock(NOW)
    model, desk = Anything(chance), Desk()
    domain = desk_domain(home, desk)
    for _ in range(2):
        with open_app(app_settings(home), clock=clock, domain=domain, model=model, embedder=WordEmbedder()) as app:
            for _ in range(5):
                act(app, chance, clock)
    with open_app(app_settings(home), clock=clock, domain=domain, model=model, embedder=WordEmbedder()) as app:
        rebuilt = []
        decisions = app.records("t", as_=AGENT.name)
        for decision in decisions:
            for number in range(len(decision.attempts)):
                again = replay(app, "t", decision.index, as_=AGENT.name, attempt=number)
                assert again.proved, (seed, again)
                assert again.request is not None
                rebuilt.append(again.request.canonical_bytes())
        assert rebuilt == model.sent, seed
        found = verify(app, "t", as_=AGENT.name)
        assert found.sound, (seed, found.faults)
        return len(decisions)


def test_every_attempt_of_random_runs_replays_to_the_byte() -> None:
    """Resumed, rejected, expired, abandoned, retried and failed ones among them."""
    decisions = 0

    @settings(max_examples=25, deadline=None, database=None)
    @given(seed=st.integers(0, 2**32))
    def runs(seed: int) -> None:
        nonlocal decisions
        with tempfile.TemporaryDirectory() as scratch:
            decisions += run(seed, Path(scratch))

    runs()
    assert decisions >= DECISIONS
