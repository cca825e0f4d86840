"""What a node is: a name, the slice it reads, the keys it writes, and a plain function between them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from state.run import Scope
from state.value import Value


@dataclass(frozen=True)
class Node:
    """One box of the drawing.

    `run(reads, scope)` gets an instance of `reads` and gives an instance of `writes`; only the fields that it
    sets are written. `arun` is the same for a node that waits on the outside. `ports` and `domain` name what
    the factory was given, for the slice table.
    """

    name: str
    reads: type[Value]
    writes: type[Value]
    run: Callable[[Any, Scope], Value | Mapping[str, Any]]
    arun: Callable[[Any, Scope], Awaitable[Value | Mapping[str, Any]]] | None = None
    ports: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()


class SliceError(TypeError):
    """A node got a slice without a field it needs, or returned a key it may not write."""
