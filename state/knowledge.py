"""Documents on their way into a request: chunks, hits, and the candidates that pack chooses from (S5)."""

from pydantic import AwareDatetime, Field

from state.context import Classification, DropReason, Kind, Span, Trust
from state.stated import Facts
from state.value import Value

HINT = "hint"  # the score that a candidate has where a hint found it, and not the question: the hint's weight


class Chunk(Value):
    """A piece of one document version, cut on section and paragraph boundaries.

    `source` is its citable address, `runbook/api-keys@v7#revoked-keys`; `span` counts characters of the original.
    `states` are the facts that the document declares of this section.
    """

    chunk_id: str
    document_id: str
    version: str
    source: str
    title: str
    headings: tuple[str, ...]
    text: str
    span: Span
    tenant: str
    acl: tuple[str, ...] = ()
    product: str = ""
    language: str = "en"
    classification: Classification = Classification.INTERNAL
    authority: float = Field(default=0.5, ge=0, le=1)
    effective_from: AwareDatetime
    effective_to: AwareDatetime | None = None
    states: Facts = Field(default={}, exclude_if=lambda states: not states)


class Hit(Value):
    """A chunk that one branch found, with that branch's score (higher is better), best first."""

    chunk: Chunk
    score: float


class Excluded(Value):
    """What may be seen by the principal and was left out: a version that is not valid now, or the copy of a text."""

    source: str
    version: str
    reason: DropReason


class Candidate(Value):
    """Something that may enter a request: address and scores, no text."""

    item_id: str
    kind: Kind
    source: str
    trust: Trust
    ref: str
    version: str | None = None
    retrieved_at: AwareDatetime
    tenant: str
    scope: str
    classification: Classification = Classification.INTERNAL
    span: Span | None = None
    effective_from: AwareDatetime | None = None
    effective_to: AwareDatetime | None = None
    relevance: float = Field(ge=0, le=1)
    authority: float = Field(default=0.5, ge=0, le=1)
    freshness: float = Field(default=1.0, ge=0, le=1)
    scores: dict[str, float] = {}
    states: Facts = Field(default={}, exclude_if=lambda states: not states)


class NotChosen(Value):
    """A candidate that retrieval itself left out, on its way into the manifest's dropped list."""

    item_id: str
    kind: Kind
    source: str
    version: str | None = None
    scores: dict[str, float] = {}
    reason: DropReason


class Snapshot(Value):
    """What one retrieval found. Its key names the queries, the access and the state of the corpus.

    `memories_excluded` counts by reason all memories that were left out, where `excluded` does not list them all.
    """

    key: str
    queries: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    excluded: tuple[NotChosen, ...] = ()
    memories_excluded: dict[DropReason, int] = Field(default={}, exclude_if=lambda counts: not counts)
