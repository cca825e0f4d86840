"""Choosing among what a request offers: the tool that fits the question, the change or the read that a plan names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pydantic import JsonValue

from graph.models.arguments import fill, values_of
from graph.models.questions import begins_with_own, ids, listed
from graph.models.reading import Offered, Reading
from graph.models.vocabulary import DETERMINER
from graph.models.wishes import wished_verb
from graph.models.words import covered, spoken, stem, terms

_IN_CODE = re.compile(r"`([a-z][a-z0-9_]{2,63})`")


def ranked(reading: Reading) -> list[Offered]:
    """The tools that fit the turn, best first; all in order when none does."""
    return fitting(reading) or list(reading.tools)


def fitting(reading: Reading) -> list[Offered]:
    """The tools whose name and description cover a word of the turn, best first.

    Where the turn asks for a list, those that list it come before those that speak of one such thing. Where it begins
    with a thing of its author's, taking a record of the author's counts as much as one word more.
    """
    tools, wanted, noun = reading.tools, terms(reading.turn), listed(reading.turn)
    own = [begins_with_own(reading.turn) and _takes_a_record(tool, reading) for tool in tools]
    for loosely in (False, True):
        counts = [len(covered(wanted, tool.text, loosely=loosely)) for tool in tools]
        worth = [
            (lists(tool, noun), count + takes, takes) for tool, count, takes in zip(tools, counts, own, strict=True)
        ]
        found = [index for index, count in enumerate(counts) if count]
        if found:
            # The sort is stable: among equals the first offered stays first.
            return [tools[index] for index in sorted(found, key=worth.__getitem__, reverse=True)]
    return []


def by_procedure(reading: Reading) -> list[Offered]:
    """The offered tools that a procedure names in code, in its order: whoever wrote it knows what to look at first."""
    named = [name for procedure in reading.procedures for name in _IN_CODE.findall(procedure.text)]
    return [tool for name in dict.fromkeys(named) for tool in reading.tools if tool.name == name]


def _takes_a_record(tool: Offered, reading: Reading) -> bool:
    return any(fact.name in tool.parameters.get("required", ()) for fact in reading.facts)


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
        fits = [
            (len(covered(wanted, capability.text, loosely=loosely)), capability)
            for capability in reading.capabilities
            if capability.changes and _about(capability, wished, wanted, loosely)
        ]
        if fits:
            return max(fits, key=lambda pair: pair[0])[1]
    return None


def _about(capability: Offered, wished: str | None, wanted: Sequence[str], loosely: bool) -> bool:
    if wished is not None and covered([wished], _deeds(capability), loosely=loosely):
        return True
    own = map(stem, capability.verbs.split())
    return any(covered([verb], " ".join(wanted), loosely=loosely) for verb in own)


def _deeds(capability: Offered) -> str:
    """What a capability does: its name and description without the word after an article, as in "an open door"."""
    words = spoken(capability.description)
    return " ".join((capability.name, *(word for before, word in pairwise(["", *words]) if before not in DETERMINER)))


def chosen_read(reading: Reading) -> Offered | None:
    """The capability that reads what the turn asks for, or None.

    One that lists what is to be listed comes first, then one that takes an id of the turn's, then the most words.
    """
    wanted, noun, named = terms(reading.turn), listed(reading.turn), ids(reading.turn)

    def worth(capability: Offered) -> tuple[bool, bool, int, int]:
        takes = not named.isdisjoint(map(str, fill(capability.parameters, reading).arguments.values()))
        strictly = len(covered(wanted, capability.text))
        return lists(capability, noun), takes, strictly, len(covered(wanted, capability.text, loosely=True))

    reads = [(worth(capability), capability) for capability in reading.capabilities if not capability.changes]
    best = max(reads, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and any(best[0]) else None


def lists(tool: Offered, noun: str | None) -> bool:
    """Whether a tool speaks of several of what a turn asks to be listed."""
    return noun is not None and noun in spoken(tool.text)


def steps_to(aim: Offered, reading: Reading) -> tuple[str, ...]:
    """A change or a read, after the reads that bring the required arguments which nothing shown provides."""
    return tuple(dict.fromkeys((*_reads_for(aim, reading, frozenset()), aim.name)))


def unobtainable(aim: Offered, reading: Reading) -> tuple[str, ...]:
    """Required parameters that neither the request shows nor any other read brings."""
    reads = [capability for capability in reading.capabilities if not capability.changes and capability != aim]
    missing = fill(aim.parameters, reading).missing
    return tuple(name for name in missing if not any(name in capability.output for capability in reads))


def _reads_for(call: Offered, reading: Reading, above: frozenset[str]) -> Iterator[str]:
    for name in fill(call.parameters, reading).missing:
        for read in _providers(name, reading.capabilities, above | {call.name}):
            yield from _reads_for(read, reading, above | {call.name})
            yield read.name
            break


def _providers(name: str, capabilities: Iterable[Offered], above: frozenset[str]) -> list[Offered]:
    """The reads that bring a value, those first that show all there are.

    A read that itself takes the value brings the one it was asked about, or one of its own choice: a change would
    then be made to a thing that nobody chose.
    """
    reads = [
        capability
        for capability in capabilities
        if not capability.changes and name in capability.output and capability.name not in above
    ]
    return sorted(reads, key=lambda read: name in read.parameters.get("properties", {}))
