"""execute (L7): run what was allowed, each effect once, its result stored before its claim closes."""

import asyncio
import json
from collections.abc import Mapping

from pydantic import JsonValue

from nodes.execute.credentials import complete, resolving
from nodes.execute.project import project
from nodes.execute.step import Step, outcome_state
from state.checks.binding import arguments_digest, call_digest
from state.checks.quote import unquoted
from state.contract import Effect
from state.node import Node
from state.ports import Artifacts, Clock, Ledger, NameTaken, Secrets
from state.run import Edited, RequestContext, Scope
from state.tools import Observation, Tool, ToolContext, ToolError
from state.value import Value
from state.verdict import Allowed, Verdict
from state.work import PROPOSAL, Act, Decision, ToolCall


class Reads(Value):
    """The request, the decision, the proposal's address and the verdicts."""

    request: RequestContext
    decision: Decision
    proposal: str
    verdicts: tuple[Verdict, ...]


class Writes(Value):
    """What the calls brought, one observation per allowed call."""

    observations: tuple[Observation, ...]


def make_execute(
    *,
    artifacts: Artifacts,
    ledger: Ledger,
    clock: Clock,
    secrets: Secrets,
    tools: Mapping[str, Tool],
) -> Node:
    """The execute node. What a tool brings is stored with every known secret masked (X7)."""

    def run(reads: Reads, scope: Scope) -> Writes:
        if reads.request.edited is Edited.LAP:
            return Writes(observations=())
        proposal = PROPOSAL.validate_json(artifacts.get(scope.tenant, reads.proposal))
        if not isinstance(proposal, Act):
            return Writes(observations=())
        allowed = {verdict.call_id: verdict for verdict in reads.verdicts if isinstance(verdict, Allowed)}
        calls = [(n, call) for n, call in enumerate(proposal.calls) if call.call_id in allowed]
        steps = [_step(n, call, allowed[call.call_id], reads, scope) for n, call in calls]
        if any(step is None for step in steps):
            # A release came in between, with other tools or definitions: the lap is judged anew, none of it runs.
            return Writes(observations=())
        return Writes(observations=tuple(_observed(step, reads.proposal) for step in steps if step is not None))

    def _step(ordinal: int, call: ToolCall, verdict: Allowed, reads: Reads, scope: Scope) -> Step | None:
        """The call with all it takes to run it; None where its verdict is not for exactly this call."""
        tool = tools.get(call.tool)
        arguments = unquoted(call.arguments, lambda ref: artifacts.get(scope.tenant, ref))
        if tool is None:
            return None
        contract = tool.contract
        bound = call_digest(scope, reads.request.parent, call.call_id, arguments, contract, verdict.policy_version)
        approved = verdict.approval is not None and verdict.approval.decision == "approve"
        if bound != verdict.bound or not (approved or not (contract.confirm or contract.effect is Effect.EGRESS)):
            return None
        digest = arguments_digest(call.tool, arguments)
        return Step(ordinal, call, tool, arguments, verdict, digest, reads.request, scope)

    def _observed(step: Step, proposal_ref: str) -> Observation:
        if _expired(step):
            return _stored(step, {"error": "approval_expired"}, "error", "approval_expired")
        if not (complete(step, secrets) or _begun(step)):
            return _stored(step, {"error": "secret_missing"}, "error", "secret_missing")
        if step.tool.contract.effect is Effect.READ:
            return _run(step)
        claimed = ledger.claim(step.claim(proposal_ref), clock.now())
        if claimed.state == "spent":
            return _stored(step, {"error": "step_spent"}, "error", "step_spent")
        if claimed.state == "done" and claimed.result_ref is not None:
            return Observation.model_validate_json(artifacts.get(step.scope.tenant, claimed.result_ref))
        if not claimed.fresh and not step.tool.contract.idempotent:
            # Another process took the claim and did not close it: whether the effect happened is not known here.
            observation = _stored(step, {}, "unknown", "claimed_before")
            ledger.close(step.key, "unknown", None)
            return observation
        observation = _run(step)
        ref = artifacts.put(step.scope.tenant, observation.model_dump_json())
        ledger.close(step.key, outcome_state(observation), ref)
        return observation

    def _expired(step: Step) -> bool:
        """An approval that was given in time and not used in time is void; an effect that was begun is finished."""
        asked = step.verdict.request
        return asked is not None and clock.now() >= asked.expires_at and not _begun(step)

    def _begun(step: Step) -> bool:
        """Whether the effect was claimed before: what became of it is the ledger's to say, whatever holds now."""
        rows = ledger.rows(step.scope.tenant, step.scope.thread)
        return any(row.claim.key == step.key for row in rows)

    def _run(step: Step) -> Observation:
        resolve = resolving(step, secrets)
        context = ToolContext(scope=step.scope, now=clock.now(), idempotency_key=step.key, resolve=resolve)
        try:
            projected = project(step.tool.contract, step.tool.run(context, **step.arguments), secrets.masked)
        except ToolError as error:
            code = secrets.masked(str(error.code))
            return _stored(step, {"error": code}, "error", code)
        except Exception as error:  # noqa: BLE001 - a tool may raise anything, and what it means is the step's to say
            # The kind alone: what an exception says may hold anything, a credential too.
            code = f"tool_failed:{type(error).__name__}"
            return _stored(step, {"error": code}, step.failed_as, code)
        outcome = "empty" if projected.empty else "ok"
        return _stored(
            step,
            projected.fields,
            outcome,
            None,
            total_bytes=projected.total_bytes,
            truncated=projected.truncated,
        )

    def _stored(
        step: Step,
        fields: dict[str, JsonValue],
        outcome: str,
        code: str | None,
        *,
        total_bytes: int = 0,
        truncated: bool = False,
    ) -> Observation:
        name, ref = _filed(step, fields)
        contract = step.tool.contract
        return Observation.model_validate(
            {
                "call_id": step.call.call_id,
                "tool": step.call.tool,
                "outcome": outcome,
                "code": code,
                "at": clock.now(),
                "artifact_ref": name,
                "ref": ref,
                "trusted_fields": tuple(field.name for field in contract.output if field.trust == "system"),
                "total_bytes": total_bytes,
                "truncated": truncated,
                "effect": contract.effect,
                "arguments_digest": step.digest,
            }
        )

    def _filed(step: Step, fields: dict[str, JsonValue]) -> tuple[str, str]:
        """The result's public name and address. A step that runs again after a crash may bring something else: the
        first result keeps the name, the later one gets a name of its own."""
        tenant, name, runs = step.scope.tenant, step.named, 1
        while True:
            body = json.dumps({"tool": step.call.tool, **fields, "artifact_ref": name}, ensure_ascii=False)
            ref = artifacts.put(tenant, body)
            try:
                artifacts.name(tenant, name, ref)
            except NameTaken:
                runs += 1
                name = f"{step.named}/run-{runs}"
            else:
                return name, ref

    async def arun(reads: Reads, scope: Scope) -> Writes:
        # Tools are synchronous functions: their waiting belongs in a thread, not on the event loop.
        return await asyncio.to_thread(run, reads, scope)

    return Node(
        "execute",
        Reads,
        Writes,
        run,
        arun,
        ports=("artifacts", "ledger", "clock", "secrets"),
        domain=("tools", "contracts"),
    )
