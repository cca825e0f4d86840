"""What is approved is what was seen: arguments of a call that waits are whole and hide nothing, wherever it shows."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from rich.console import Console, RenderableType

from graph.app import App, open_app
from graph.cli.approving import asked_for
from graph.cli.ending import ending, pending_calls
from graph.cli.screen import Screen
from graph.cli.showing import decision_in_full
from graph.cli.spoken import Spoken
from graph.models.adapter import ChatModelAdapter
from graph.models.scripted import Scripted
from graph.result import RunResult
from state.contract import Approvers, Effect, OutputField
from state.tools import Tool, ToolContext, tool
from tests.desk import AGENT, LEAD, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.conftest import settings
from tests.graph.order_desk import ENDS, PLANS, TABLE, desk_domain, message

LONG = f"{'Dear customer, all is fine now. ' * 5}Please pay to the account XX99 of EVIL"
ADDRESS = "billing@acme.exa\u200bmple"
OPTIONS = {"quote": "turn", "bcc": "everybody@p\u0430y.example"}
Show = Callable[[App, RunResult], str]


class Options(BaseModel):
    """What looks like a stored quote, and is none."""

    model_config = ConfigDict(extra="forbid")
    quote: str
    bcc: str


def sending() -> Tool:
    @tool(
        effect=Effect.WRITE,
        roles=("agent",),
        confirm=True,
        output=(OutputField(name="saved", trust="system"),),
        approvers=Approvers(roles=("lead", "agent"), self_approval=True, decisions=("approve", "reject")),
    )
    def send_mail(context: ToolContext, *, to: str, text: str, options: Options) -> dict[str, Any]:
        """Send a mail."""
        return {"saved": True}

    return send_mail


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[tuple[App, RunResult]]:
    """A thread on which a mail waits for a person."""
    domain = desk_domain(tmp_path, Desk())
    specs = tuple(
        spec.model_copy(update={"tools": (*spec.tools, "send_mail")}) if spec.kind.value == "act" else spec
        for spec in TABLE.specs
    )
    domain = replace(domain, tools=(*domain.tools, sending()), table=TABLE.model_copy(update={"specs": specs}))
    opens = message(("p2", "plan", {"goal": "as asked", "steps": ["send_mail"]}))
    mail = message(("c", "send_mail", {"to": ADDRESS, "text": LONG, "options": OPTIONS}))
    model = ChatModelAdapter(Scripted(lines=[PLANS, opens, mail, ENDS, ENDS]), "scripted")
    with open_app(settings(tmp_path), clock=FakeClock(NOW), domain=domain, model=model, embedder=WordEmbedder()) as app:
        yield app, app.ask("Mail them", as_=AGENT.name, thread="T")


def printed(*parts: RenderableType) -> str:
    console = Console(width=80, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    return captured.get()


def of_turn(app: App, result: RunResult) -> str:
    return printed(ending(app, result, as_=AGENT.name, model=None))


def of_approver(app: App, result: RunResult) -> str:
    return printed(pending_calls(app, app.history("T", as_=LEAD.name), LEAD.name))


def of_decision(app: App, result: RunResult) -> str:
    return printed(decision_in_full(result.decisions[-1]))


def of_question(app: App, result: RunResult) -> str:
    """What `agent chat` shows before it asks."""
    screen = Screen(json=False)
    with screen.out.capture() as captured:
        asked_for(screen, app, result, result.pending, _Silent(screen))
    return captured.get()


class _Silent(Spoken):
    def next(self, prompt: str) -> str | None:
        return None


@pytest.mark.parametrize("show", [of_turn, of_approver, of_decision, of_question])
def test_every_argument_is_shown_whole_with_what_it_hides(waiting: tuple[App, RunResult], show: Show) -> None:
    told = " ".join(show(*waiting).split())
    assert re.sub(r"\s", "", json.dumps(LONG)) in re.sub(r"\s", "", told)
    assert r'"billing@acme.exa\u200bmple"' in told
    assert r'{"quote": "turn", "bcc": "everybody@p\u0430y.example"}' in told
    assert "words of the question" not in told


@pytest.mark.parametrize("show", [of_turn, of_approver, of_question])
def test_a_line_says_that_something_was_hidden(waiting: tuple[App, RunResult], show: Show) -> None:
    assert "beware 2 characters that are not seen, or are easily taken for others" in " ".join(show(*waiting).split())


def test_what_a_program_is_given_stays_as_it_is(waiting: tuple[App, RunResult]) -> None:
    (call,) = waiting[1].pending
    assert call.arguments == {"to": ADDRESS, "text": LONG, "options": OPTIONS}
