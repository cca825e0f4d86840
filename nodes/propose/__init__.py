"""propose (L5): one model call returns a typed proposal. Constrained output fixes form, not truth."""

import asyncio
from collections.abc import Callable

from pydantic import JsonValue

from nodes.propose.parse import NoProposal, parse
from nodes.propose.partial import partial
from state.checks.quote import quoted
from state.context import ContextManifest, Kind, Packed, Trust
from state.node import Node
from state.ports import Artifacts, Model
from state.render import render
from state.request import Attempt, AttemptOutcome, ModelError, Reply, Request
from state.run import Scope
from state.value import Value
from state.work import Decision, DecisionKind, Proposal

_MODE = "tools"


class Reads(Value):
    """The decision and the manifest's address. Nothing else reaches the model."""

    decision: Decision
    manifest: Packed
    attempts: tuple[Attempt, ...] | None = None


class Writes(Value):
    """The proposal's address, or null; and the attempts of this lap so far."""

    proposal: str | None
    attempts: tuple[Attempt, ...]


def make_propose(*, model: Model, artifacts: Artifacts) -> Node:
    """The propose node, sync and async: waiting on the model holds no thread in the async form."""

    def prepared(reads: Reads, scope: Scope) -> tuple[ContextManifest, Request]:
        if reads.manifest.ref is None:
            raise ValueError("propose was reached without a manifest; pack routes to log in that case")
        manifest = ContextManifest.model_validate_json(artifacts.get(scope.tenant, reads.manifest.ref))
        return manifest, render(manifest.items, lambda ref: artifacts.get(scope.tenant, ref), manifest.settings)

    def closing(reads: Reads, scope: Scope, manifest: ContextManifest) -> Writes:
        proposal = partial(manifest, lambda ref: artifacts.get(scope.tenant, ref))
        return Writes(proposal=artifacts.put(scope.tenant, proposal.model_dump_json()), attempts=reads.attempts or ())

    def judged(
        reads: Reads, scope: Scope, manifest: ContextManifest, request: Request, reply: Reply | ModelError
    ) -> Writes:
        proposal: Proposal | None = None
        if isinstance(reply, ModelError):
            outcome = reply.outcome
        else:
            try:
                proposal = parse(reply, reads.decision, _quoting(manifest, scope))
                outcome = AttemptOutcome(name="proposal")
            except NoProposal as none:
                outcome = none.outcome
        attempt = Attempt(
            request_hash=request.hash(),
            mode=_MODE,
            model=model.name if isinstance(reply, ModelError) else reply.model,
            usage=None if isinstance(reply, ModelError) else reply.usage,
            outcome=outcome,
        )
        stored = None if proposal is None else artifacts.put(scope.tenant, proposal.model_dump_json())
        return Writes(proposal=stored, attempts=(*(reads.attempts or ()), attempt))

    def _quoting(manifest: ContextManifest, scope: Scope) -> Callable[[dict[str, JsonValue]], dict[str, JsonValue]]:
        turns = {
            item.ref: artifacts.get(scope.tenant, item.ref)
            for item in manifest.items
            if item.trust is Trust.USER and item.kind is Kind.TASK_STATE and item.source.startswith("turn://")
        }
        return lambda arguments: quoted(arguments, turns)

    def run(reads: Reads, scope: Scope) -> Writes:
        manifest, request = prepared(reads, scope)
        if reads.decision.kind is DecisionKind.CLOSE:
            return closing(reads, scope, manifest)
        try:
            reply: Reply | ModelError = model.reply(request)
        except ModelError as error:
            reply = error
        return judged(reads, scope, manifest, request, reply)

    async def arun(reads: Reads, scope: Scope) -> Writes:
        # The stores are synchronous: off the event loop with them.
        manifest, request = await asyncio.to_thread(prepared, reads, scope)
        if reads.decision.kind is DecisionKind.CLOSE:
            return await asyncio.to_thread(closing, reads, scope, manifest)
        try:
            reply: Reply | ModelError = await model.areply(request)
        except ModelError as error:
            reply = error
        return await asyncio.to_thread(judged, reads, scope, manifest, request, reply)

    return Node("propose", Reads, Writes, run, arun, ports=("model", "artifacts"))
