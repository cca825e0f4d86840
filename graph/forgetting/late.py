"""A node that was at work while its thread was forgotten: nothing of what it brings becomes a checkpoint."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from graph.forgetting.forget import Forgetting
from graph.scope import Identity
from graph.stores.ownership import UnknownThread
from state.node import Node
from state.ports import ArtifactGone
from state.run import Scope
from state.value import Value

Brought = Value | Mapping[str, Any]


def looking_back(node: Node, identity: Identity, forgetting: Forgetting) -> Node:
    """The node, which raises ThreadForgotten at its end where the thread was forgotten while it waited for the outside.

    A model or a tool may take any time. Every other node is over in milliseconds: that its thread was not forgotten
    when it began, as its scope says, is enough. Where a body went under its hands, it says why.
    """

    def ended(scope: Scope, brought: Brought) -> None:
        try:
            identity.not_forgotten(scope)
        except UnknownThread:
            plain = brought.model_dump(mode="json") if isinstance(brought, Value) else brought
            forgetting.late(scope.tenant, scope.thread, plain)
            raise

    @contextmanager
    def told(scope: Scope) -> Iterator[None]:
        try:
            yield
        except ArtifactGone:
            identity.not_forgotten(scope)
            raise

    def run(reads: Any, scope: Scope) -> Brought:
        with told(scope):
            brought = node.run(reads, scope)
        if node.arun is not None:
            ended(scope, brought)
        return brought

    if node.arun is None:
        return replace(node, run=run)
    waiting = node.arun

    async def arun(reads: Any, scope: Scope) -> Brought:
        with told(scope):
            brought = await waiting(reads, scope)
        await asyncio.to_thread(ended, scope, brought)
        return brought

    return replace(node, run=run, arun=arun)
