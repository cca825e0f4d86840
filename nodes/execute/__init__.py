"""execute (L7): run what was allowed, each effect once, its result stored before its claim closes."""

import asyncio
import json
from collections.abc import Mapping

from pydantic import JsonValue

from nodes.execute.project import project
from state.canonical import digest
from state.checks.binding import arguments_digest, call_digest, seal_payload
from state.checks.quote import unquoted
from state.node import Node
from state.ports import Artifacts, Claim, Clock, Ledger, NameTaken, Seal
from state.run import RequestContext, Scope
from state.tools import Effect, Observation, Tool, ToolContext, ToolError
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


class SealBroken(PermissionError):
    """A verdict does not carry our seal for this very call: it was written from outside. Nothing was run."""


def make_execute(*, artifacts: Artifacts, ledger: Ledger, clock: Clock, seal: Seal, tools: Mapping[str, Tool]) -> Node:
    """The execute node."""

    def run(reads: Reads, scope: Scope) -> Writes:
        proposal = PROPOSAL.validate_json(artifacts.get(scope.tenant, reads.proposal))
        allowed = {verdict.call_id: verdict for verdict in reads.verdicts if isinstance(verdict, Allowed)}
        if not isinstance(proposal, Act):
            return Writes(observations=())
        calls = [(n, call) for n, call in enumerate(proposal.calls) if call.call_id in allowed]
        # Every seal is checked before the first call runs: one forged verdict stops the whole lap.
        checked = [(n, call, _checked(call, allowed[call.call_id], reads, scope)) for n, call in calls]
        return Writes(observations=tuple(_observe(n, call, args, reads, scope) for n, call, args in checked))

    def _checked(call: ToolCall, verdict: Allowed, reads: Reads, scope: Scope) -> dict[str, JsonValue]:
        tool = tools.get(call.tool)
        arguments = unquoted(call.arguments, lambda ref: artifacts.get(scope.tenant, ref))
        if tool is not None:
            contract = tool.contract
            bound = call_digest(scope, reads.request.parent, call.call_id, arguments, contract, verdict.policy_version)
            approved = verdict.approval is not None and verdict.approval.decision == "approve"
            needs = contract.confirm or contract.effect is Effect.EGRESS
            if seal.verify(seal_payload("allowed", bound, verdict.approval), verdict.seal) and (approved or not needs):
                return arguments
        raise SealBroken(
            f"the verdict for call {call.call_id} does not carry this system's seal; nothing was run. "
            "Ask again: a verdict comes from validate only"
        )

    def _observe(
        ordinal: int, call: ToolCall, arguments: dict[str, JsonValue], reads: Reads, scope: Scope
    ) -> Observation:
        tool = tools[call.tool]
        named = f"toolrun://{reads.request.request_id}/step-{ordinal + 1}"
        digest_ = arguments_digest(call.tool, arguments)
        key = digest([scope.tenant, scope.thread, reads.request.parent, ordinal, digest_])
        if tool.contract.effect is Effect.READ:
            return _run(tool, call, arguments, key, named, digest_, scope)
        claimed = ledger.claim(
            Claim(
                key=key,
                tenant=scope.tenant,
                thread=scope.thread,
                parent=reads.request.parent,
                ordinal=ordinal,
                call_id=call.call_id,
                tool=call.tool,
                arguments_digest=digest_,
                effect=tool.contract.effect.value,
            ),
            clock.now(),
        )
        if claimed.state == "done" and claimed.result_ref is not None:
            return Observation.model_validate_json(artifacts.get(scope.tenant, claimed.result_ref))
        if not claimed.fresh and not tool.contract.idempotent:
            # Another process took the claim and did not close it: whether the effect happened is not known here.
            observation = _stored(tool, call, {}, "unknown", "claimed_before", named, digest_, scope)
            ledger.close(key, "unknown", None)
            return observation
        observation = _run(tool, call, arguments, key, named, digest_, scope)
        ref = artifacts.put(scope.tenant, observation.model_dump_json())
        ledger.close(key, "unknown" if observation.outcome == "unknown" else "done", ref)
        return observation

    def _run(
        tool: Tool,
        call: ToolCall,
        arguments: dict[str, JsonValue],
        key: str,
        named: str,
        digest_: str,
        scope: Scope,
    ) -> Observation:
        context = ToolContext(scope=scope, now=clock.now(), idempotency_key=key)
        try:
            projected = project(tool.contract, tool.run(context, **arguments))
        except ToolError as error:
            return _stored(tool, call, {"error": error.code}, "error", error.code, named, digest_, scope)
        except Exception as error:  # noqa: BLE001 - a tool may raise anything; a write that broke may have happened
            outcome = "error" if tool.contract.effect is Effect.READ else "unknown"
            code = f"tool_failed:{type(error).__name__}"
            return _stored(tool, call, {"error": code}, outcome, code, named, digest_, scope)
        outcome = "empty" if projected.empty else "ok"
        return _stored(
            tool,
            call,
            projected.fields,
            outcome,
            None,
            named,
            digest_,
            scope,
            total_bytes=projected.total_bytes,
            truncated=projected.truncated,
        )

    def _stored(
        tool: Tool,
        call: ToolCall,
        fields: dict[str, JsonValue],
        outcome: str,
        code: str | None,
        named: str,
        digest_: str,
        scope: Scope,
        *,
        total_bytes: int = 0,
        truncated: bool = False,
    ) -> Observation:
        name, ref = _filed(call.tool, fields, named, scope)
        return Observation.model_validate(
            {
                "call_id": call.call_id,
                "tool": call.tool,
                "outcome": outcome,
                "code": code,
                "at": clock.now(),
                "artifact_ref": name,
                "ref": ref,
                "trusted_fields": tuple(f.name for f in tool.contract.output if f.trust == "system"),
                "total_bytes": total_bytes,
                "truncated": truncated,
                "effect": tool.contract.effect,
                "arguments_digest": digest_,
            }
        )

    def _filed(tool: str, fields: dict[str, JsonValue], named: str, scope: Scope) -> tuple[str, str]:
        """The result's public name and address. A step that runs again after a crash may bring something else: the
        first result keeps the name, the later one gets a name of its own."""
        name, runs = named, 1
        while True:
            body = json.dumps({"tool": tool, **fields, "artifact_ref": name}, ensure_ascii=False)
            ref = artifacts.put(scope.tenant, body)
            try:
                artifacts.name(scope.tenant, name, ref)
            except NameTaken:
                runs += 1
                name = f"{named}/run-{runs}"
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
        ports=("artifacts", "ledger", "clock", "seal"),
        domain=("tools", "contracts"),
    )
