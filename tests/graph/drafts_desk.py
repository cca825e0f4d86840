"""The order desk with the two tools of field report H03, and a model that acts by what is to be decided."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph.app import App, open_app
from state.contract import Approvers, Effect, OutputField
from state.domain import Domain, Rule
from state.request import RawCall, Reply, Request
from state.run import Principal
from state.tools import Tool, ToolContext, tool
from state.work import LapOutcome
from tests.desk import AGENT, LEAD, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings
from tests.graph.order_desk import TABLE, desk_domain

OTHER_LEAD = LEAD.model_copy(update={"name": "lou@t1"})
BOSS = LEAD.model_copy(update={"name": "bo@t1", "roles": ("boss",)})
NEXT_STEP = Rule(name="next", outcomes=(LapOutcome.OBSERVED,), steps_left=True, then="next_step")
QUESTION = "Draft hola, and pay A 9"
CALL = "call-2-0"
Proposed = tuple[str, dict[str, Any]]
"""Tool and arguments."""

DRAFT: Proposed = ("save_draft", {"text": "hola"})
PAYMENT: Proposed = ("send_payment", {"amount": 9, "to": "A"})


class Acting:
    """Asks for a plan, opens the tools of its calls, makes those lap by lap, and reports. Keeps what it was sent."""

    name = "acting"

    def __init__(self, *laps: Proposed) -> None:
        self._laps = laps
        self.requests: list[str] = []

    def reply(self, request: Request) -> Reply:
        given: dict[str, Any]
        said = request.messages[1].content
        self.requests.append(said)
        if "kind: gather" in said:
            tool_name, given = "plan", {"goal": "as asked"}
        elif "kind: plan" in said:
            tool_name, given = "plan", {"goal": "as asked", "steps": [name for name, _ in self._laps]}
        elif "kind: act" in said:
            tool_name, given = self._laps[said.count("<observation ")]
        else:
            tool_name, given = "answer", {"text": "That is all.", "citations": []}
        call = RawCall(call_id=None, name=tool_name, arguments=json.dumps(given))
        return Reply(text="", calls=(call,), finish_reason="tool_calls", model=self.name)

    async def areply(self, request: Request) -> Reply:
        return self.reply(request)


def drafting(note: Callable[..., None]) -> tuple[Tool, Tool]:
    """The two tools; `note` is told each effect as it happens."""
    output = (OutputField(name="saved", trust="system"),)

    @tool(effect=Effect.WRITE, roles=("agent",), output=output, confirm=True)
    def save_draft(context: ToolContext, *, text: str) -> dict[str, Any]:
        """Save a draft."""
        note("save_draft", text)
        return {"saved": True}

    @tool(
        effect=Effect.WRITE,
        roles=("agent",),
        output=output,
        confirm=True,
        approvers=Approvers(roles=("boss", "lead"), decisions=("reject",)),
    )
    def send_payment(context: ToolContext, *, amount: int, to: str) -> dict[str, Any]:
        """Send a payment."""
        note("send_payment", to, amount)
        return {"saved": True}

    return save_draft, send_payment


def drafts_domain(home: Path, note: Callable[..., None]) -> Domain:
    """The desk with both tools beside its own."""
    people: dict[str, Principal] = {one.name: one for one in (AGENT, LEAD, OTHER_LEAD, BOSS)}
    specs = tuple(
        spec.model_copy(update={"tools": (*spec.tools, "save_draft", "send_payment")})
        if spec.kind.value == "act"
        else spec
        for spec in TABLE.specs
    )
    domain = desk_domain(home, Desk())
    return replace(
        domain,
        table=TABLE.model_copy(update={"specs": specs, "rules": (TABLE.rules[0], NEXT_STEP, *TABLE.rules[1:])}),
        tools=(*domain.tools, *drafting(note)),
        principals=lambda: tuple(people),
        principal=people.get,
    )


def drafts_desk(home: Path, model: Acting, note: Callable[..., None], database_url: str | None = None) -> App:
    """The app of that desk."""
    home.mkdir(exist_ok=True)
    return open_app(
        settings(home, database_url=database_url),
        clock=FakeClock(NOW),
        domain=drafts_domain(home, note),
        model=model,
        embedder=WordEmbedder(),
    )
