"""Requests for tests, rendered as pack renders them: items with their bodies, in the order of B4."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from state.context import ContextItem, Kind, Provenance, RequestSettings, Trust
from state.contract import ToolContract
from state.forms import FORMS
from state.ports import Model
from state.render import render
from state.request import Request, ToolSpec
from state.work import DecisionKind, Form

NOW = datetime(2026, 7, 15, 9, 30, tzinfo=UTC)
ALL_FORMS = tuple(Form)


@dataclass
class Working:
    """A working set being put together; `request` renders it."""

    turn: str
    kind: DecisionKind = DecisionKind.GATHER
    tools: Sequence[ToolContract | ToolSpec] = ()
    forms: Sequence[Form] = ALL_FORMS
    steps: Sequence[str] = ()
    items: list[tuple[ContextItem, str]] = field(default_factory=list)

    def add(
        self,
        item_id: str,
        kind: Kind,
        source: str,
        trust: Trust,
        text: str,
        version: str | None = None,
        turn: int | None = None,
    ) -> None:
        item = ContextItem(
            item_id=item_id,
            kind=kind,
            source=source,
            trust=trust,
            retrieved_at=NOW,
            version=version,
            token_count=1,
            ref=f"ref-{len(self.items)}",
            provenance=Provenance(
                tenant="t1", scope="tenant:t1", content_hash=f"hash-{len(self.items)}", origin_turn=turn
            ),
        )
        self.items.append((item, text))

    def fact(self, name: str, value: str, trust: Trust = Trust.SYSTEM) -> None:
        self.add(name, Kind.TASK_STATE, f"record://{name}", trust, f"{name}: {value}")

    def earlier(self, index: int, said: str, answered: str = "", *, asked_back: bool = False) -> None:
        self.add(f"turn-{index}", Kind.TASK_STATE, f"turn://{index}", Trust.USER, said, turn=index)
        if answered:
            self.add(
                f"turn-{index}-answer", Kind.TASK_STATE, f"answer://{index}", Trust.UNTRUSTED, answered, turn=index
            )
        if asked_back:
            text = "This turn ended with a question to the user."
            name = f"turn-{index}-asked-back"
            self.add(name, Kind.TASK_STATE, "state://asked-back", Trust.SYSTEM, text, turn=index)

    def verdict(self, text: str) -> None:
        self.add("0-call-1", Kind.TASK_STATE, "verdict://0/call-1", Trust.SYSTEM, text)

    def observation(
        self, tool: str, fields: Mapping[str, Any], source: str = "toolrun://req-1/call-1", trust: Trust = Trust.SYSTEM
    ) -> None:
        text = json.dumps({"tool": tool, **fields, "artifact_ref": source})
        self.add(f"{tool}-{len(self.items)}", Kind.TOOL, source, trust, text)

    def document(self, source: str, text: str) -> None:
        self.add(source, Kind.EVIDENCE, source, Trust.UNTRUSTED, text, version="v1")

    def memory(self, text: str, trust: Trust = Trust.USER) -> None:
        self.add(f"memory-{len(self.items)}", Kind.MEMORY, f"memory://{len(self.items)}", trust, text)

    def capabilities(self, contracts: Iterable[ToolContract]) -> None:
        for contract in contracts:
            shown = {
                "name": contract.name,
                "description": contract.description,
                "effect": contract.effect.value,
                "parameters": contract.parameters,
                "output": [output.name for output in contract.output],
            }
            self.add(contract.name, Kind.TOOL, f"capability://{contract.name}", Trust.POLICY, json.dumps(shown))

    def request(self) -> Request:
        """The whole request: instructions, tools, objective and scope, what was added, the decision last."""
        data, self.items = self.items, []
        self.add(
            "role",
            Kind.INSTRUCTION,
            "policy://role",
            Trust.POLICY,
            "You help people here. Reply in their language.",
        )
        for spec in (*map(_spec, self.tools), *(FORMS[form] for form in self.forms)):
            scheme = "form" if spec.name in FORMS else "tool"
            self.add(spec.name, Kind.TOOL, f"{scheme}://{spec.name}", Trust.POLICY, spec.model_dump_json())
        self.add("objective", Kind.TASK_STATE, "turn://7", Trust.USER, self.turn)
        scope = {"principal": "mia@t1", "tenant": "t1", "roles": ["member"], "locale": "en"}
        self.add("scope", Kind.TASK_STATE, "state://scope", Trust.SYSTEM, json.dumps(scope))
        for item, text in data:
            self.items.append((item.model_copy(update={"ref": f"ref-{len(self.items)}"}), text))
        decision = f"kind: {self.kind}\nforms: {', '.join(self.forms)}\nnow: {NOW.isoformat()}\nDecide now."
        if self.steps:
            decision = f"kind: {self.kind}\nsteps: {', '.join(self.steps)}\nDecide now."
        self.add("decision", Kind.TASK_STATE, f"decision://{self.kind}/set", Trust.POLICY, decision)
        bodies = {item.ref: text for item, text in self.items}
        return render([item for item, _ in self.items], bodies.__getitem__, RequestSettings(max_output_tokens=500))


def _spec(tool: ToolContract | ToolSpec) -> ToolSpec:
    if isinstance(tool, ToolSpec):
        return tool
    return ToolSpec(name=tool.name, description=tool.description, parameters=tool.parameters)


Proposed = tuple[str, dict[str, Any]]
Fill = Callable[[Working], None]


def proposed(model: Model, working: Working) -> Proposed:
    """The one call that a model proposes for a working set."""
    reply = model.reply(working.request())
    (call,) = reply.calls
    assert reply.finish_reason == "tool_calls"
    return call.name, json.loads(call.arguments)


def with_card(working: Working) -> None:
    """Adds the fact that most cases need."""
    working.fact("card_id", "C-7")
