"""Prefix (P1, P2): how much of each request a server had seen in the one before it, and what ended the shared part."""

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Literal

from graph.app import App
from graph.inspection.bodies import Bodies
from graph.result import DecisionShown
from state.context import ContextItem, ContextManifest
from state.render import block, in_instructions, in_tools
from state.value import Value

Where = Literal["instructions", "tools", "data"]

_ORDER: tuple[Where, ...] = ("instructions", "tools", "data")
_CHANGING = re.compile(r"\d+")


class Part(Value):
    """One block of a request at its place: its name, the text as it is sent, its tokens."""

    where: Where
    name: str
    text: str
    tokens: int = 0


class Break(Value):
    """Where the shared part of two requests ends: the first part that differs, and why."""

    part: str
    where: Where
    cause: str


class Shared(Value):
    """Two consecutive requests of one decision kind: what the second shares with the first, from the front.

    `stable_bytes` is the size of instructions and tools in the second, `stable_shared` what of it is shared. `broken`:
    the shared part ends within them. `cached_tokens` is what the provider reported for the second: null where it
    reported nothing, and then nobody knows whether it was warm.
    """

    before: int
    after: int
    bytes: int
    tokens: int
    stable_bytes: int
    stable_shared: int
    ends: Break | None
    cached_tokens: int | None = None

    @property
    def broken(self) -> bool:
        """Whether what should never change did."""
        return self.ends is not None and self.ends.where != "data"

    @property
    def cache(self) -> str:
        """`warm` or `cold` as the provider reported it, or `not reported`."""
        return "not reported" if self.cached_tokens is None else "warm" if self.cached_tokens else "cold"


class KindPrefix(Value):
    """The requests of one decision kind and toolset, in pairs. `first` is the decision that had none before it."""

    decision: str
    first: int
    pairs: tuple[Shared, ...]

    @property
    def stable_share(self) -> float | None:
        """Which part of the stable bytes was shared, over all pairs; None without a pair."""
        stable = sum(pair.stable_bytes for pair in self.pairs)
        return sum(pair.stable_shared for pair in self.pairs) / stable if stable else None


class Prefixes(Value):
    """A thread's requests by decision kind. `unreadable` names decisions whose bodies were erased or changed."""

    thread: str
    kinds: tuple[KindPrefix, ...]
    unreadable: tuple[int, ...] = ()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(kind.decision)}</td><td>{pair.before} → {pair.after}</td><td>{pair.bytes:,}</td>"
            f"<td>{pair.tokens:,}</td><td>{pair.stable_shared:,} of {pair.stable_bytes:,}</td>"
            f"<td>{escape(pair.ends.cause) if pair.ends else '–'}</td><td>{pair.cache}</td></tr>"
            for kind in self.kinds
            for pair in kind.pairs
        )
        return (
            f"<p>thread {escape(self.thread)}</p><table><tr><th>decision</th><th>requests</th><th>shared bytes</th>"
            f"<th>tokens</th><th>of the stable part</th><th>ends at</th><th>cache</th></tr>{rows}</table>"
        )


def prefixes(app: App, thread: str, *, as_: str) -> Prefixes:
    """How much consecutive requests of a thread share, by decision kind.

    Raises UnknownPrincipal, UnknownThread; RecordDamaged where the decisions cannot be read.
    """
    decisions = app.records(thread, as_=as_)
    bodies = Bodies(app.ports.artifacts, app.owned(thread, as_=as_).tenant)
    by_kind: dict[str, list[tuple[DecisionShown, tuple[Part, ...]]]] = {}
    unreadable = []
    for decision in decisions:
        if decision.manifest is None or not decision.attempts:
            continue
        parts = _parts(decision.manifest, bodies)
        if parts is None:
            unreadable.append(decision.index)
        else:
            by_kind.setdefault(f"{decision.kind}/{decision.toolset}", []).append((decision, parts))
    kinds = tuple(
        KindPrefix(
            decision=name,
            first=sent[0][0].index,
            pairs=tuple(
                shared(old, new).model_copy(
                    update={"before": one.index, "after": other.index, "cached_tokens": _cached(other)}
                )
                for (one, old), (other, new) in pairwise(sent)
            ),
        )
        for name, sent in by_kind.items()
    )
    return Prefixes(thread=thread, kinds=kinds, unreadable=tuple(unreadable))


def shared(before: Sequence[Part], after: Sequence[Part]) -> Shared:
    """What two requests share from the front, and why no more. The decisions' numbers are the caller's to set."""
    common = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
    if common is None:
        common = min(len(before), len(after))
    same = after[:common]
    inside = _same_bytes(before[common].text, after[common].text) if common < min(len(before), len(after)) else 0
    stable = sum(len(part.text.encode()) for part in after if part.where != "data")
    within = inside if common < len(after) and after[common].where != "data" else 0
    return Shared(
        before=0,
        after=0,
        bytes=sum(len(part.text.encode()) for part in same) + inside,
        tokens=sum(part.tokens for part in same),
        stable_bytes=stable,
        stable_shared=sum(len(part.text.encode()) for part in same if part.where != "data") + within,
        ends=_break(before, after, common),
    )


def _break(before: Sequence[Part], after: Sequence[Part], at: int) -> Break | None:
    if at >= len(after):
        return None
    part = min((after[at], *before[at : at + 1]), key=lambda one: _ORDER.index(one.where))
    old, new = ([one.name for one in parts if one.where == part.where] for parts in (before, after))
    came = [name for name in new if name not in old]
    went = [name for name in old if name not in new]
    was = next((one for one in before if (one.where, one.name) == (part.where, part.name)), None)
    if at >= len(before) or (part.where == "data" and was is None):
        cause = f"{part.name} came"
    elif part.where == "data" and before[at].name in went:
        cause = f"{before[at].name} was taken from the middle"
    elif part.where != "data" and (came or went):
        changes = ", ".join([*(f"+ {name}" for name in came), *(f"- {name}" for name in went)])
        cause = f"other {part.where}: {changes}"
    elif was is None or before[at].name != part.name:
        cause = f"another order of {part.where}"
    elif _CHANGING.sub("0", was.text) == _CHANGING.sub("0", part.text):
        cause = f"a number or a time in {part.name} changed"
    else:
        cause = f"{part.name} changed in its place"
    return Break(part=part.name, where=part.where, cause=cause)


def _same_bytes(old: str, new: str) -> int:
    one, other = old.encode(), new.encode()
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _parts(manifest: ContextManifest, bodies: Bodies) -> tuple[Part, ...] | None:
    """The blocks of a request in the order in which a server reads them; None where a body is missing or changed."""
    bodies.fetch(item.ref for item in manifest.items)
    found = []
    for item in manifest.items:
        body = bodies.at(item.ref)
        if body is None or body.text is None:
            return None
        found.append(Part(where=_where(item), name=item.item_id, text=block(item, body.text), tokens=item.token_count))
    return tuple(sorted(found, key=lambda part: _ORDER.index(part.where)))


def _where(item: ContextItem) -> Where:
    return "instructions" if in_instructions(item) else "tools" if in_tools(item) else "data"


def _cached(decision: DecisionShown) -> int | None:
    usage = decision.attempts[-1].usage
    return None if usage is None else usage.cached_tokens
