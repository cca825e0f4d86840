"""Scoped continuity: short facts with a subject, a purpose, a source and an end (S6)."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from state.context import Classification
from state.value import Value

Topic = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]


class MemorySource(StrEnum):
    """Who says so. Only the first two are facts; an unknown source never loads."""

    USER_STATED = "user_stated"
    SYSTEM_RECORD = "system_record"
    MODEL_INFERRED = "model_inferred"
    UNKNOWN = "unknown"


FACTS = (MemorySource.USER_STATED, MemorySource.SYSTEM_RECORD)
# Whose word counts how much against another's, least first: what a system of record holds, a user corrects there.
KNOWN = (MemorySource.MODEL_INFERRED, *FACTS)


class MemoryRecord(Value):
    """One short fact about a subject.

    `about` is the topic it speaks of: of one topic one record stands, and the others say by `superseded_by` which.
    Where the topic holds several, it stands `beside` others until one replaces it.
    `serves` names the decision it was written for. `source_ref` is where `source` said it, `also_from` where else it
    was said. After `review_at` it is left out until somebody confirms it; from `expires_at` on for good.
    """

    memory_id: str
    subject: str
    tenant: str
    purpose: str
    text: str = Field(max_length=400)
    source: MemorySource
    source_ref: str
    basis: str
    created_at: AwareDatetime
    expires_at: AwareDatetime
    classification: Classification = Classification.PERSONAL
    about: str = ""
    beside: bool = False
    serves: str = ""
    review_at: AwareDatetime | None = None
    also_from: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None

    @property
    def is_fact(self) -> bool:
        """Whether the user or a system of record says it; else it is a hypothesis."""
        return self.source in FACTS

    @property
    def authority(self) -> int:
        """How much its source's word counts against another's; -1 where nobody says it."""
        return KNOWN.index(self.source) if self.source in KNOWN else -1

    @property
    def sources(self) -> tuple[str, ...]:
        """Every place where it was said, the one it stands on first."""
        return tuple(dict.fromkeys((self.source_ref, *self.also_from)))

    @property
    def deletion_path(self) -> str:
        """Where it lies: what `agent memory forget` and `agent forget` delete."""
        return f"memory/{self.tenant}/{self.subject}/{self.memory_id}"

    def stands(self, now: datetime) -> bool:
        """Whether it is neither replaced nor ended."""
        return self.superseded_by is None and now < self.expires_at

    def shown(self) -> str:
        """The fact as a request shows it, with its source; what a model inferred is told as a hypothesis."""
        label = "hypothesis, inferred by a model: " if self.source is MemorySource.MODEL_INFERRED else ""
        return f"{label}{self.text} (source: {self.source_ref}, since {self.created_at.date().isoformat()})"


class MemoryTopic(Value):
    """What may be remembered of one topic: for which purpose and decision, on what basis, and how long.

    A fact is kept `fact_days`, what a model inferred `hypothesis_days`. After `review_days` a record is due for review.
    A topic is one thing that can be said in one way at a time, such as how to reach somebody; one that holds `several`
    is many, and what is said newly replaces only what speaks of the same in most of its words.
    """

    purpose: str = Field(min_length=1)
    serves: str = Field(pattern=r"^[a-z_]+/[a-z_]+$")
    basis: str = Field(min_length=1)
    fact_days: int = Field(gt=0)
    hypothesis_days: int = Field(gt=0)
    review_days: int | None = Field(default=None, gt=0)
    several: bool = False


class MemoryTerms(Value):
    """What may be remembered at all, by topic, and whose roles may tend the memories of others in their tenant.

    Without a topic nothing is remembered; without a role everybody tends their own alone.
    """

    topics: dict[Topic, MemoryTopic] = {}
    keeper_roles: tuple[str, ...] = ()


class MemoryNote(Value):
    """What is to be remembered, before it is checked: whose it is, what it is about, what it says and who says so.

    `key` names this one writing: the same key writes the same record again.
    """

    tenant: str = Field(min_length=1)
    subject: str = Field(min_length=1)
    about: str
    text: str
    source: MemorySource
    source_ref: str
    key: str = Field(min_length=1)


class Remembered(Value):
    """A note that was written, and what it did: `merged` said nothing new, `superseded` replaced what stood before,
    `confirmed` made a fact of a hypothesis."""

    did: Literal["new", "merged", "superseded", "confirmed"]
    record: MemoryRecord


class NotRemembered(Value):
    """A note that was not written. `reason` is ours and repeats nothing of the note."""

    reason: Literal[
        "unknown_topic", "unknown_source", "nothing_to_remember", "too_long", "weaker_source", "nothing_to_confirm"
    ]
