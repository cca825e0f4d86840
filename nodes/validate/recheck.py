"""What held when the request was made and may not hold now: the memories that it showed (S6)."""

from datetime import datetime

from state.context import ContextManifest, Kind
from state.memory_ports import MemoryStore
from state.run import Scope
from state.work import Decision


def lapsed(memory: MemoryStore, manifest: ContextManifest, decision: Decision, scope: Scope, now: datetime) -> bool:
    """Whether a memory that the request showed has ended since, or was replaced or forgotten."""
    shown = {item.item_id for item in manifest.items if item.kind is Kind.MEMORY}
    return bool(shown) and not shown <= memory.current(scope, decision.memory_purpose, now)
