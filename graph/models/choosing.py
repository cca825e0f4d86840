"""Choosing among what a request offers: the tool that fits the question, the change that fits the wish."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from graph.models.arguments import fill, values_of
from graph.models.reading import Offered, Reading
from graph.models.wishes import wished_verb
from graph.models.words import covered, spoken, stem, terms


def ranked(tools: Sequence[Offered], turn: str) -> list[Offered]:
    """The tools whose name and description cover a word of the turn, best first; all in order when none does."""
    wanted = terms(turn)
    for loosely in (False, True):
        counts = [len(covered(wanted, tool.text, loosely=loosely)) for tool in tools]
        if any(counts):
            # The sort is stable: among equals the first offered stays first.
            order = sorted((index for index, count in enumerate(counts) if count), key=lambda index: -counts[index])
            return [tools[index] for index in order]
    return list(tools)


def asks_for_a_document(reading: Reading) -> bool:
    """Whether the turn names a document that is shown, and shares no two words with any tool."""
    wanted = terms(reading.turn)
    return bool(reading.named) and all(len(covered(wanted, tool.text)) < 2 for tool in reading.tools)


def wants_change(reading: Reading) -> bool:
    """Whether the turn is a wish whose verb no offered tool is about."""
    verb = wished_verb(reading.turn)
    return verb is not None and not any(covered([verb], tool.text, loosely=True) for tool in reading.tools)


def observed(tool: Offered, arguments: Mapping[str, JsonValue], reading: Reading) -> bool:
    """Whether a call's result is shown already: same tool, and no argument that the result shows otherwise."""
    for seen in reading.seen:
        if seen.tool == tool.name and seen.trusted:
            shown = {name: list(values_of(seen.fields, name)) for name in arguments}
            if all(not values or arguments[name] in values for name, values in shown.items()):
                return True
    return False


def chosen_change(reading: Reading) -> Offered | None:
    """The capability that makes the wanted change, or None.

    It must be about the wish's own verb, or its own verb must stand in the turn: sharing a noun is not enough, else
    a wish to delete a thing would end in whatever else can be done to it.
    """
    wanted = terms(reading.turn)
    wished = wished_verb(reading.turn)
    for loosely in (False, True):
        fitting = [
            (len(covered(wanted, capability.text, loosely=loosely)), capability)
            for capability in reading.capabilities
            if capability.changes and _about(capability, wished, wanted, loosely)
        ]
        if fitting:
            return max(fitting, key=lambda pair: pair[0])[1]
    return None


def _about(capability: Offered, wished: str | None, wanted: Sequence[str], loosely: bool) -> bool:
    if wished is not None and covered([wished], capability.text, loosely=loosely):
        return True
    own = {stem(words[0]) for text in (capability.name, capability.description) if (words := spoken(text))}
    return any(covered([verb], " ".join(wanted), loosely=loosely) for verb in own)


def steps_to(change: Offered, reading: Reading) -> tuple[str, ...]:
    """The change, after the reads that bring the required arguments which nothing shown provides."""
    return tuple(dict.fromkeys((*_reads_for(change, reading, frozenset()), change.name)))


def unobtainable(change: Offered, reading: Reading) -> tuple[str, ...]:
    """Required parameters of a change that neither the request shows nor any read brings."""
    reads = [capability for capability in reading.capabilities if not capability.changes]
    missing = fill(change.parameters, reading).missing
    return tuple(name for name in missing if not any(name in capability.output for capability in reads))


def _reads_for(call: Offered, reading: Reading, above: frozenset[str]) -> Iterator[str]:
    for name in fill(call.parameters, reading).missing:
        for read in _providers(name, reading.capabilities, above | {call.name}):
            yield from _reads_for(read, reading, above | {call.name})
            yield read.name
            break


def _providers(name: str, capabilities: Iterable[Offered], above: frozenset[str]) -> Iterator[Offered]:
    for capability in capabilities:
        if not capability.changes and name in capability.output and capability.name not in above:
            yield capability
