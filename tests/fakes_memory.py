"""A keeper of memories, in memory: for tests of nodes."""

from state.memory import NotRemembered, Remembered
from state.run import Scope
from state.work import Quote


class FakeMemoryKeeper:
    """Notes what it was given, and refuses it."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str, str, Quote | None, str]] = []
        self.forgotten: list[tuple[str, str]] = []

    def remember(
        self, scope: Scope, about: str, text: str, quote: Quote | None, key: str
    ) -> Remembered | NotRemembered:
        self.given.append((scope.principal.name, about, text, quote, key))
        return NotRemembered(reason="weaker_source")

    def forget(self, scope: Scope, about: str) -> int:
        self.forgotten.append((scope.principal.name, about))
        return 1
