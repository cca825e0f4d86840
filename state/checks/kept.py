"""What was worked out of a text is kept a while: a turn shows the same texts again and again. Forgetting lets it go."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, Protocol, TypeVar, cast
from weakref import WeakSet

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")
_LETS_GO: list[Callable[[], None]] = []


class Keeps(Protocol):
    """An object that keeps texts as long as it lives."""

    def let_go(self) -> None: ...


_KEEPERS: WeakSet[Keeps] = WeakSet()


def kept(most: int) -> Callable[[Callable[_Given, _Made]], Callable[_Given, _Made]]:
    """Keep the newest results of a pure function of texts, in this process, until they are let go."""

    def keeping(made: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
        keeper = lru_cache(maxsize=most)(made)
        _LETS_GO.append(keeper.cache_clear)
        return cast(Callable[_Given, _Made], keeper)

    return keeping


def on_let_go(clear: Callable[[], None]) -> None:
    """Have something else that holds texts cleared as well."""
    _LETS_GO.append(clear)


def lets_go(keeper: Keeps) -> None:
    """Have an object that keeps texts let go of them as well."""
    _KEEPERS.add(keeper)


def let_go() -> None:
    """Hold no text any more: what is asked for again is worked out again."""
    for clear in _LETS_GO:
        clear()
    for keeper in tuple(_KEEPERS):
        keeper.let_go()
