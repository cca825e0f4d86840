"""Diff (M5): what changed between the requests of two decisions, of one thread or of two."""

from collections.abc import Iterable
from html import escape

from graph.app import App
from graph.inspection.finding import NoSuchDecision, decision_of
from graph.result import DecisionShown
from state.context import ContextItem, ContextManifest, Kind
from state.render import in_instructions, in_tools
from state.value import Value

Place = tuple[str, int]
"""A decision: its thread and its number."""


class Changed(Value):
    """One item that both requests hold, in another version or, of the same version, with another text."""

    item_id: str
    source: str
    before: str
    after: str


class Section(Value):
    """One part of the requests: what came, what went, what changed; `same` counts what stayed."""

    name: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    same: int = 0

    @property
    def differs(self) -> bool:
        """Whether anything is different."""
        return bool(self.added or self.removed or self.changed)


class Difference(Value):
    """Two requests side by side. `prefix_same` says whether a server can reuse what it cached of the first."""

    before: str
    after: str
    prefix_same: bool
    policy: tuple[str, str]
    tokens: tuple[int, int]
    sections: tuple[Section, ...]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{section.name}</td><td>{escape(_listed(section.added))}</td>"
            f"<td>{escape(_listed(section.removed))}</td>"
            f"<td>{escape(_listed(f'{one.source} {one.before} → {one.after}' for one in section.changed))}</td>"
            f"<td>{section.same}</td></tr>"
            for section in self.sections
        )
        prefix = "the same prefix" if self.prefix_same else "another prefix"
        return (
            f"<p>{escape(self.before)} → {escape(self.after)}: {prefix}, {self.tokens[0]} → {self.tokens[1]} tokens</p>"
            f"<table><tr><th></th><th>added</th><th>removed</th><th>changed</th><th>same</th></tr>{rows}</table>"
        )


def diff(app: App, before: Place, after: Place, *, as_: str) -> Difference:
    """What the second request has that the first has not, and the other way round.

    Raises UnknownPrincipal, UnknownThread, NoSuchDecision.
    """
    old, new = (_manifest(decision_of(app, *place, as_)[0], place) for place in (before, after))
    return Difference(
        before=f"{before[0]}:{before[1]}",
        after=f"{after[0]}:{after[1]}",
        prefix_same=old.prefix_hash == new.prefix_hash,
        policy=(old.policy_version, new.policy_version),
        tokens=(old.total_input_tokens, new.total_input_tokens),
        sections=tuple(
            _section(name, [i for i in old.items if _part(i) == name], [i for i in new.items if _part(i) == name])
            for name in ("instructions", "tools", *(kind.value for kind in Kind))
        ),
    )


def _manifest(decision: DecisionShown, place: Place) -> ContextManifest:
    if decision.manifest is None:
        raise NoSuchDecision(f"decision {place[1]} of thread {place[0]} has no request to compare")
    return decision.manifest


def _part(item: ContextItem) -> str:
    return "instructions" if in_instructions(item) else "tools" if in_tools(item) else item.kind.value


def _section(name: str, before: list[ContextItem], after: list[ContextItem]) -> Section:
    old, new = _by_place(before), _by_place(after)
    shared = old.keys() & new.keys()
    changed = [key for key in new if key in shared and _edition(old[key]) != _edition(new[key])]
    return Section(
        name=name,
        added=tuple(item.source for key, item in new.items() if key not in shared),
        removed=tuple(item.source for key, item in old.items() if key not in shared),
        changed=tuple(_changed(old[key], new[key]) for key in changed),
        same=len(shared) - len(changed),
    )


def _edition(item: ContextItem) -> tuple[str, str | None]:
    return item.ref, item.version


def _by_place(items: Iterable[ContextItem]) -> dict[tuple[str, str, int], ContextItem]:
    """Items by what stays the same of them when their version changes; a second one of a place is told apart."""
    found: dict[tuple[str, str, int], ContextItem] = {}
    for item in items:
        source = item.source.replace(f"@{item.version}", "") if item.version else item.source
        number = sum(key[:2] == (item.item_id.replace(f"@{item.version}", ""), source) for key in found)
        found[(item.item_id.replace(f"@{item.version}", ""), source, number)] = item
    return found


def _changed(old: ContextItem, new: ContextItem) -> Changed:
    if old.version == new.version:
        return Changed(item_id=new.item_id, source=new.source, before="a text", after="another text")
    return Changed(item_id=new.item_id, source=new.source, before=old.version or "none", after=new.version or "none")


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or "–"
