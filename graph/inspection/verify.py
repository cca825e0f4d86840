"""Verify: every record, every body it names and every attempt of a thread, on all its branches. What changed is named.

A record is known by its hash, a body by its keyed address, an attempt by the hash of its rebuilt bytes.
"""

from collections.abc import Iterator
from html import escape

from pydantic import ValidationError

from graph.app import App
from graph.inspection.replay import replays
from graph.reading import Reading
from state.ports import ArtifactGone, RecordDamaged, RecordMissing
from state.record import DecisionRecord
from state.run import Scope
from state.value import Value


class Fault(Value):
    """Something that is not as it was filed: which record, what of it, and how it differs."""

    record: str
    index: int | None
    what: str
    how: str


class Verification(Value):
    """What was looked at, what was found changed, and which bodies were erased: those are gaps, and no faults."""

    thread: str
    records: int
    branches: int
    bodies: int
    attempts: int
    faults: tuple[Fault, ...]
    erased: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing was changed."""
        return not self.faults

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<li>decision {fault.index}, record <code>{escape(fault.record[:12])}</code>: {escape(fault.what)} "
            f"{escape(fault.how)}</li>"
            for fault in self.faults
        )
        said = "nothing was changed" if self.sound else f"{len(self.faults)} faults"
        return (
            f"<p>{self.records} records on {self.branches} branches, {self.bodies} bodies, {self.attempts} attempts: "
            f"<b>{said}</b></p><ul>{rows}</ul>"
        )


def verify(app: App, thread: str, *, as_: str) -> Verification:
    """Check all that is stored of a thread. Raises UnknownPrincipal, UnknownThread."""
    scope = app.owned(thread, as_=as_)
    records, faults = _records(app, scope)
    reading = app.reading(thread, as_=as_)
    seen: set[str] = set()
    erased: list[str] = []
    attempts = 0
    for name, record in records.items():
        for what, ref in _bodies(record, reading):
            if ref in seen:
                continue
            seen.add(ref)
            try:
                if not app.ports.artifacts.intact(scope.tenant, ref):
                    faults.append(_fault(name, record, what, "was changed after it was stored"))
            except ArtifactGone:
                erased.append(f"decision {record.index}: {what}")
        for replayed in replays(thread, record, reading):
            attempts += 1
            if not replayed.proved and not replayed.gone:
                faults.append(_fault(name, record, f"attempt {replayed.attempt}", "does not rebuild to what was sent"))
    parents = {record.parent for record in records.values()}
    return Verification(
        thread=thread,
        records=len(records),
        branches=sum(name not in parents for name in records),
        bodies=len(seen),
        attempts=attempts,
        faults=tuple(faults),
        erased=tuple(erased),
    )


def _records(app: App, scope: Scope) -> tuple[dict[str, DecisionRecord], list[Fault]]:
    found: dict[str, DecisionRecord] = {}
    faults: list[Fault] = []
    for name in app.ports.log.names(scope.tenant, scope.thread):
        try:
            found[name] = app.ports.log.get(scope.tenant, scope.thread, name)
        except (RecordDamaged, RecordMissing) as fault:
            faults.append(Fault(record=name, index=None, what="the record", how=str(fault)))
    for name, record in found.items():
        if record.parent is not None and record.parent not in found:
            faults.append(_fault(name, record, "its parent", f"{record.parent[:12]} cannot be read"))
    return dict(sorted(found.items(), key=lambda pair: (pair[1].index, pair[0]))), faults


def _bodies(record: DecisionRecord, reading: Reading) -> Iterator[tuple[str, str]]:
    """Every body that a record leads to, with what it is."""
    yield "the user's turn", record.turn_ref
    if record.proposal_ref is not None:
        yield "the proposal", record.proposal_ref
    for seen in record.observations:
        yield f"the result of {seen.call_id}", seen.ref
    manifests = [record.manifest_ref, *(attempt.manifest_ref for attempt in record.attempts)]
    for ref in dict.fromkeys(each for each in manifests if each):
        yield "the manifest", ref
        try:
            manifest = reading.manifest(ref)
        except (ValidationError, RecordDamaged):
            continue  # it was changed, and said so already
        if manifest is not None:
            yield "the policy record", manifest.policy_ref
            for item in manifest.items:
                yield f"the item {item.item_id}", item.ref


def _fault(name: str, record: DecisionRecord, what: str, how: str) -> Fault:
    return Fault(record=name, index=record.index, what=what, how=how)
