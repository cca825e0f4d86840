"""retrieve (L3): candidates for the decision, filtered by permission and validity before any ranking."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from retrieval.fuse import Fused
from retrieval.gather import Searcher
from retrieval.links import Links
from retrieval.ranking import Ranking
from state.canonical import digest
from state.context import DropReason, Kind, Trust
from state.knowledge import Candidate, NotChosen, Snapshot
from state.memory import MemoryRecord, MemorySource
from state.memory_ports import MemoryStore
from state.node import Node
from state.ports import Artifacts
from state.run import Access, RequestContext, Scope
from state.search import Index, Lexical, Reranker
from state.task import TaskState
from state.value import Value
from state.work import Decision, Route

_MEMORY_TRUST = {
    MemorySource.SYSTEM_RECORD: Trust.SYSTEM,
    MemorySource.USER_STATED: Trust.USER,
    MemorySource.MODEL_INFERRED: Trust.UNTRUSTED,
}
_MEMORY_AUTHORITY = {Trust.SYSTEM: 1.0, Trust.USER: 0.8, Trust.UNTRUSTED: 0.5}


# An open ticket helps to find evidence where the question alone does not, and must not outweigh the question.
_HINT = 0.6
_HOPS = 2  # of the iterative route: from what was found to what it names, and once more


class Reads(Value):
    """The request context, the decision with its route and limits, the task with its queries."""

    request: RequestContext
    decision: Decision
    task: TaskState


class Writes(Value):
    """The address of the snapshot of what was found; null where the decision needs nothing."""

    candidates: str | None


class _Bodies:
    """What a snapshot names: addressed at once, stored together with it."""

    def __init__(self, artifacts: Artifacts, tenant: str) -> None:
        self._artifacts, self._tenant = artifacts, tenant
        self._texts: list[str] = []

    def add(self, text: str) -> str:
        """The address of a text that the snapshot will name."""
        self._texts.append(text)
        return self._artifacts.address(self._tenant, text)

    def stored_with(self, snapshot: str) -> str:
        """Store what was added and the snapshot, all or nothing; the snapshot's address."""
        return self._artifacts.put_all(self._tenant, [*self._texts, snapshot])[-1]


def make_retrieve(
    *,
    index: Index,
    lexical: Lexical,
    memory: MemoryStore,
    artifacts: Artifacts,
    reranker: Reranker | None = None,
    ranking: Ranking | None = None,
    links: Links | None = None,
) -> Node:
    """The retrieve node. `ranking` holds what `agent tune` fitted; without it the defaults. Without `links` the
    iterative route finds what the single one does."""
    searcher = Searcher(index, lexical, reranker, ranking or Ranking(), links)
    ranked_by: list[JsonValue] = [searcher.ranking.model_dump(mode="json"), reranker.name if reranker else None]

    def run(reads: Reads, scope: Scope) -> Writes:
        decision, now = reads.decision, reads.request.now
        if decision.route is Route.NONE and not decision.memory_limit:
            return Writes(candidates=None)
        access = Access(tenant=scope.tenant, groups=scope.principal.groups, products=scope.principal.products, now=now)
        queries = _queries(reads, scope, artifacts) if decision.route is not Route.NONE else {}
        bodies = _Bodies(artifacts, scope.tenant)
        remembered, forgotten, counts = _memories(reads, scope, bodies)
        memories = {kept.item_id: kept.ref for kept in remembered} | {out.item_id: out.reason for out in forgotten}
        key = _key(queries, decision, access, [index.generation(access), ranked_by], memories)
        for done in reads.task.retrieved:
            if done.key == key:  # nothing changed: an unchanged retrieval is never repeated (L9)
                return Writes(candidates=done.snapshot_ref)
        found, excluded = _documents(queries, decision, access)
        snapshot = Snapshot(
            key=key,
            queries=tuple(bodies.add(query) for query in queries),
            candidates=(*(_document(fused, now, bodies) for fused in found), *remembered),
            excluded=(*excluded, *forgotten),
            memories_excluded=counts if sum(counts.values()) > len(forgotten) else {},
        )
        return Writes(candidates=bodies.stored_with(snapshot.model_dump_json()))

    def _documents(
        queries: Mapping[str, float], decision: Decision, access: Access
    ) -> tuple[Sequence[Fused], tuple[NotChosen, ...]]:
        hops = _HOPS if decision.route is Route.ITERATIVE else 0
        gathered = searcher.gather(queries, access, decision.candidates_limit, hops)
        return gathered.fused, tuple(
            NotChosen(
                item_id=version.source,
                kind=Kind.EVIDENCE,
                source=version.source,
                version=version.version,
                reason=version.reason,
            )
            for version in gathered.excluded
        )

    def _document(fused: Fused, now: datetime, bodies: _Bodies) -> Candidate:
        chunk = fused.chunk
        return Candidate(
            item_id=chunk.source,
            kind=Kind.EVIDENCE,
            source=chunk.source,
            trust=Trust.UNTRUSTED,
            ref=bodies.add(chunk.text),
            version=chunk.version,
            retrieved_at=now,
            tenant=chunk.tenant,
            scope=",".join(chunk.acl) or chunk.tenant,
            classification=chunk.classification,
            span=chunk.span,
            effective_from=chunk.effective_from,
            effective_to=chunk.effective_to,
            relevance=fused.relevance,
            authority=chunk.authority,
            scores=fused.scores,
            states=chunk.states,
        )

    def _memories(
        reads: Reads, scope: Scope, bodies: _Bodies
    ) -> tuple[tuple[Candidate, ...], tuple[NotChosen, ...], dict[DropReason, int]]:
        decision, now = reads.decision, reads.request.now
        if not decision.memory_limit:
            return (), (), {}
        asked = artifacts.get(scope.tenant, reads.request.turn_ref)
        recalled = memory.recall(scope, decision.memory_purpose, now, asked)
        records = (*recalled.facts, *recalled.hypotheses)
        kept = [_memory(record, recalled.relevance.get(record.memory_id, 0.0), now, bodies) for record in records]
        excluded = tuple(
            NotChosen(item_id=memory_id, kind=Kind.MEMORY, source=f"memory://{memory_id}", reason=reason)
            for memory_id, reason in recalled.excluded
        )
        return tuple(kept), excluded, recalled.excluded_by_reason

    def _memory(record: MemoryRecord, share: float, now: datetime, bodies: _Bodies) -> Candidate:
        trust = _MEMORY_TRUST[record.source]
        known = 0.5 if trust is Trust.UNTRUSTED else 0.8
        return Candidate(
            item_id=record.memory_id,
            kind=Kind.MEMORY,
            source=f"memory://{record.memory_id}",
            trust=trust,
            ref=bodies.add(record.shown()),
            version=record.created_at.isoformat(),
            retrieved_at=now,
            tenant=record.tenant,
            scope=record.subject,
            classification=record.classification,
            effective_from=record.created_at,
            effective_to=record.expires_at,
            # Half of it without a shared word: a preference bears on every question.
            relevance=round(known * (0.5 + 0.5 * share), 6),
            authority=_MEMORY_AUTHORITY[trust],
        )

    return Node("retrieve", Reads, Writes, run, ports=("index", "lexical", "reranker", "links", "memory", "artifacts"))


def _queries(reads: Reads, scope: Scope, artifacts: Artifacts) -> dict[str, float]:
    """What to look for, with its weight: the user's turn, the model's searches, what records say the case is about."""
    texts = artifacts.get_all(scope.tenant, (reads.request.turn_ref, *reads.task.query_refs))
    turn, searches = texts[reads.request.turn_ref], [texts[ref] for ref in reads.task.query_refs]
    hints = [fact.value for fact in scope.principal.facts if fact.seeks]
    return {**dict.fromkeys(hints, _HINT), **dict.fromkeys(searches, 1.0), turn: 1.0}


def _key(
    queries: Mapping[str, float],
    decision: Decision,
    access: Access,
    corpus: list[JsonValue],
    memories: Mapping[str, str],
) -> str:
    return digest(
        {
            "queries": dict(queries),
            "limit": decision.candidates_limit,
            "route": decision.route.value,
            "memory": [decision.memory_purpose, decision.memory_limit, dict(memories)],
            "tenant": access.tenant,
            "groups": None if access.groups is None else list(access.groups),
            "products": list(access.products),
            "corpus": corpus,
        }
    )
