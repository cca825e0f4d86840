"""The law of the gates: whatever a model proposes, people answer and somebody writes into the state, no effect happens
that the policy does not allow, and none twice for one approval (L6, X3, X10).

`python -m tests.graph.gate_law --runs 10000 --out FILE` tells random stories by their seeds, and goes on where the
file ends. The judge knows what the model planned and what the lead approved, and looks at what the desk really did.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command
from pydantic import JsonValue

from graph.app import App, open_app
from graph.faults import explained
from tests.desk import AGENT, LEAD, ROWS, Desk
from tests.fakes import NOW, FakeClock
from tests.fakes_retrieval import WordEmbedder
from tests.graph.anything import Anything
from tests.graph.conftest import settings
from tests.graph.order_desk import desk_domain

WORDS = ("Refund A1, only 20!", "Pay A1 and tell them.", "Where is A1, and INV-9?", "Refund A1 and A2", "B7")
ODD: tuple[Any, ...] = (None, {}, "", False, 0, "yes please", {"approved": "false"}, ["approve"], [])
NODES = ("resolve", "plan", "retrieve", "pack", "propose", "validate", "execute", "log")
LIMIT = 200


class Story:
    """One thread on a shared app, told by chance. `told` counts what was done, `approved` the lead's consents."""

    def __init__(self, app: App, desk: Desk, model: Anything, clock: FakeClock, seed: int) -> None:
        self.app, self.desk, self.model, self.clock = app, desk, model, clock
        self.chance = model.chance = Random(seed)
        model.planned = Counter()
        self.thread = f"story-{seed}"
        self.on: RunnableConfig = {"configurable": {"thread_id": self.thread}}
        self.began = len(desk.effects)
        self.approved: set[tuple[str, str]] = set()
        self.told: Counter[str] = Counter()
        self.commands: list[tuple[Any, str]] = []

    def tell(self, length: int = 8) -> list[str]:
        """Tell the story; what broke the law, if anything did."""
        self._try("ask", self._ask)
        for _ in range(length):
            what = self.chance.choice(("answer", "answer", "answer", "odd", "ask", "fork", "edit", "edit", "again"))
            self.clock.advance(seconds=self.chance.choice((1, 1, 1, 400, 5000)))
            self._try(what, getattr(self, f"_{what}"))
        return [*self._broken()]

    def _try(self, what: str, act: Any) -> None:
        self.told[what] += 1
        try:
            act()
        except Exception as error:
            if explained(error) is None and type(error).__name__ not in ("ValidationError", "InvalidUpdateError"):
                raise

    def _ask(self) -> None:
        self.app.ask(self.chance.choice(WORDS), as_=AGENT.name, thread=self.thread)

    def _pending(self) -> list[tuple[str, dict[str, Any]]]:
        state = self.app.graph.get_state(self.on)
        return [(one.id, call) for one in state.interrupts for call in one.value["approvals"]]

    def _answer(self) -> None:
        """Approve, edit or reject what waits, as the lead or as the agent, in one answer or call by call."""
        pending = self._pending()
        who = self.chance.choice((LEAD.name, LEAD.name, AGENT.name))
        if not pending:
            return
        answers: dict[str, Any] = {}
        for _, call in self.chance.sample(pending, self.chance.randint(1, len(pending))):
            decision = self.chance.choice(("approve", "approve", "edit", "reject"))
            approval_id = call["approval_id"] if self.chance.random() < 0.9 else "apr-0000"
            answer: dict[str, Any] = {"approval_id": approval_id, "decision": decision}
            if decision == "edit":
                answer["arguments"] = {**call["arguments"], **self._changed(call["arguments"])}
            answers[call["call_id"]] = answer
            if who == LEAD.name and decision != "reject" and approval_id == call["approval_id"]:
                self.approved.add((call["tool"], approval_id))
        self._resume({pending[0][0]: answers}, who)

    def _changed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {"amount": self.chance.choice((5, 900, -3, "6")), "order": "A2", "vendor": "B"}
        return {name: values[name] for name in arguments if name in values and self.chance.random() < 0.5}

    def _odd(self) -> None:
        for interrupt_id, _ in self._pending()[:1]:
            self._resume({interrupt_id: self.chance.choice(ODD)}, LEAD.name)

    def _again(self) -> None:
        """An old answer, sent once more."""
        if self.commands:
            command, who = self.chance.choice(self.commands)
            self._invoke(command, who)

    def _resume(self, answers: dict[str, Any], who: str) -> None:
        command: Any = Command(resume=answers)
        self.commands.append((command, who))
        self._invoke(command, who)

    def _fork(self) -> None:
        """Go on from somewhere in the past, where the lead's consent may still stand in the state."""
        self._invoke(None, self.chance.choice((AGENT.name, LEAD.name)), self._somewhere())

    def _edit(self) -> None:
        """Write something into the state, as a client of a server without authentication can, and go on."""
        config = self._somewhere() if self.chance.random() < 0.5 else self.on
        values = self.app.graph.get_state(config).values
        node = self.chance.choice(NODES)
        with suppress(KeyError):
            written = self.app.graph.update_state(config, self._forged(values), as_node=node)
            self._invoke(None, AGENT.name, written)

    def _forged(self, values: dict[str, Any]) -> dict[str, Any]:
        act = {"type": "act", "calls": [self._call(n) for n in range(self.chance.randint(1, 3))]}
        plan = {"type": "plan", "goal": "g", "steps": ["refund", "pay", "wipe"]}
        decision = values.get("decision") or {}
        verdicts = values.get("verdicts") or []
        lap = self.chance.choice(self._laps()) if self.chance.random() < 0.5 else values
        forged: dict[str, Any] = {
            "proposal": self._said(self.chance.choice((act, plan))),
            "decision": {**decision, "kind": self.chance.choice(("plan", "act")), "tools": ["refund", "pay", "wipe"]},
            "verdicts": [{**one, "verdict": "allowed", "bound": "b", "call_id": "c0"} for one in verdicts],
            "task": {**(values.get("task") or {}), "steps": ["pay", "refund"], "status": None},
            "observations": None,
            "head": lap.get("head"),
            "seal": lap.get("seal"),
            "request": lap.get("request"),
            "manifest": lap.get("manifest"),
        }
        chosen = self.chance.sample(sorted(forged), self.chance.randint(1, 4))
        if self.chance.random() < 0.2:
            return {name: lap.get(name) for name in forged}  # a whole lap from elsewhere
        return {name: forged[name] for name in chosen}

    def _call(self, number: int) -> dict[str, JsonValue]:
        tool = self.chance.choice(("refund", "pay", "send_note", "wipe"))
        arguments: dict[str, dict[str, JsonValue]] = {
            "refund": {"order": "A1", "amount": self.chance.choice((20, 900))},
            "pay": {"vendor": "A", "amount": 9},
            "send_note": {"order": "A1", "text": "hello"},
            "wipe": {},
        }
        return {"call_id": f"c{number}", "tool": tool, "arguments": arguments[tool]}

    def _said(self, proposal: dict[str, Any]) -> str:
        return self.app.ports.artifacts.put("t1", json.dumps(proposal))

    def _laps(self) -> list[dict[str, Any]]:
        return [state.values for state in self.app.graph.get_state_history(self.on, limit=60)]

    def _somewhere(self) -> RunnableConfig:
        return self.chance.choice([*self.app.graph.get_state_history(self.on, limit=60)]).config

    def _invoke(self, given: Any, who: str, config: RunnableConfig | None = None) -> None:
        self.app.graph.invoke(given, config or self.on, context={"principal": who})

    def _broken(self) -> list[str]:
        """What the desk did that it had no right to do."""
        done = self.desk.effects[self.began :]
        consents = Counter(tool for tool, _ in self.approved)
        broken = [f"{effect} is nobody's to do" for effect in done if effect[0] == "wipe"]
        broken += [f"{effect}: not of this tenant" for effect in done if _foreign(effect)]
        for tool in ("pay", "send_note", "refund"):
            mine = [effect for effect in done if effect[0] == tool]
            asked = [effect for effect in mine if tool != "refund" or float(effect[2]) > LIMIT]
            if len(asked) > consents[tool]:
                broken.append(f"{asked}: {consents[tool]} consents of the lead")
            if len(mine) > self.model.planned[tool] + consents[tool]:
                broken.append(f"{mine}: {self.model.planned[tool]} planned, {consents[tool]} consents")
        return broken


def _foreign(effect: tuple[str, ...]) -> bool:
    return effect[0] in ("refund", "send_note") and effect[1] not in ROWS["t1"]["order"]


class Stage:
    """One app for many stories: opening one takes longer than telling one."""

    def __init__(self, home: Path) -> None:
        self.desk, self.model, self.clock = Desk(), Anything(Random(0), eager=True), FakeClock(NOW)
        self.app = open_app(
            settings(home),
            clock=self.clock,
            domain=desk_domain(home, self.desk),
            model=self.model,
            embedder=WordEmbedder(),
        )

    def tell(self, seed: int) -> tuple[list[str], int, Counter[str]]:
        """What broke the law in the story of this seed, how many effects there were, and what was done."""
        story = Story(self.app, self.desk, self.model, self.clock, seed)
        broken = story.tell()
        return broken, len(self.desk.effects) - story.began, story.told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first story's")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(".expediente/evals/laws.jsonl"),
        help="one line a story; what it holds is not told again",
    )
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    known = {json.loads(line)["seed"] for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    stories = [seed for seed in range(args.seed, args.seed + args.runs) if seed not in known]
    for start in range(0, len(stories), 200):
        with tempfile.TemporaryDirectory() as home, args.out.open("a") as out:
            stage = Stage(Path(home))
            for seed in stories[start : start + 200]:
                broken, effects, told = stage.tell(seed)
                out.write(json.dumps({"seed": seed, "effects": effects, "told": told, "broken": broken}) + "\n")
                out.flush()
            stage.app.close()
    lines = [json.loads(line) for line in args.out.read_text().splitlines()]
    faults = [line for line in lines if line["broken"]]
    effects = sum(line["effects"] for line in lines)
    said = [f"{len(lines)} stories, {effects} effects, {len(faults)} broke the law"]
    said += [f"{line['seed']}: {'; '.join(line['broken'])}" for line in faults[:20]]
    sys.stdout.write("\n".join(said) + "\n")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
