"""The retrieve node on fakes: a small corpus of three versions, and memories of every source."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from langgraph.store.memory import InMemoryStore

from nodes.retrieve import Reads, make_retrieve
from retrieval.memory import StoreMemory
from state.context import Span
from state.knowledge import Chunk, Snapshot
from state.memory import MemoryRecord, MemorySource
from state.run import Access, Principal, Scope
from state.search import Found
from state.work import Route
from tests.desk import AGENT
from tests.fakes import NOW
from tests.fakes_retrieval import FakeIndex
from tests.nodes.parts import Parts, decision

DAY = timedelta(days=1)


def chunk(name: str, text: str, **changes: Any) -> Chunk:
    document, _, version = name.partition("@")
    made = Chunk(
        chunk_id=name,
        document_id=document,
        version=version,
        source=f"{name}#top",
        title="",
        headings=(),
        text=text,
        span=Span(start=0, end=len(text)),
        tenant="t1",
        effective_from=NOW - DAY,
    )
    return made.model_copy(update=changes)


REFUNDS = chunk("refunds@v2", "refund an order within 30 days", acl=("desk",), authority=0.9)
CHUNKS = [
    REFUNDS,
    chunk("refunds@v1", "refund an order within 14 days", effective_from=NOW - 2 * DAY, acl=("desk",)),
    chunk("refunds@v3", "refund an order within 45 days", effective_from=NOW + DAY, acl=("desk",)),
    chunk("salaries@v1", "refund of salaries, order of the board", acl=("hr",)),
    chunk("theirs@v1", "refund ZX-881 order", tenant="t2"),
    chunk("tickets@v1", "the parcel is lost"),
]


def memory(memory_id: str, source: MemorySource = MemorySource.USER_STATED, **changes: Any) -> MemoryRecord:
    made = MemoryRecord(
        memory_id=memory_id,
        subject=AGENT.name,
        tenant="t1",
        purpose="desk",
        text=f"{memory_id} says hello",
        source=source,
        source_ref="turn://1",
        basis="contract",
        created_at=NOW - DAY,
        expires_at=NOW + DAY,
    )
    return made.model_copy(update=changes)


class CountedIndex(FakeIndex):
    """Both branches, with every search counted."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        super().__init__(chunks)
        self.searched = 0

    def search(self, query: str, access: Access, k: int) -> Found:
        self.searched += 1
        return super().search(query, access, k)


class Library:
    """The retrieve node on fakes."""

    def __init__(
        self, parts: Parts, chunks: Sequence[Chunk] = CHUNKS, memories: Sequence[MemoryRecord] = (memory("m"),)
    ) -> None:
        self.parts = parts
        self.index = CountedIndex(chunks)
        self.memory = StoreMemory(InMemoryStore())
        for record in memories:
            self.memory.add(record)
        self.node = make_retrieve(index=self.index, lexical=self.index, memory=self.memory, artifacts=parts.artifacts)

    def run(self, principal: Principal = AGENT, task: Any = None, request: Any = None, **changes: Any) -> Any:
        given = {"route": Route.SINGLE, "evidence_limit": 2, "memory_limit": 1, "memory_purpose": "desk", **changes}
        reads = Reads(
            request=request or self.parts.request(), decision=decision(**given), task=task or self.parts.task()
        )
        return self.node.run(reads, Scope(principal=principal, actor=principal, thread="T"))

    def snapshot(self, **given: Any) -> Snapshot:
        wrote = self.run(**given)
        assert wrote.model_fields_set == {"candidates"}
        return Snapshot.model_validate_json(self.parts.get(wrote.candidates))
