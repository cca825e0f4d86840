"""The record chain as a tree: forks and edits branch it, and every branch stays."""

from html import escape

from graph.app import App
from state.value import Value


class Filed(Value):
    """One record in the tree. `current` says that it stands behind the thread's head."""

    record: str
    parent: str | None
    index: int
    turn: int
    decision: str
    outcome: str
    at: str
    edited: bool
    current: bool
    depth: int


class Tree(Value):
    """Every record of a thread: a branch's records one below another, a later branch below where it leaves."""

    thread: str
    records: tuple[Filed, ...]

    def _repr_html_(self) -> str:
        lines = "\n".join(line(filed) for filed in self.records)
        return f"<pre>{escape(lines)}</pre>"


def tree(app: App, thread: str, *, as_: str) -> Tree:
    """The tree of a thread's records. Raises UnknownPrincipal, UnknownThread, RecordDamaged."""
    scope = app.owned(thread, as_=as_)
    log = app.ports.log
    names = log.names(scope.tenant, thread)
    records = dict(zip(names, log.get_all(scope.tenant, thread, names), strict=True))
    current = {decision.record for decision in app.records(thread, as_=as_)}
    below: dict[str | None, list[str]] = {}
    for name, record in sorted(records.items(), key=lambda pair: (pair[1].at, pair[1].index, pair[0])):
        below.setdefault(record.parent, []).append(name)
    found: list[Filed] = []
    waiting = [(name, 0) for name in reversed(below.get(None, []))]
    while waiting:
        name, depth = waiting.pop()
        record = records[name]
        kind = record.decision
        found.append(
            Filed(
                record=name,
                parent=record.parent,
                index=record.index,
                turn=record.turn_index,
                decision=kind.name if kind else "none",
                outcome=record.outcome.value,
                at=record.at.isoformat(),
                edited=record.edited,
                current=name in current,
                depth=depth,
            )
        )
        children = below.get(name, [])
        # The branch that the head is on goes on straight; the others are set in.
        straight = next((child for child in children if child in current), children[0] if children else None)
        waiting += [(child, depth + (child != straight)) for child in reversed(_last(children, straight))]
    return Tree(thread=thread, records=tuple(found))


def _last(children: list[str], straight: str | None) -> list[str]:
    return [*(child for child in children if child != straight), *([straight] if straight else [])]


def line(filed: Filed) -> str:
    """One record in one line."""
    mark = "*" if filed.current else " "
    edited = " · edited" if filed.edited else ""
    return (
        f"{mark} {'  ' * filed.depth}[{filed.index}] {filed.decision} → {filed.outcome.replace('_', ' ')}{edited}"
        f" · {filed.record[:12]}"
    )
