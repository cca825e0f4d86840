"""The ports of memory (S6): who reads it, and who writes and deletes it."""

from datetime import datetime
from typing import Protocol

from state.context import DropReason
from state.memory import MemoryRecord, NotRemembered, Remembered
from state.run import Scope
from state.value import Value
from state.work import Quote


class Recalled(Value):
    """Memories that passed the four checks, facts apart from hypotheses, best first, and the others with their reason.

    `relevance` says by id how much of a memory what is asked shares, between 0 and 1. Of what is excluded the most
    relevant are listed, and all are counted by reason.
    """

    facts: tuple[MemoryRecord, ...]
    hypotheses: tuple[MemoryRecord, ...]
    excluded: tuple[tuple[str, DropReason], ...]
    excluded_by_reason: dict[DropReason, int] = {}
    relevance: dict[str, float] = {}


class MemoryStore(Protocol):
    """Scoped memory (S6). `recall` sees the scope's tenant and subjects only. `add` writes all or none.

    `current` are the ids of all that `recall` would let in, however little it bears on what is asked.
    """

    def recall(self, scope: Scope, purpose: str, now: datetime, asked: str = "") -> Recalled: ...

    def current(self, scope: Scope, purpose: str, now: datetime) -> frozenset[str]: ...

    def add(self, *memories: MemoryRecord) -> None: ...


class MemoryKeeper(Protocol):
    """Writes and deletes the memories of a scope's principal (S6).

    `remember` takes what the user stated only where `quote` is a whole sentence of a turn of the user's; else it is the
    model's. `key` names this one writing. `forget` deletes all of a topic, wherever it was shown, and says how many.
    """

    def remember(
        self, scope: Scope, about: str, text: str, quote: Quote | None, key: str
    ) -> Remembered | NotRemembered: ...

    def forget(self, scope: Scope, about: str) -> int: ...
