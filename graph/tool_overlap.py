"""Which tools a model could take for each other: one effect on the same kinds of things, in nearly the same words."""

from collections.abc import Iterable
from itertools import combinations

from graph.models.words import terms
from state.contract import ToolContract
from state.value import Value

# Of the words and parameters that the one with fewer has, so many are the other's too.
_ALIKE = 0.6


class Overlap(Value):
    """Two tools that do the same to the same kinds of things and are described alike; `why` says it in one line."""

    tools: tuple[str, str]
    shared: tuple[str, ...]
    parameters: tuple[str, ...]
    why: str


def overlaps(contracts: Iterable[ToolContract]) -> tuple[Overlap, ...]:
    """The pairs with the same effect on the same kinds of resources, of whose content words and parameters most are
    shared: counted against the tool that has fewer, so that a long description hides no twin."""
    found = (_overlap(one, other) for one, other in combinations(contracts, 2))
    return tuple(pair for pair in found if pair is not None)


def _overlap(one: ToolContract, other: ToolContract) -> Overlap | None:
    kinds = {*one.resources.values()}
    if one.effect is not other.effect or kinds != {*other.resources.values()}:
        return None
    words = [_words(contract) for contract in (one, other)]
    taken = [parameters_of(contract) for contract in (one, other)]
    shared = tuple(word for word in words[0] if word in words[1])
    parameters = tuple(name for name in taken[0] if name in taken[1])
    fewest = min(len(words[0]) + len(taken[0]), len(words[1]) + len(taken[1]))
    if len(shared) + len(parameters) < _ALIKE * fewest:
        return None
    both = f"both {one.effect.value} {' and '.join(sorted(kinds)) or 'no resource'}"
    counted = f"{len(shared)} of {min(map(len, words))} words shared"
    also = f", and the parameter{'s' * (len(parameters) > 1)} {', '.join(parameters)}" if parameters else ""
    return Overlap(
        tools=(one.name, other.name),
        shared=shared,
        parameters=parameters,
        why=f"{one.name} and {other.name}: {both}, {counted}{also}",
    )


def _words(contract: ToolContract) -> list[str]:
    return terms(f"{contract.name.replace('_', ' ')} {contract.description}")


def parameters_of(contract: ToolContract) -> list[str]:
    """The names of a tool's parameters, sorted."""
    properties = contract.parameters.get("properties")
    return sorted(properties) if isinstance(properties, dict) else []
