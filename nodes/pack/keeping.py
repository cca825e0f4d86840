"""What was made of something that never changes is kept for the laps to come, until something is forgotten."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

from state.checks.kept import lets_go

_Name = TypeVar("_Name", bound=Hashable)
_Made = TypeVar("_Made")


class Keeping(Generic[_Name, _Made]):
    """The newest of what was made, by name. It may hold texts, and lets go of them when something is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[_Name, _Made] = OrderedDict()
        self._lock = Lock()
        lets_go(self)

    def get(self, name: _Name) -> _Made | None:
        """What was made under that name, if it is still kept."""
        with self._lock:
            if (made := self._made.get(name)) is not None:
                self._made.move_to_end(name)
            return made

    def keep(self, name: _Name, made: _Made) -> None:
        """Keep it under a name; the one that was not asked for the longest goes."""
        with self._lock:
            self._made[name] = made
            if len(self._made) > self._most:
                self._made.popitem(last=False)

    def let_go(self) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._made.clear()
