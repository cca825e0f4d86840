"""Of many tools the ones that a request offers: found by search over their contracts, with a form to look for others.

A model chooses worse among many tools, and pays for each definition in every request. So where the policy bounds them,
the turn's words choose, and then what the model looks for. Rare words weigh more, and no model is asked: the same words
bring the same tools everywhere. What shares no word keeps the decision's order.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from retrieval.words import index_words, query_words
from state.context import Dropped, DropReason, Kind
from state.contract import ToolContract
from state.work import Decision, Form

_NAME_WEIGHT = 2.0  # a word of a tool's name says more of it than one of its description


class Narrowed(NamedTuple):
    """The decision as its request offers it, and the tools that are not offered, each with its reason."""

    decision: Decision
    left_out: tuple[Dropped, ...]


class ToolSearch:
    """The words of the contracts, counted once."""

    def __init__(self, contracts: Mapping[str, ToolContract]) -> None:
        self._names = {name: frozenset(index_words(name)) for name in contracts}
        self._words = {name: frozenset(index_words(_text(contract))) for name, contract in contracts.items()}

    def narrowed(
        self, decision: Decision, queries: Sequence[str], most: int | None, steps: Sequence[str] = ()
    ) -> Narrowed:
        """The decision with at most so many of its tools: those that a plan's next step needs, then by turns the best
        for each query, the newest query first. Without a bound, or the form to look for others, all are offered."""
        withheld = tuple(_dropped(name, DropReason.DEFINITION_CHANGED) for name in decision.withheld)
        if Form.SEARCH_TOOLS not in decision.forms:
            return Narrowed(decision, withheld)
        if most is None or len(decision.tools) <= most:
            forms = tuple(form for form in decision.forms if form is not Form.SEARCH_TOOLS)
            return Narrowed(decision.model_copy(update={"forms": forms}), withheld)
        scores = [self._scores(decision.tools, query) for query in reversed(queries)]
        ranked = [_best_first(decision.tools, by) for by in scores]
        found = [name for name in steps[:1] if name in decision.tools]
        found += _by_turns(ranked, scores)
        kept = frozenset(list(dict.fromkeys((*found, *decision.tools)))[:most])
        best = {name: max((by[name] for by in scores), default=0.0) for name in decision.tools}
        left_out = (_dropped(name, DropReason.OVER_LIMIT, best[name]) for name in decision.tools if name not in kept)
        tools = tuple(name for name in decision.tools if name in kept)
        return Narrowed(decision.model_copy(update={"tools": tools}), (*withheld, *left_out))

    def _scores(self, tools: Sequence[str], query: str) -> dict[str, float]:
        held_by = Counter(word for name in tools for word in self._words[name])
        asked = query_words(query)

        def score(name: str) -> float:
            shared = (word for word in asked if word in self._words[name])
            return sum(
                math.log(1 + len(tools) / held_by[word]) * (_NAME_WEIGHT if word in self._names[name] else 1.0)
                for word in shared
            )

        return {name: score(name) for name in tools}


def _dropped(name: str, reason: DropReason, relevance: float | None = None) -> Dropped:
    scores = {} if relevance is None else {"relevance": round(relevance, 6)}
    return Dropped(item_id=name, kind=Kind.TOOL, source=f"tool://{name}", scores=scores, reason=reason)


def _best_first(tools: Sequence[str], by: Mapping[str, float]) -> list[str]:
    return sorted(tools, key=lambda name: -by[name])


def _by_turns(ranked: Sequence[Sequence[str]], scores: Sequence[Mapping[str, float]]) -> Iterator[str]:
    for row in zip_longest(*ranked):
        yield from (name for name, by in zip(row, scores, strict=True) if name is not None and by[name] > 0)


def _text(contract: ToolContract) -> str:
    properties = contract.parameters.get("properties")
    told = []
    for name, schema in (properties if isinstance(properties, dict) else {}).items():
        told += [name, str(schema.get("description", "")) if isinstance(schema, dict) else ""]
    return " ".join((contract.name, contract.description, *told))
