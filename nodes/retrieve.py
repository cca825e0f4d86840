"""retrieve (L3): candidates for the decision, filtered by permission and validity before any ranking."""

from collections.abc import Sequence
from datetime import datetime

from retrieval.fuse import Fused, QueryHits, fuse
from state.canonical import digest
from state.context import Kind, Trust
from state.knowledge import Candidate, NotChosen, Snapshot
from state.memory import MemoryRecord, MemorySource
from state.node import Node
from state.ports import Artifacts, Index, Lexical, MemoryStore
from state.run import Access, RequestContext, Scope
from state.value import Value
from state.work import Decision, Route, TaskState

_MEMORY_TRUST = {
    MemorySource.SYSTEM_RECORD: Trust.SYSTEM,
    MemorySource.USER_STATED: Trust.USER,
    MemorySource.MODEL_INFERRED: Trust.UNTRUSTED,
}


class Reads(Value):
    """The request context, the decision with its route and limits, the task with its queries."""

    request: RequestContext
    decision: Decision
    task: TaskState


class Writes(Value):
    """The address of the snapshot of what was found; null where the decision needs nothing."""

    candidates: str | None


def make_retrieve(*, index: Index, lexical: Lexical, memory: MemoryStore, artifacts: Artifacts) -> Node:
    """The retrieve node."""

    def run(reads: Reads, scope: Scope) -> Writes:
        decision, now = reads.decision, reads.request.now
        if decision.route is Route.NONE and not decision.memory_limit:
            return Writes(candidates=None)
        access = Access(tenant=scope.tenant, groups=scope.principal.groups, products=scope.principal.products, now=now)
        queries = _queries(reads, scope, artifacts) if decision.route is not Route.NONE else ()
        key = _key(queries, decision, access, index.generation(access))
        for done in reads.task.retrieved:
            if done.key == key:  # nothing changed: an unchanged retrieval is never repeated (L9)
                return Writes(candidates=done.snapshot_ref)
        found, excluded = _documents(queries, decision, access)
        remembered, forgotten = _memories(decision, scope, now)
        snapshot = Snapshot(
            key=key,
            queries=tuple(artifacts.put(scope.tenant, query) for query in queries),
            candidates=(*(_document(scope, fused, now) for fused in found), *remembered),
            excluded=(*excluded, *forgotten),
        )
        return Writes(candidates=artifacts.put(scope.tenant, snapshot.model_dump_json()))

    def _documents(
        queries: Sequence[str], decision: Decision, access: Access
    ) -> tuple[Sequence[Fused], tuple[NotChosen, ...]]:
        k = decision.candidates_limit
        dense = [index.search(query, access, k) for query in queries]
        words = [lexical.search(query, access, k) for query in queries]
        fused = fuse([QueryHits(dense=d.hits, lexical=w.hits) for d, w in zip(dense, words, strict=True)])[:k]
        found = {version for branch in (*dense, *words) for version in branch.excluded}
        excluded = sorted(found, key=lambda version: version.source)
        return fused, tuple(
            NotChosen(
                item_id=version.source,
                kind=Kind.EVIDENCE,
                source=version.source,
                version=version.version,
                reason=version.reason,
            )
            for version in excluded
        )

    def _document(scope: Scope, fused: Fused, now: datetime) -> Candidate:
        chunk = fused.chunk
        return Candidate(
            item_id=chunk.source,
            kind=Kind.EVIDENCE,
            source=chunk.source,
            trust=Trust.UNTRUSTED,
            ref=artifacts.put(scope.tenant, chunk.text),
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
        )

    def _memories(
        decision: Decision, scope: Scope, now: datetime
    ) -> tuple[tuple[Candidate, ...], tuple[NotChosen, ...]]:
        if not decision.memory_limit:
            return (), ()
        recalled = memory.recall(scope, decision.memory_purpose, now)
        kept = [_memory(scope, record, now) for record in (*recalled.facts, *recalled.hypotheses)]
        excluded = tuple(
            NotChosen(item_id=memory_id, kind=Kind.MEMORY, source=f"memory://{memory_id}", reason=reason)
            for memory_id, reason in recalled.excluded
        )
        return tuple(kept), excluded

    def _memory(scope: Scope, record: MemoryRecord, now: datetime) -> Candidate:
        trust = _MEMORY_TRUST[record.source]
        label = "hypothesis, inferred by a model: " if trust is Trust.UNTRUSTED else ""
        text = f"{label}{record.text} (source: {record.source_ref}, since {record.created_at.date().isoformat()})"
        return Candidate(
            item_id=record.memory_id,
            kind=Kind.MEMORY,
            source=f"memory://{record.memory_id}",
            trust=trust,
            ref=artifacts.put(scope.tenant, text),
            version=record.created_at.isoformat(),
            retrieved_at=now,
            tenant=record.tenant,
            scope=record.subject,
            classification=record.classification,
            effective_from=record.created_at,
            effective_to=record.expires_at,
            relevance=0.5 if trust is Trust.UNTRUSTED else 0.8,
            authority=1.0 if trust is Trust.SYSTEM else 0.5,
        )

    return Node("retrieve", Reads, Writes, run, ports=("index", "lexical", "memory", "artifacts"))


def _queries(reads: Reads, scope: Scope, artifacts: Artifacts) -> tuple[str, ...]:
    """What to look for: the user's turn, what the principal's records say the case is about, the model's searches."""
    turn = artifacts.get(scope.tenant, reads.request.turn_ref)
    facts = [fact.value for fact in scope.principal.facts if fact.seeks]
    searches = [artifacts.get(scope.tenant, ref) for ref in reads.task.query_refs]
    return tuple(dict.fromkeys([turn, *facts, *searches]))


def _key(queries: Sequence[str], decision: Decision, access: Access, generation: str) -> str:
    return digest(
        {
            "queries": list(queries),
            "limit": decision.candidates_limit,
            "memory": [decision.memory_purpose, decision.memory_limit],
            "tenant": access.tenant,
            "groups": None if access.groups is None else list(access.groups),
            "products": list(access.products),
            "corpus": generation,
        }
    )
