"""What enters a request: one ContextItem per block, one ContextManifest per request (M1, M2)."""

from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from state.value import Value


class Kind(StrEnum):
    """The five kinds of context; the source URI says more (`policy://`, `turn://`, `toolrun://`, ...)."""

    INSTRUCTION = "instruction"
    TASK_STATE = "task_state"
    EVIDENCE = "evidence"
    MEMORY = "memory"
    TOOL = "tool"


class Trust(StrEnum):
    """Who made a text. Trust belongs to a field, not to the tool or store it came through."""

    POLICY = "policy"  # written by the operator: policy, instructions, examples, locked skills
    SYSTEM = "system"  # made by our code or a system of record
    USER = "user"  # the principal's own words
    UNTRUSTED = "untrusted"  # everything else: documents, third-party fields, model-made text


CONFLICT = "conflict"  # the scheme of a block that shows the sides of a conflict (S11)

# Whose texts are scanned for signs of an injection and for personal data (X8).
SCANNED = (Trust.USER, Trust.UNTRUSTED)


class Classification(StrEnum):
    """How widely a text may travel."""

    PUBLIC = "public"
    INTERNAL = "internal"
    PERSONAL = "personal"


class Span(Value):
    """Where a quoted text stands in its stored original: character offsets, end exclusive."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    section: str = ""


class Provenance(Value):
    """Where an item comes from and under which permission it was admitted."""

    tenant: str
    scope: str
    classification: Classification = Classification.INTERNAL
    span: Span | None = None
    content_hash: str
    scores: dict[str, float] = {}
    effective_from: AwareDatetime | None = None
    effective_to: AwareDatetime | None = None
    origin_turn: int | None = None
    derived_from: tuple[str, ...] = ()


class ContextItem(Value):
    """One block of a request (M1). `ref` is the address of its text; the item itself holds none."""

    item_id: str
    kind: Kind
    source: str
    trust: Trust
    retrieved_at: AwareDatetime
    version: str | None = None
    token_count: int
    ref: str
    provenance: Provenance

    @property
    def sides(self) -> tuple[str, ...]:
        """The sources that disagree, of a block that shows a conflict; nothing that was retrieved has any."""
        shows = self.kind is Kind.EVIDENCE and self.source.startswith(f"{CONFLICT}://")
        return self.provenance.derived_from if shows else ()


class DropReason(StrEnum):
    """Why a candidate that the principal may see is not in the request."""

    OVER_BUDGET = "over_budget"
    UTILITY_NOT_POSITIVE = "utility_not_positive"
    OVER_LIMIT = "over_limit"
    SUPERSEDED = "superseded"
    NOT_YET_EFFECTIVE = "not_yet_effective"
    NO_LONGER_EFFECTIVE = "no_longer_effective"
    EXPIRED = "expired"
    INVALID_EXPIRY = "invalid_expiry"
    OTHER_PURPOSE = "other_purpose"
    UNKNOWN_SOURCE = "unknown_source"
    MALFORMED = "malformed"
    UNTRUSTED_IN_PLAN = "untrusted_in_plan"
    OVER_SHARE = "over_share"
    NO_LONGER_SO = "no_longer_so"
    TOLD_BY_NEWER = "told_by_newer"
    NEAR_DUPLICATE = "near_duplicate"
    REVIEW_DUE = "review_due"
    DEFINITION_CHANGED = "definition_changed"  # of a server's tool, since it was reviewed


class Dropped(Value):
    """A candidate left out: id, version, scores and reason, never its text (M2)."""

    item_id: str
    kind: Kind
    source: str
    version: str | None = None
    token_count: int | None = None
    scores: dict[str, float] = {}
    reason: DropReason


class Truncated(Value):
    """An item shown in part; `original_ref` is the address of the whole."""

    item_id: str
    original_ref: str
    kept_tokens: int
    full_tokens: int
    reason: str


class MaskReason(StrEnum):
    """Why a result is shown in another form (C3, C4, C6)."""

    CHANGED_SINCE = "changed_since"
    REPEATED = "repeated"
    EMPTY = "empty"
    SUMMARISED = "summarised"
    OVER_SHARE = "over_share"  # in manifests of earlier releases


class Masked(Value):
    """A block whose text was replaced by a name or a summary, or that went with one; the original stays addressable."""

    item_id: str
    original_ref: str
    reason: MaskReason


class Flag(Value):
    """What a guard saw in an item's text, how often, and how much it weighs where that is scored, between 0 and 1.

    Telemetry, never a gate. It holds kinds and counts, never what was seen.
    """

    item_id: str
    name: str
    count: int
    score: float | None = None


class RequestSettings(Value):
    """The settings sent with a request."""

    max_output_tokens: int = Field(gt=0)
    temperature: float = 0.0


class ContextManifest(Value):
    """The record of what one request holds and what was left out of it (M2, M3).

    `total_input_tokens` is the count of the rendered request. It equals the items' counts plus
    `overhead_tokens`, which is measured and may be negative (blocks share tokens at their seams).
    Item order is request order: rendering a manifest needs nothing but the bodies its items name. `policy_ref` is the
    address of the policy record itself, so that a changed one of the same version is told apart. `prefix_before` is the
    prefix of the last request of this kind and toolset, where it was another: what a server cached is lost (P1).
    `memories_excluded` counts by reason all memories that were left out, where `dropped` lists only the most relevant.
    """

    request_id: str
    tenant_id: str
    decision_kind: str
    toolset: str
    items: tuple[ContextItem, ...]
    total_input_tokens: int
    overhead_tokens: int
    budget_tokens: int
    window_tokens: int
    reserved_output_tokens: int
    dropped: tuple[Dropped, ...] = ()
    memories_excluded: dict[DropReason, int] = Field(default={}, exclude_if=lambda counts: not counts)
    truncated: tuple[Truncated, ...] = ()
    masked: tuple[Masked, ...] = ()
    flags: tuple[Flag, ...] = ()
    tokenizer: str
    prefix_hash: str
    prefix_before: str | None = Field(default=None, exclude_if=lambda before: before is None)
    policy_version: str
    policy_ref: str
    settings: RequestSettings


class Packed(Value):
    """What pack hands on: the address of the manifest, or why there is no request (a value, not an exception).

    `notices` are the events, by number, that the request tells, and those that it leaves out, with the reason.
    """

    ref: str | None
    prefix_hash: str | None = None
    failure: Literal["does_not_fit", "insufficient"] | None = None
    notices: tuple[tuple[int, DropReason | None], ...] = Field(default=(), exclude_if=lambda notices: not notices)
    missing: tuple[str, ...] = ()
