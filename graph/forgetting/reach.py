"""Which bodies only some threads name: what can be erased with them, and what others still need."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.types import INTERRUPT

from graph.forgetting.naming import MANIFEST, POLICY, SNAPSHOT, Item, Named, beside_items, items, named, plain
from graph.stores.artifacts import SqlArtifacts
from graph.stores.records import SqlDecisionLog
from state.context import Kind
from state.ports import ArtifactGone, Ledger, RecordDamaged
from state.value import Value

MEMORIES = "memories"
UNNAMED = "bodies that nothing named"
_ITEMS = {Kind.MEMORY.value: MEMORIES, Kind.TOOL.value: "results"}


class Reached(Value):
    """Bodies by address, each with what it is; and how many more are kept because what stays names them too.

    `memories` are the addresses where a subject's memories may lie and nothing else does, whether a body is there or
    not.
    """

    bodies: dict[str, str]
    shared: int
    memories: tuple[str, ...]


class Reach:
    """Follows addresses from records, ledger and checkpoints to bodies, in one tenant's space."""

    def __init__(
        self, artifacts: SqlArtifacts, log: SqlDecisionLog, ledger: Ledger, saver: BaseCheckpointSaver[Any]
    ) -> None:
        self._artifacts, self._log, self._ledger, self._saver = artifacts, log, ledger, saver

    def of(
        self,
        tenant: str,
        own: Sequence[str],
        others: Sequence[str],
        *,
        subject: str | None = None,
        only: Collection[str] | None = None,
        shown: Iterable[str] = (),
        beside: Iterable[Named] = (),
    ) -> Reached:
        """What the threads `own` alone name; and every memory of `subject`, in whatever thread it was shown, or `only`
        those of these ids.

        `shown` are the addresses that its memories have when they are shown; `beside` is what the threads name beside
        what is stored of them. A body of the same words may be something else too, since its address is made of them:
        what another thread names as anything but this subject's memory stays.

        Manifests and policy records are left: they hold ids and figures, and no text. So are the operator's texts and
        documents. Other threads are followed from all their records, and from where they stand now.
        """
        roots = [*self._roots(tenant, frozenset(own), self._history(own)), *beside]
        mine = {ref: kind for kind, ref in roots if kind not in (MANIFEST, POLICY)}
        seen = {ref for _, ref in roots}
        for named_as, item in self._followed(tenant, roots):
            seen.add(named_as.ref)
            if named_as.kind not in (MANIFEST, POLICY) and not (item is not None and item.of_nobody):
                mine.setdefault(named_as.ref, named_as.kind)
        # What a node put that was killed before anything named it.
        left = {ref for thread in own for ref in self._artifacts.made_by(tenant, thread)} - seen
        mine |= dict.fromkeys(left, UNNAMED)
        memories = dict.fromkeys(shown, MEMORIES)
        theirs: set[str] = set()
        for named_as, item in self._followed(tenant, self._roots(tenant, frozenset(others), self._standing(others))):
            if item is not None and item.remembers(subject, only):
                memories[named_as.ref] = MEMORIES
            else:
                theirs.add(named_as.ref)
        found = {ref: kind for ref, kind in {**mine, **memories}.items() if ref not in theirs}
        there = self._artifacts.present(tenant, found)
        return Reached(
            bodies={ref: kind for ref, kind in found.items() if ref in there},
            shared=len(self._artifacts.present(tenant, (mine.keys() | memories.keys()) & theirs)),
            memories=tuple(ref for ref in memories if ref not in theirs),
        )

    def checkpoints(self, thread: str) -> int:
        """How many checkpoints a thread has."""
        return sum(1 for _ in self._saver.list(_config(thread)))

    def waiting(self, thread: str) -> int:
        """How many calls wait for a person where a thread stands."""
        newest = self._saver.get_tuple(_config(thread))
        writes = newest.pending_writes if newest is not None else None
        asked = [each.value for _, channel, value in writes or () if channel == INTERRUPT for each in value]
        return sum(len(each["approvals"]) for each in asked if isinstance(each, dict) and "approvals" in each)

    def _roots(self, tenant: str, threads: frozenset[str], checkpoints: Iterable[CheckpointTuple]) -> Iterator[Named]:
        for thread, body in self._log.filed(tenant):
            if thread in threads:
                yield from named(plain(body))
        for thread in sorted(threads):
            for row in filter(None, self._ledger.examined(tenant, thread)):  # changed or not: nothing runs by it
                yield from named({"proposal_ref": row.claim.proposal_ref, "result_ref": row.result_ref})
        for checkpoint in checkpoints:
            yield from named(checkpoint.checkpoint["channel_values"])
            for _, channel, value in checkpoint.pending_writes or ():
                yield from named({channel: value})

    def _history(self, threads: Iterable[str]) -> Iterator[CheckpointTuple]:
        for thread in threads:
            yield from self._saver.list(_config(thread))

    def _standing(self, threads: Iterable[str]) -> Iterator[CheckpointTuple]:
        for thread in threads:
            newest = self._saver.get_tuple(_config(thread))
            if newest is not None:
                yield newest

    def _followed(self, tenant: str, roots: Iterable[Named]) -> Iterator[tuple[Named, Item | None]]:
        """The roots, and what the manifests and snapshots among them name.

        The same words have one address, whatever they are: each is followed as everything it was named as.
        """
        for root in dict.fromkeys(roots):
            yield root, None
            if root.kind not in (MANIFEST, SNAPSHOT):
                continue
            try:
                body = self._artifacts.get(tenant, root.ref)
            except (ArtifactGone, RecordDamaged):  # `agent verify` names what was spoilt
                continue
            for item in items(body):
                yield Named(_ITEMS.get(item.kind, "items"), item.ref), item
            for beside in beside_items(body):
                yield beside, None


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
