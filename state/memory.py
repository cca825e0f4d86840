"""Scoped continuity: short facts with a subject, a purpose, a source and an end (S6)."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from state.context import Classification
from state.value import Value


class MemorySource(StrEnum):
    """Who says so. Only the first two are facts; an unknown source never loads."""

    USER_STATED = "user_stated"
    SYSTEM_RECORD = "system_record"
    MODEL_INFERRED = "model_inferred"
    UNKNOWN = "unknown"


class MemoryRecord(Value):
    """One short fact about a subject."""

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

    def shown(self) -> str:
        """The fact as a request shows it, with its source; what a model inferred is told as a hypothesis."""
        label = "hypothesis, inferred by a model: " if self.source is MemorySource.MODEL_INFERRED else ""
        return f"{label}{self.text} (source: {self.source_ref}, since {self.created_at.date().isoformat()})"
