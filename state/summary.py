"""Summaries of results by a model: what is filed of one with its result, and the port that makes them (C2, C7).

A model's text is nobody's word: a request shows it as untrusted, no argument may come from it, and what code takes out
of a result stands beside it whether there is one or not.
"""

from typing import Protocol

from pydantic import Field

from state.request import Usage
from state.run import RequestContext, Scope
from state.value import Value


class Summary(Value):
    """A result's summary as its record keeps it. `ref` is the address of its text, None where none was of use: then
    the warnings of the result say why. `tries` are the calls that were made, `usage` and `cost` of the last of them as
    an attempt has them, `counted_tokens` our own count of its request."""

    ref: str | None
    model: str
    tries: int = Field(ge=0)
    counted_tokens: int
    usage: Usage | None = None
    cost: float | None = None


class Summarised(Value):
    """What a summariser brought: a text that was checked, or the code of why there is none."""

    text: str | None
    warning: str | None
    model: str
    tries: int
    counted_tokens: int
    usage: Usage | None = None
    cost: float | None = None


class Summariser(Protocol):
    """Sums a result up, within bounds of its own. It raises nothing: whatever fails is a code."""

    def summarised(self, name: str, body: str, scope: Scope, request: RequestContext) -> Summarised:
        """A summary of a result's body. `name` is the result's public name."""
        ...
