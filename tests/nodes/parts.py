"""The fakes behind a node, and the values of one lap as the nodes before it would have left them."""

from collections.abc import Sequence
from typing import Any

from langgraph.store.memory import InMemoryStore

from retrieval.memory import StoreMemory
from state.context import ContextItem, ContextManifest, Kind, Packed, Provenance, RequestSettings, Trust
from state.contract import Effect
from state.record import DecisionRecord
from state.request import Attempt, AttemptOutcome
from state.run import RequestContext, Scope
from state.task import TaskState, UserTurn
from state.tools import Observation
from state.work import Act, Decision, DecisionKind, Form, LapOutcome, Plan, Proposal, Status, ToolCall
from tests.desk import POLICY, SCOPE, Desk
from tests.fakes import (
    NOW,
    FakeArtifacts,
    FakeClock,
    FakeDecisionLog,
    FakeLedger,
    FakeQuotas,
    FakeSeal,
    FakeSecrets,
    SequentialIds,
)
from tests.fakes_events import FakeEventQueue
from tests.fakes_memory import FakeMemoryKeeper

QUESTION = "Please refund 50 euros of order A1 and look at INV-9"
SETTINGS = RequestSettings(max_output_tokens=500)


Shows = tuple[str, Trust, str, str]
"""An item that a manifest is made with: id, trust, source, text."""


class Parts:
    """One desk with its stores; methods put values of a lap into them and give their addresses."""

    def __init__(self, scope: Scope = SCOPE) -> None:
        self.scope = scope
        self.clock = FakeClock()
        self.ids = SequentialIds()
        self.artifacts = FakeArtifacts()
        self.log = FakeDecisionLog()
        self.ledger = FakeLedger()
        self.events = FakeEventQueue()
        self.quotas = FakeQuotas()
        self.policy = POLICY
        self.slept: list[float] = []
        self.seal = FakeSeal()
        self.secrets = FakeSecrets()
        self.memory = StoreMemory(InMemoryStore())
        self.memories = FakeMemoryKeeper()
        self.desk = Desk()
        self.turn_ref = self.put(QUESTION)

    def put(self, text: str) -> str:
        return self.artifacts.put(self.scope.tenant, text)

    def get(self, ref: str) -> str:
        return self.artifacts.get(self.scope.tenant, ref)

    def proposal(self, proposal: Proposal) -> str:
        return self.put(proposal.model_dump_json())

    def act(self, *calls: tuple[str, str, Any]) -> str:
        """The address of a proposal that calls tools: call id, tool, arguments."""
        return self.proposal(act(*calls))

    def request(self, **changes: Any) -> RequestContext:
        made = RequestContext(
            request_id="req-1",
            now=NOW,
            locale="en",
            message_id="msg-1",
            turn_ref=self.turn_ref,
            turn_index=1,
            parent=None,
        )
        return made.model_copy(update=changes)

    def task(self, **changes: Any) -> TaskState:
        objective = UserTurn(index=1, message_id="msg-1", ref=self.turn_ref, at=NOW)
        return TaskState(objective=objective).model_copy(update=changes)

    def manifest(self, *shows: Shows, kind: Kind = Kind.TASK_STATE, failure: Any = None) -> Packed:
        """A stored manifest of items of one kind; without items it shows the user's question."""
        given = shows or (("objective", Trust.USER, "turn://1", QUESTION),)
        items = tuple(self._item(item_id, kind, source, trust, text) for item_id, trust, source, text in given)
        made = ContextManifest(
            request_id="req-1",
            tenant_id=self.scope.tenant,
            decision_kind="act",
            toolset="desk",
            items=items,
            total_input_tokens=10,
            overhead_tokens=0,
            budget_tokens=100,
            window_tokens=20_000,
            reserved_output_tokens=50,
            tokenizer="characters",
            prefix_hash="p",
            policy_version="desk-1",
            policy_ref="art-policy",
            settings=SETTINGS,
        )
        return Packed(ref=self.put(made.model_dump_json()), failure=failure)

    def _item(self, item_id: str, kind: Kind, source: str, trust: Trust, text: str) -> ContextItem:
        ref = self.put(text)
        return ContextItem(
            item_id=item_id,
            kind=kind,
            source=source,
            trust=trust,
            retrieved_at=NOW,
            token_count=1,
            ref=ref,
            provenance=Provenance(tenant=self.scope.tenant, scope="tenant:t1", content_hash=ref),
        )

    def filed(self, **changes: Any) -> str:
        """The hash of a filed record."""
        made = DecisionRecord(
            parent=None,
            tenant=self.scope.tenant,
            thread=self.scope.thread,
            principal=self.scope.principal.name,
            request_id="req-0",
            index=0,
            at=NOW,
            turn_ref=self.turn_ref,
            turn_index=1,
            decision=decision(),
            outcome=LapOutcome.OBSERVED,
            task_hash="t",
        )
        return self.log.append(made.model_copy(update=changes))

    def planned(self, *steps: str, parent: str | None = None) -> str:
        """The head after a plan lap that opened these steps."""
        plan = self.proposal(Plan(goal="help", steps=steps))
        kind = decision(kind=DecisionKind.PLAN)
        return self.filed(parent=parent, decision=kind, proposal_ref=plan, outcome=LapOutcome.PLANNED)

    def ended(self, status: Status, outcome: LapOutcome, parent: str | None = None) -> str:
        """The head after a lap that ended a turn."""
        return self.filed(parent=parent, outcome=outcome, status=status)


def act(*calls: tuple[str, str, Any]) -> Act:
    return Act(calls=tuple(ToolCall(call_id=call_id, tool=tool, arguments=given) for call_id, tool, given in calls))


ALL_TOOLS = ("get_invoice", "lookup", "refund", "pay", "send_note", "wipe")


def decision(**changes: Any) -> Decision:
    made = Decision(index=3, kind=DecisionKind.ACT, toolset="desk", rule="row", tools=ALL_TOOLS, forms=tuple(Form))
    return made.model_copy(update=changes)


def attempts(*names: Any) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(manifest_ref="m", request_hash="r", mode="tools", model="fake", outcome=AttemptOutcome(name=name))
        for name in names
    )


def observation(call_id: str, tool: str, ref: str = "art-0", **changes: Any) -> Observation:
    made = Observation(
        call_id=call_id,
        tool=tool,
        outcome="ok",
        at=NOW,
        artifact_ref=f"toolrun://req-0/{call_id}",
        ref=ref,
        effect=Effect.READ,
        arguments_digest=f"digest-{call_id}",
    )
    return made.model_copy(update=changes)


def only(found: Sequence[Any]) -> Any:
    """The one thing in a sequence."""
    (one,) = found
    return one
