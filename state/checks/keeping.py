"""What was made of something that never changes is kept for the laps to come, until something is forgotten."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

from state.checks.kept import lets_go

MOST_CHARS = 16_000_000  # that one keeper holds, over all threads: a contract may let a result be a million of them
_Name = TypeVar("_Name", bound=Hashable)
_Made = TypeVar("_Made")


class Keeping(Generic[_Name, _Made]):
    """The newest of what was made, by name, so many and so many characters at most. It may hold texts, and lets go of
    them when something is forgotten."""

    def __init__(self, most: int, most_chars: int = MOST_CHARS) -> None:
        self._most, self._most_chars, self._chars = most, most_chars, 0
        self._made: OrderedDict[_Name, tuple[_Made, int]] = OrderedDict()
        self._lock = Lock()
        lets_go(self)

    def get(self, name: _Name) -> _Made | None:
        """What was made under that name, if it is still kept."""
        with self._lock:
            if (found := self._made.get(name)) is None:
                return None
            self._made.move_to_end(name)
            return found[0]

    def keep(self, name: _Name, made: _Made, chars: int) -> None:
        """Keep what holds so many characters under a name; what was not asked for the longest goes. What is larger than
        all that may be kept takes nobody's place."""
        with self._lock:
            self._chars -= self._made.pop(name, (None, 0))[1]
            if chars > self._most_chars:
                return
            self._made[name] = made, chars
            self._chars += chars
            while len(self._made) > self._most or self._chars > self._most_chars:
                self._chars -= self._made.popitem(last=False)[1][1]

    def let_go(self) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._made.clear()
            self._chars = 0
