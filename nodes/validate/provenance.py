"""What past laps say of where values came from: reads the model steered, values that came in untrusted (X4, S7)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import NamedTuple

from nodes.validate.deed import Deed, deed
from nodes.validate.repeats import Deeds, effects_of, settled_calls
from nodes.validate.sweeps import Swept, gone_through, superseded, sweeps
from state.checks.asked import requested, without_ability
from state.checks.excepted import parted
from state.checks.known import Row, known
from state.checks.meaning import meaning, plain
from state.checks.origin import Shown
from state.context import CONFLICT, ContextItem, ContextManifest, Trust
from state.contract import Effect, ToolContract
from state.labels import BY_THE_PRINCIPAL, Opens, Traced
from state.record import DecisionRecord
from state.render import in_tools, scheme
from state.run import Principal
from state.tools import Observation
from state.verdict import Accepted, Verdict

# The schemes of our own words about calls and sources, and of a model's about results. They repeat values, and are no
# source of any.
_OUR_WORDS = ("verdict", "edit", "decision", "summary", CONFLICT)


class Past(NamedTuple):
    """What earlier laps left to know: `steered` sources, `echoes` of untrusted values, and the `deeds` of this turn.
    `swept`: lists whose things were read one by one."""

    steered: frozenset[str] = frozenset()
    echoes: frozenset[str] = frozenset()
    deeds: Deeds = Deeds()
    swept: tuple[Swept, ...] = ()


def shows_values(item: ContextItem) -> bool:
    """Whether an argument may come from an item: definitions and our own words are none."""
    return not in_tools(item) and scheme(item.source) not in _OUR_WORDS


def past_of(
    past: Sequence[DecisionRecord],
    turn: int,
    contracts: Mapping[str, ToolContract],
    read: Callable[[str], str],
    echoes: frozenset[str] = frozenset(),
) -> Past:
    """What the records say of reads that the model steered, and of what was done. `echoes` are those of the thread."""
    reads: list[tuple[DecisionRecord, Observation, tuple[Traced, ...]]] = []
    effects: set[Deed] = set()
    settled: set[Deed] = set()
    for record in past:
        traces = {verdict.call_id: _trace(verdict) for verdict in record.verdicts}
        looks = (seen for seen in record.observations if seen.effect is Effect.READ)
        reads += [(record, seen, traces.get(seen.call_id, ())) for seen in looks]
        for seen, arguments in effects_of(record, read):
            contract = contracts.get(seen.tool)
            if contract is not None and record.turn_index == turn:
                effects.add(deed(contract, arguments))
        if record.turn_index == turn:
            settled |= {
                deed(contracts[call.tool], given)
                for call, given in settled_calls(record, read)
                if call.tool in contracts
            }
    steered = {seen.artifact_ref for _, seen, trace in reads if any(map(_steers, trace))} | superseded(reads)
    return Past(
        frozenset(steered),
        echoes,
        Deeds(frozenset(effects), frozenset(settled)),
        sweeps(reads, _steers, read),
    )


def seen_whole(manifest: ContextManifest, past: Sequence[DecisionRecord], turn: int) -> tuple[Observation, ...]:
    """The results of this turn that the request shows whole: what it only names may be read again (L9, C7)."""
    masked = {one.item_id for one in manifest.masked}
    whole = {item.source for item in manifest.items if item.item_id not in masked}
    done = (seen for one in past if one.turn_index == turn for seen in one.observations)
    return tuple(seen for seen in done if seen.artifact_ref in whole)


def disputes(manifest: ContextManifest) -> bool:
    """Whether the request showed a conflict (S11)."""
    return any(item.sides for item in manifest.items)


def rows_of(
    shown: Sequence[Shown], contracts: Mapping[str, ToolContract], principal: Principal, past: Past
) -> tuple[Row, ...]:
    """The fields that a request showed, with their labels."""
    read = partial(known, shown, contracts, own_names=own_names(principal), echoes=past.echoes)
    rows = read(steered=past.steered)
    whole = gone_through(past.swept, rows)
    return read(steered=past.steered - whole) if whole else rows


def own_names(principal: Principal) -> frozenset[str]:
    """The names by which a server says that the principal wrote something."""
    return frozenset(plain(name) for name in (principal.name, *principal.subjects))


def named(opens: Opens | None, shown: Iterable[Shown], turn: int, today: date) -> bool:
    """Whether the user's words of this turn name the effect: one word of each group stands in what they ask for,
    not in a question."""
    if opens is None:
        return False
    turns = (item.text for item in shown if item.trust is Trust.USER and item.source in ("", f"turn://{turn}"))
    stems = tuple(stem for group in opens.stems for stem in group)
    said = meaning(
        "\n".join(part for text in turns for part in requested(parted(without_ability(text), stems).asked, stems)),
        today,
    )

    def has(stem: str) -> bool:
        return stem in said.plain if " " in stem else any(word.startswith(stem) for word in said.words)

    return all(any(has(stem) for stem in group) for group in opens.stems)


def _steers(one: Traced) -> bool:
    """Whether an argument was the model's choice: what a read brings then is its choice too."""
    return one.label not in BY_THE_PRINCIPAL and one.chosen is None


def _trace(verdict: Verdict) -> tuple[Traced, ...]:
    return () if isinstance(verdict, Accepted) else verdict.trace
