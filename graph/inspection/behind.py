"""What stands behind records: bodies, public names, attempts, effects."""

from collections.abc import Iterator, Mapping

from graph.app import App
from graph.forgetting.naming import MANIFEST, OTHER, SNAPSHOT, Item, beside_items, items, named
from graph.inspection.bodies import Bodies
from graph.inspection.chain import Checkpoints
from graph.inspection.effects import Effects
from graph.inspection.fault import Fault, fault_of
from graph.inspection.gaps import REMOVED, Gaps
from graph.inspection.replay import replays
from nodes.execute.filing import WHOLE
from state.context import ContextItem
from state.ports import RecordDamaged
from state.record import DecisionRecord
from state.run import Scope
from state.verdict import Allowed

CHANGED = "was changed after it was stored"


class Behind:
    """Looks at what stands behind the records of a thread, and notes faults and gaps.

    `seen` are the addresses that were looked at, `attempts` how many were rebuilt.
    """

    def __init__(self, app: App, scope: Scope) -> None:
        self._app, self._scope, self._artifacts = app, scope, app.ports.artifacts
        self._gaps = Gaps(app, scope)
        self.seen: set[str] = set()
        self.attempts = 0
        self.faults: list[Fault] = []
        self.erased: list[str] = []

    def look(self, records: Mapping[str, DecisionRecord]) -> None:
        """At some records together; each body is told of once, with the first record that names it."""
        bodies = Bodies(self._artifacts, self._scope.tenant)
        bodies.fetch(ref for record in records.values() for _, ref in _direct(record))
        bodies.fetch_manifests(ref for record in records.values() for ref in _manifests(record))
        names = [name for record in records.values() for name, *_ in _public(record)]
        resolved = self._artifacts.resolved(self._scope.tenant, names)
        for name, record in records.items():
            for what, ref, item in _named(record, bodies):
                self._body(name, record, what, ref, item, bodies)
            for public, ref, what in _public(record):
                if resolved.get(public) != ref:
                    how = "stands for another body" if public in resolved else "stands for nothing any more"
                    self.faults.append(fault_of(name, record, f"the name {public} of {what}", how))
            for replayed in replays(self._scope.thread, record, bodies):
                self.attempts += 1
                if not replayed.proved and not replayed.gone:
                    what = f"attempt {replayed.attempt}"
                    self.faults.append(fault_of(name, record, what, "does not rebuild to what was sent"))

    def _body(
        self, name: str, record: DecisionRecord, what: str, ref: str, item: ContextItem | None, bodies: Bodies
    ) -> None:
        if ref in self.seen:
            return
        self.seen.add(ref)
        body = bodies.at(ref)
        if body is None:
            if self._gaps.explain(*(item.kind, item.provenance.scope, item.item_id) if item else ()):
                self.erased.append(f"decision {record.index}: {what}")
            else:
                self.faults.append(fault_of(name, record, what, REMOVED))
        elif not body.intact:
            self.faults.append(fault_of(name, record, what, CHANGED))

    def look_at_checkpoints(self, found: Checkpoints) -> None:
        """At every body that a checkpoint names and no record: snapshots, with the candidates that were left out, and
        what belongs to laps that are open or were never filed."""
        ahead: dict[str, tuple[str, Item | None]] = {}
        ahead.update((one.ref, (one.kind, None)) for one in sorted(found.bodies) if one.ref not in self.seen)
        while ahead:
            bodies = Bodies(self._artifacts, self._scope.tenant)
            bodies.fetch(ahead)
            behind: dict[str, tuple[str, Item | None]] = {}
            for ref, (kind, item) in ahead.items():
                self.seen.add(ref)
                body = bodies.at(ref)
                what = f"one of the {kind} that its checkpoints lead to"
                if body is None:
                    self._not_there(kind, what, item)
                elif not body.intact:
                    self.faults.append(Fault(record="", index=None, what=what, how=CHANGED))
                elif kind in (MANIFEST, SNAPSHOT):
                    behind.update((item.ref, ("items", item)) for item in items(body.text))
                    behind.update((one.ref, (one.kind, None)) for one in beside_items(body.text))
            ahead = {ref: named_as for ref, named_as in behind.items() if ref not in self.seen}

    def _not_there(self, kind: str, what: str, item: Item | None) -> None:
        if kind == OTHER:
            return  # a text of this form in a channel need not be an address
        # Forgetting another thread keeps what this one names where it stands now, not what it named before.
        if self._gaps.explain(*(item.kind, item.subject, item.item_id) if item else (), kept=False):
            self.erased.append(what)
        else:
            self.faults.append(Fault(record="", index=None, what=what, how=REMOVED))

    def look_for_records(self, effects: Effects, seen: Checkpoints) -> None:
        """For the record of every effect."""
        forgotten = self._app.identity.forgotten_at(self._scope.thread) is not None
        for row in effects.unfiled(seen):
            what = f"the effect of {row.claim.call_id}"
            if forgotten:  # with its checkpoints went what would show that its lap was open
                self.erased.append(f"the decision of {what}")
            else:
                how = "is in no record: it was removed, or its lap was cut off and no checkpoint shows it"
                self.faults.append(Fault(record="", index=None, what=what, how=how))

    def look_at_effects(self, effects: Effects, seen: Checkpoints) -> None:
        """At the row of every effect, its seal and its result."""
        self.faults += (*effects.changed(), *effects.unkept(), *effects.unkept_of_open_laps(seen))
        for wrong in effects.results(Bodies(self._artifacts, self._scope.tenant)):
            if isinstance(wrong, Fault):
                self.faults.append(wrong)
            elif self._gaps.explain():
                self.erased.append(wrong)
            else:
                self.faults.append(Fault(record="", index=None, what=wrong, how=REMOVED))


def _direct(record: DecisionRecord) -> Iterator[tuple[str, str]]:
    """The bodies that a record names itself, with what they are."""
    yield "the user's turn", record.turn_ref
    if record.proposal_ref is not None:
        yield "the proposal", record.proposal_ref
    yield from ((what, ref) for _, ref, what in _public(record))
    for seen in record.observations:
        if seen.summary is not None and seen.summary.ref is not None:
            yield f"the summary of {seen.call_id}", seen.summary.ref
    for verdict in record.verdicts:
        if isinstance(verdict, Allowed) and verdict.edited is not None:
            yield from ((f"an edit of {verdict.call_id}", one.ref) for one in named(verdict.edited))


def _public(record: DecisionRecord) -> Iterator[tuple[str, str, str]]:
    """The public names of what calls brought: name, address, what it is."""
    for seen in record.observations:
        yield seen.artifact_ref, seen.ref, f"the result of {seen.call_id}"
        if seen.whole_ref is not None:
            yield seen.artifact_ref + WHOLE, seen.whole_ref, f"all of the result of {seen.call_id}"


def _manifests(record: DecisionRecord) -> tuple[str, ...]:
    named = (record.manifest_ref, *(attempt.manifest_ref for attempt in record.attempts))
    return tuple(dict.fromkeys(ref for ref in named if ref))


def _named(record: DecisionRecord, bodies: Bodies) -> Iterator[tuple[str, str, ContextItem | None]]:
    """Every body that a record leads to, with what it is, and the item that it is the text of."""
    yield from ((what, ref, None) for what, ref in _direct(record))
    for ref in _manifests(record):
        yield "the manifest", ref, None
        try:
            manifest = bodies.manifest(ref)
        except RecordDamaged:
            continue  # it was changed, which is said; or it is none, and its attempts do not rebuild
        if manifest is not None:
            yield "the policy record", manifest.policy_ref, None
            yield from ((f"the item {item.item_id}", item.ref, item) for item in manifest.items)
            originals = [(part.item_id, part.original_ref) for part in manifest.truncated]
            originals += [(part.item_id, part.original_ref) for part in manifest.masked]
            yield from ((f"the original of {item_id}", original, None) for item_id, original in originals)
