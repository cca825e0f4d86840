"""A list that was gone through whole: each thing of it was read, so that the model left nothing out (X4).

A read whose argument the model took from a list is steered, and what it shows identifies nothing: the model might show
the one thing it wants chosen. Where it read every thing that an unsteered list names, it chose nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from nodes.validate.repeats import calls_of
from state.checks.known import Row, leaves
from state.checks.meaning import norm
from state.checks.quote import unquoted
from state.labels import FROM_A_FIELD, Label, Traced
from state.record import DecisionRecord
from state.tools import Observation


class Swept(NamedTuple):
    """The reads of one tool that differ in one argument: sources by its value, and the fields that list the values."""

    sources: dict[str, str]
    fields: frozenset[str]


def sweeps(
    reads: Sequence[tuple[DecisionRecord, Observation, tuple[Traced, ...]]],
    steers: Callable[[Traced], bool],
    read: Callable[[str], str],
) -> tuple[Swept, ...]:
    """The sweeps among the reads of past laps, newest first."""
    fields: dict[tuple[str, str], set[str]] = {}
    for _, seen, trace in reads:
        steering = [one for one in trace if steers(one)]
        if len(steering) == 1 and steering[0].label in FROM_A_FIELD and steering[0].field is not None:
            fields.setdefault((seen.tool, steering[0].argument), set()).add(steering[0].field)
    return tuple(
        Swept(dict(_values(reads, tool, argument, steers, read)), frozenset(named))
        for (tool, argument), named in fields.items()
    )


def gone_through(swept: Iterable[Swept], rows: Sequence[Row]) -> frozenset[str]:
    """The sources of the sweeps that read everything which an unsteered list names."""
    whole: set[str] = set()
    for one in swept:
        listed = {
            norm(leaf)
            for row in rows
            for cell in row.cells
            if not row.steered and cell.label is not Label.UNTRUSTED and f"{row.tool}.{cell.field.name}" in one.fields
            for leaf in leaves(cell.value)
        }
        if listed and listed <= one.sources.keys():
            whole |= {source for value, source in one.sources.items() if value in listed}
    return frozenset(whole)


def _values(
    reads: Sequence[tuple[DecisionRecord, Observation, tuple[Traced, ...]]],
    tool: str,
    argument: str,
    steers: Callable[[Traced], bool],
    read: Callable[[str], str],
) -> Iterator[tuple[str, str]]:
    """Value and source of each read of a tool whose other arguments were not the model's. Oldest first: the newest
    read of a value counts."""
    for record, seen, trace in reversed(reads):
        if seen.tool != tool or any(steers(one) for one in trace if one.argument != argument):
            continue
        value = _arguments(record, seen.call_id, read).get(argument)
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield norm(value), seen.artifact_ref


def _arguments(record: DecisionRecord, call_id: str, read: Callable[[str], str]) -> Mapping[str, JsonValue]:
    found = (call for call in calls_of(record, read) if call.call_id == call_id)
    return next((unquoted(call.arguments, read) for call in found), {})


def superseded(
    reads: Sequence[tuple[DecisionRecord, Observation, tuple[Traced, ...]]],
) -> frozenset[str]:
    """The sources of reads that were made again with the same arguments: their rows would count twice. Newest first."""
    newest: set[tuple[str, str]] = set()
    older: set[str] = set()
    for _, seen, _ in reads:
        key = (seen.tool, seen.arguments_digest)
        if key in newest:
            older.add(seen.artifact_ref)
        newest.add(key)
    return frozenset(older)
