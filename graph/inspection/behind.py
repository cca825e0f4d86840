"""What stands behind records: bodies, public names, attempts, effects."""

from collections.abc import Iterator, Mapping

from graph.app import App
from graph.inspection.bodies import Bodies
from graph.inspection.chain import Checkpoints
from graph.inspection.effects import Effects
from graph.inspection.fault import Fault, fault_of
from graph.inspection.replay import replays
from nodes.execute.filing import WHOLE
from state.ports import RecordDamaged
from state.record import DecisionRecord
from state.run import Scope


class Behind:
    """Looks at what stands behind the records of a thread, and notes faults and gaps.

    `seen` are the addresses that were looked at, `attempts` how many were rebuilt.
    """

    def __init__(self, app: App, scope: Scope) -> None:
        self._app, self._scope, self._artifacts = app, scope, app.ports.artifacts
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
            for what, ref in _named(record, bodies):
                self._body(name, record, what, ref, bodies)
            for public, ref, what in _public(record):
                if resolved.get(public) != ref:
                    how = "stands for another body" if public in resolved else "stands for nothing any more"
                    self.faults.append(fault_of(name, record, f"the name {public} of {what}", how))
            for replayed in replays(self._scope.thread, record, bodies):
                self.attempts += 1
                if not replayed.proved and not replayed.gone:
                    what = f"attempt {replayed.attempt}"
                    self.faults.append(fault_of(name, record, what, "does not rebuild to what was sent"))

    def _body(self, name: str, record: DecisionRecord, what: str, ref: str, bodies: Bodies) -> None:
        if ref in self.seen:
            return
        self.seen.add(ref)
        body = bodies.at(ref)
        if body is None:
            self.erased.append(f"decision {record.index}: {what}")
        elif not body.intact:
            self.faults.append(fault_of(name, record, what, "was changed after it was stored"))

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

    def look_at_effects(self, effects: Effects) -> None:
        """At the row of every effect, its seal and its result."""
        self.faults += (*effects.changed(), *effects.unkept())
        for wrong in effects.results(Bodies(self._artifacts, self._scope.tenant)):
            if isinstance(wrong, Fault):
                self.faults.append(wrong)
            else:
                self.erased.append(wrong)


def _direct(record: DecisionRecord) -> Iterator[tuple[str, str]]:
    """The bodies that a record names itself, with what they are."""
    yield "the user's turn", record.turn_ref
    if record.proposal_ref is not None:
        yield "the proposal", record.proposal_ref
    yield from ((what, ref) for _, ref, what in _public(record))


def _public(record: DecisionRecord) -> Iterator[tuple[str, str, str]]:
    """The public names of what calls brought: name, address, what it is."""
    for seen in record.observations:
        yield seen.artifact_ref, seen.ref, f"the result of {seen.call_id}"
        if seen.whole_ref is not None:
            yield seen.artifact_ref + WHOLE, seen.whole_ref, f"all of the result of {seen.call_id}"


def _manifests(record: DecisionRecord) -> tuple[str, ...]:
    named = (record.manifest_ref, *(attempt.manifest_ref for attempt in record.attempts))
    return tuple(dict.fromkeys(ref for ref in named if ref))


def _named(record: DecisionRecord, bodies: Bodies) -> Iterator[tuple[str, str]]:
    """Every body that a record leads to, with what it is."""
    yield from _direct(record)
    for ref in _manifests(record):
        yield "the manifest", ref
        try:
            manifest = bodies.manifest(ref)
        except RecordDamaged:
            continue  # it was changed, which is said; or it is none, and its attempts do not rebuild
        if manifest is not None:
            yield "the policy record", manifest.policy_ref
            for item in manifest.items:
                yield f"the item {item.item_id}", item.ref
