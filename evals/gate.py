"""One conversation behind the gate: each call is packed, judged, asked for, run and filed, as in a deployed graph.

The nodes validate and execute are the graph's own, on its own stores. In place of a model stands a list of calls, in
place of a person a function. The gate is given what it is given there: the user's words, the principal, the contracts
and the results so far.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import JsonValue

from graph.app import App
from graph.rows import make_nodes
from nodes.execute import Reads as ToExecute
from nodes.execute import Writes as Ran
from nodes.pack.drafts import Drafts
from nodes.pack.required import who_and_what
from nodes.pack.trails import Trails
from nodes.validate import Reads as ToValidate
from nodes.validate import Writes as Judged
from state.checks.quote import quoted
from state.context import ContextManifest, Packed, RequestSettings
from state.contract import Effect
from state.record import DecisionRecord
from state.run import Principal, RequestContext, Scope
from state.task import TaskState
from state.tools import Observation
from state.value import Value
from state.verdict import Allowed, NeedsApproval, Verdict
from state.work import Act, DecisionKind, LapOutcome, ToolCall


class Step(Value):
    """What became of one call: `asked` a person or not, and what was done."""

    tool: str
    writes: bool
    asked: bool
    outcome: Literal["done", "failed", "refused", "denied"]
    rule: str
    reason: str = ""
    verdict: Verdict


Person = Callable[[str, Mapping[str, Any]], bool]


class Gate:
    """A turn of a conversation. `person` is asked with the call's id and what it would be shown, and says yes or no."""

    def __init__(self, app: App, principal: Principal, words: str, thread: str, now: datetime, person: Person) -> None:
        self._app, self._person, self._now = app, person, now
        self._scope = Scope(principal=principal, actor=principal, thread=thread)
        self._nodes = {node.name: node for node in make_nodes(app.settings, app.ports, self._pause)}
        self._turn_ref = app.ports.artifacts.put(principal.tenant, words)
        self._words, self._index = words, 0
        self._head: str | None = None
        domain = app.ports.domain
        self._spec = domain.table.spec(DecisionKind.ACT, "all")
        self._policy = domain.policies[0]
        self._effects = {one.contract.name: one.contract.effect for one in domain.tools}

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Step:
        """Judge one call, ask the person where that is asked for, and run it where it is allowed."""
        scope = self._scope
        request, lap = self._lap(tool, arguments)
        decision, proposal = lap["decision"], lap["proposal"]
        verdicts = self._judged(lap, None)
        asked = isinstance(verdicts[0], NeedsApproval)
        first = verdicts[0]
        while isinstance(verdicts[0], NeedsApproval):
            verdicts = self._judged(lap, verdicts)
        observations: tuple[Observation, ...] = ()
        if isinstance(verdicts[0], Allowed):
            reads = ToExecute(request=request, decision=decision, proposal=proposal, verdicts=verdicts)
            ran = self._nodes["execute"].run(reads, scope)
            assert isinstance(ran, Ran)
            observations = ran.observations
        self._file(request, lap, verdicts, observations)
        reason = first.request.reason if isinstance(first, NeedsApproval) else getattr(first, "reason", "")
        return Step(
            tool=tool,
            writes=self._effects[tool] is not Effect.READ,
            asked=asked,
            outcome=_outcome(asked, verdicts[0], observations),
            rule=first.rule,
            reason=reason,
            verdict=first,
        )

    def judged(self, tool: str, arguments: Mapping[str, JsonValue]) -> Verdict:
        """The first verdict on a call that is neither asked for nor run: what would become of it now."""
        _, lap = self._lap(tool, arguments)
        return self._judged(lap, None)[0]

    def _lap(self, tool: str, arguments: Mapping[str, JsonValue]) -> tuple[RequestContext, dict[str, Any]]:
        """The channels of a lap in which this call is proposed."""
        artifacts, scope = self._app.ports.artifacts, self._scope
        request = RequestContext(
            request_id=f"{scope.thread}-{self._index}",
            now=self._now,
            locale="en",
            message_id="m1",
            turn_ref=self._turn_ref,
            turn_index=0,
            parent=self._head,
        )
        task = TaskState(next_index=self._index, laps_in_turn=self._index)
        decision = self._spec.decision(self._index, "act")
        given = quoted(arguments, {self._turn_ref: self._words})
        proposed = Act(calls=(ToolCall(call_id=f"call-{self._index}-1", tool=tool, arguments=given),))
        proposal = artifacts.put(scope.tenant, proposed.model_dump_json())
        lap: dict[str, Any] = {
            "request": request,
            "decision": decision,
            "proposal": proposal,
            "manifest": Packed(ref=self._packed(request, task)),
            "task": task,
        }
        return request, lap

    def cells(self) -> list[JsonValue]:
        """What the results so far showed, value by value."""
        ports, scope = self._app.ports, self._scope
        records = ports.log.chain(scope.tenant, scope.thread, self._head) if self._head else ()
        bodies = (ports.artifacts.get(scope.tenant, seen.ref) for one in records for seen in one.observations)
        return [json.loads(body) for body in bodies]

    def _pause(self, question: Mapping[str, Any]) -> dict[str, JsonValue]:
        return {
            one["call_id"]: {
                "approval_id": one["approval_id"],
                "decision": "approve" if self._person(one["call_id"], one) else "reject",
            }
            for one in question["approvals"]
        }

    def _judged(self, lap: Mapping[str, Any], verdicts: tuple[Verdict, ...] | None) -> tuple[Verdict, ...]:
        wrote = self._nodes["validate"].run(ToValidate(**lap, verdicts=verdicts), self._scope)
        assert isinstance(wrote, Judged)
        return wrote.verdicts

    def _packed(self, request: RequestContext, task: TaskState) -> str:
        """The manifest of a request that holds the user's words, the principal's facts and all results so far."""
        ports, scope = self._app.ports, self._scope
        drafts = Drafts(ports.artifacts, ports.tokens, scope.tenant, self._now)
        contracts = {tool.contract.name: tool.contract for tool in ports.domain.tools}
        decision = self._spec.decision(self._index, "act")
        made = who_and_what(drafts, self._words, scope, request, self._policy, decision)
        traces = Trails(ports.artifacts, ports.log, contracts).this_turn(drafts, scope, request, task)
        made += [draft for trace in traces for draft in trace.drafts]
        manifest = ContextManifest(
            request_id=request.request_id,
            tenant_id=scope.tenant,
            decision_kind=decision.kind.value,
            toolset=decision.toolset,
            items=tuple(draft.item for draft in made),
            total_input_tokens=0,
            overhead_tokens=0,
            budget_tokens=0,
            window_tokens=0,
            reserved_output_tokens=0,
            tokenizer="none",
            prefix_hash="",
            policy_version=self._policy.version,
            policy_ref="",
            settings=RequestSettings(max_output_tokens=1),
        )
        *_, ref = ports.artifacts.put_all(scope.tenant, [*(one.text for one in made), manifest.model_dump_json()])
        return ref

    def _file(
        self,
        request: RequestContext,
        lap: Mapping[str, Any],
        verdicts: tuple[Verdict, ...],
        observations: tuple[Observation, ...],
    ) -> None:
        scope = self._scope
        record = DecisionRecord(
            parent=self._head,
            tenant=scope.tenant,
            thread=scope.thread,
            principal=scope.principal.name,
            request_id=request.request_id,
            index=self._index,
            at=self._now,
            turn_ref=self._turn_ref,
            turn_index=0,
            decision=lap["decision"],
            manifest_ref=lap["manifest"].ref,
            proposal_ref=lap["proposal"],
            verdicts=verdicts,
            observations=observations,
            outcome=LapOutcome.OBSERVED if observations else LapOutcome.DENIED,
            task_hash="",
        )
        self._head = self._app.ports.log.append(record)
        self._index += 1


def _outcome(
    asked: bool, verdict: Verdict, observations: tuple[Observation, ...]
) -> Literal["done", "failed", "refused", "denied"]:
    if not isinstance(verdict, Allowed):
        return "refused" if asked else "denied"
    return "done" if observations and observations[0].outcome in ("ok", "empty") else "failed"
