"""Measuring tool search on labelled questions: is the right tool offered, at once or after one search (S7)?

No model is asked. Counted is what a request would show: the definitions of the tools, of the forms, and for the extra
step all of one more request's definitions. What a model would write as its query stands in the labels, as `looks_for`.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from nodes.pack.tool_search import ToolSearch
from state.contract import ToolContract
from state.forms import FORMS
from state.ports import TokenCounter
from state.request import ToolSpec
from state.value import Value
from state.work import DecisionKind, DecisionSpec, Form


class Labelled(Value):
    """A question, the tools that answer it, and what a model that does not see one would look for."""

    question: str
    tools: tuple[str, ...]
    looks_for: tuple[str, ...] = ()


class Found(Value):
    """Over all questions and their tools, with `most` of the tools offered: the shares of tools that the first request
    offers and that one search more offers, the mean tokens of definitions of a request that offers all and of one that
    offers a part, and the mean tokens of a whole question with its searches."""

    most: int
    tools: int
    wanted: int
    at_once: float
    after_search: float
    tokens_all: float
    tokens_part: float
    tokens_with_searches: float


def measured(
    contracts: Sequence[ToolContract], questions: Sequence[Labelled], most: int, tokens: TokenCounter
) -> Found:
    """The figures of one bound. Raises ValueError for a label that names no tool."""
    by_name = {contract.name: contract for contract in contracts}
    if unknown := sorted({name for one in questions for name in one.tools} - by_name.keys()):
        raise ValueError(f"got the tools {', '.join(unknown)}; allowed: those of the contracts")
    search = ToolSearch(by_name)
    spec = DecisionSpec(
        kind=DecisionKind.GATHER, toolset="all", tools=tuple(by_name), forms=(Form.ANSWER, Form.SEARCH_TOOLS)
    )
    cost = partial(_tokens, by_name, tokens)
    everything = cost(tuple(by_name), (Form.ANSWER,))
    at_once = later = wanted = 0
    part = whole = 0.0
    for one in questions:
        queries, first = [one.question], search.narrowed(spec.decision(0, "all"), (one.question,), most).decision
        spent = cost(first.tools, first.forms)
        part += spent
        for name, looks_for in zip(one.tools, one.looks_for or (one.question,) * len(one.tools), strict=True):
            wanted += 1
            offered = first.tools
            if name in offered:
                at_once += 1
            else:
                queries.append(looks_for)
                offered = search.narrowed(spec.decision(0, "all"), queries, most).decision.tools
                spent += cost(offered, first.forms)
            later += name in offered
        whole += spent
    return Found(
        most=most,
        tools=len(by_name),
        wanted=wanted,
        at_once=at_once / wanted,
        after_search=later / wanted,
        tokens_all=everything,
        tokens_part=part / len(questions),
        tokens_with_searches=whole / len(questions),
    )


def _tokens(
    contracts: Mapping[str, ToolContract], tokens: TokenCounter, names: Sequence[str], forms: Sequence[Form]
) -> int:
    made = [
        ToolSpec(name=name, description=contracts[name].description, parameters=contracts[name].parameters)
        for name in names
    ]
    texts = [spec.canonical.decode() for spec in (*made, *(FORMS[form] for form in forms))]
    return sum(tokens.count_all(texts))
