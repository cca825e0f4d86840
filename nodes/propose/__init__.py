"""propose (L5): a model call returns a typed proposal, or its bounded attempts each a typed failure.

Constrained output fixes form, not truth.
"""

import asyncio
from typing import NamedTuple

from nodes.propose.attempts import Attempts
from nodes.propose.partial import partial
from nodes.propose.spending import Spending
from state.asking import CallTerms, Waiting
from state.checks.quote import quoted
from state.context import ContextManifest, Kind, Packed, Trust
from state.node import Node
from state.ports import Artifacts, Model, Secrets, TokenCounter
from state.render import render
from state.request import Attempt, ModelError, Reply, Request
from state.run import RequestContext, Scope
from state.spending import Meter
from state.value import Value
from state.work import Decision, DecisionKind


class Reads(Value):
    """The decision, the manifest's address, and of the request context what limits are counted over. Nothing else
    reaches the model."""

    request: RequestContext
    decision: Decision
    manifest: Packed
    attempts: tuple[Attempt, ...] | None = None


class Writes(Value):
    """The proposal's address, or null; and the attempts of this lap so far."""

    proposal: str | None
    attempts: tuple[Attempt, ...]


class Prepared(NamedTuple):
    """The manifest and its address, and the bodies of its items by address."""

    ref: str
    manifest: ContextManifest
    texts: dict[str, str]


def make_propose(
    *,
    model: Model,
    artifacts: Artifacts,
    tokens: TokenCounter,
    meter: Meter,
    waiting: Waiting,
    terms: CallTerms,
    secrets: Secrets,
) -> Node:
    """The propose node, sync and async: waiting on the model holds no thread in the async form."""

    def prepared(reads: Reads, scope: Scope) -> Prepared:
        if reads.manifest.ref is None:
            raise ValueError("propose was reached without a manifest; pack routes to log in that case")
        manifest = ContextManifest.model_validate_json(artifacts.get(scope.tenant, reads.manifest.ref))
        texts = artifacts.get_all(scope.tenant, [item.ref for item in manifest.items])
        return Prepared(reads.manifest.ref, manifest, texts)

    def closing(reads: Reads, scope: Scope, ready: Prepared) -> Writes:
        proposal = partial(ready.manifest, ready.texts.__getitem__)
        return Writes(proposal=artifacts.put(scope.tenant, proposal.model_dump_json()), attempts=reads.attempts or ())

    def begun(reads: Reads, scope: Scope, ready: Prepared) -> Attempts:
        turns = {
            item.ref: ready.texts[item.ref]
            for item in ready.manifest.items
            if item.trust is Trust.USER and item.kind is Kind.TASK_STATE and item.source.startswith("turn://")
        }
        return Attempts(
            terms=terms,
            decision=reads.decision,
            manifest_ref=ready.ref,
            rendered=render(ready.manifest.items, ready.texts.__getitem__, ready.manifest.settings),
            quote=lambda arguments: quoted(arguments, turns),
            masked=secrets.masked,
            model=model.name,
            spending=Spending(
                tokens=tokens,
                meter=meter,
                prices=terms.prices,
                model=model.name,
                scope=scope,
                request=reads.request,
                most_tokens=ready.manifest.window_tokens - ready.manifest.reserved_output_tokens,
            ),
            before=reads.attempts or (),
        )

    def ended(scope: Scope, attempts: Attempts) -> Writes:
        found = attempts.proposal
        stored = None if found is None else artifacts.put(scope.tenant, found.model_dump_json())
        return Writes(proposal=stored, attempts=attempts.made)

    def run(reads: Reads, scope: Scope) -> Writes:
        ready = prepared(reads, scope)
        if reads.decision.kind is DecisionKind.CLOSE:
            return closing(reads, scope, ready)
        attempts = begun(reads, scope, ready)
        while attempts.request is not None:
            if attempts.after_s:
                waiting.wait(attempts.after_s)
            if attempts.admitted():
                attempts.heard(_asked(model, attempts.request))
        return ended(scope, attempts)

    async def arun(reads: Reads, scope: Scope) -> Writes:
        # The stores are synchronous: off the event loop with them.
        ready = await asyncio.to_thread(prepared, reads, scope)
        if reads.decision.kind is DecisionKind.CLOSE:
            return await asyncio.to_thread(closing, reads, scope, ready)
        attempts = await asyncio.to_thread(begun, reads, scope, ready)
        while attempts.request is not None:
            if attempts.after_s:
                await waiting.await_(attempts.after_s)
            if await asyncio.to_thread(attempts.admitted):
                heard = await _aasked(model, attempts.request)
                await asyncio.to_thread(attempts.heard, heard)
        return await asyncio.to_thread(ended, scope, attempts)

    return Node(
        "propose", Reads, Writes, run, arun, ports=("model", "artifacts", "tokens", "meter", "waiting", "secrets")
    )


def _asked(model: Model, request: Request) -> Reply | ModelError:
    try:
        return model.reply(request)
    except ModelError as error:
        return error


async def _aasked(model: Model, request: Request) -> Reply | ModelError:
    try:
        return await model.areply(request)
    except ModelError as error:
        return error
