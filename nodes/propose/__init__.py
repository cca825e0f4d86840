"""propose (L5): one model call returns a typed proposal. Constrained output fixes form, not truth."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

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


class Prepared(NamedTuple):
    """The manifest and its address, the bodies of its items by address, and the request they make."""

    ref: str
    manifest: ContextManifest
    texts: dict[str, str]
    request: Request


def make_propose(*, model: Model, artifacts: Artifacts) -> Node:
    """The propose node, sync and async: waiting on the model holds no thread in the async form."""

    def prepared(reads: Reads, scope: Scope) -> Prepared:
        if reads.manifest.ref is None:
            raise ValueError("propose was reached without a manifest; pack routes to log in that case")
        manifest = ContextManifest.model_validate_json(artifacts.get(scope.tenant, reads.manifest.ref))
        texts = artifacts.get_all(scope.tenant, [item.ref for item in manifest.items])
        return Prepared(
            reads.manifest.ref, manifest, texts, render(manifest.items, texts.__getitem__, manifest.settings)
        )

    def closing(reads: Reads, scope: Scope, ready: Prepared) -> Writes:
        proposal = partial(ready.manifest, ready.texts.__getitem__)
        return Writes(proposal=artifacts.put(scope.tenant, proposal.model_dump_json()), attempts=reads.attempts or ())

    def judged(reads: Reads, scope: Scope, ready: Prepared, reply: Reply | ModelError) -> Writes:
        proposal: Proposal | None = None
        if isinstance(reply, ModelError):
            outcome = reply.outcome
        else:
            try:
                proposal = parse(reply, reads.decision, _quoting(ready))
                outcome = AttemptOutcome(name="proposal")
            except NoProposal as none:
                outcome = none.outcome
        attempt = Attempt(
            manifest_ref=ready.ref,
            request_hash=ready.request.hash(),
            mode=_MODE,
            model=model.name if isinstance(reply, ModelError) else reply.model,
            usage=None if isinstance(reply, ModelError) else reply.usage,
            outcome=outcome,
        )
        stored = None if proposal is None else artifacts.put(scope.tenant, proposal.model_dump_json())
        return Writes(proposal=stored, attempts=(*(reads.attempts or ()), attempt))

    def _quoting(ready: Prepared) -> Callable[[dict[str, JsonValue]], dict[str, JsonValue]]:
        turns = {
            item.ref: ready.texts[item.ref]
            for item in ready.manifest.items
            if item.trust is Trust.USER and item.kind is Kind.TASK_STATE and item.source.startswith("turn://")
        }
        return lambda arguments: quoted(arguments, turns)

    def run(reads: Reads, scope: Scope) -> Writes:
        ready = prepared(reads, scope)
        if reads.decision.kind is DecisionKind.CLOSE:
            return closing(reads, scope, ready)
        try:
            reply: Reply | ModelError = model.reply(ready.request)
        except ModelError as error:
            reply = error
        return judged(reads, scope, ready, reply)

    async def arun(reads: Reads, scope: Scope) -> Writes:
        # The stores are synchronous: off the event loop with them.
        ready = await asyncio.to_thread(prepared, reads, scope)
        if reads.decision.kind is DecisionKind.CLOSE:
            return await asyncio.to_thread(closing, reads, scope, ready)
        try:
            reply: Reply | ModelError = await model.areply(ready.request)
        except ModelError as error:
            reply = error
        return await asyncio.to_thread(judged, reads, scope, ready, reply)

    return Node("propose", Reads, Writes, run, arun, ports=("model", "artifacts"))
