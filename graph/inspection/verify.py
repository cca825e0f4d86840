"""Verify: every record, effect, body and attempt of a thread, on all its branches. What changed is named.

Looked at are: each record, its hash and its seal; each row of the ledger, its seal and its result; each body that a
record, the ledger or any checkpoint leads to, over manifests (items, policy record, originals of what was shown in
part) and snapshots (queries, candidates that were left out too); the public names of results; each attempt, rebuilt;
and in checkpoints what they name. A record and a row are known by their seals, a body by its keyed address, an attempt
by the hash of its rebuilt bytes: none of them can be made by whoever can write the database and has not the master
secret. What is missing is missed by what names it: records, checkpoints, the ledger; a body may be gone where the store
says that its thread or subject was forgotten.

Not looked at are the queue of events, rates, leases, and who put a body first: they prove nothing of what was decided,
and no gate takes them for more than they are. Nor what the library or memory hold now.
"""

from html import escape

from graph.app import App
from graph.inspection.behind import Behind
from graph.inspection.chain import checkpoints, filed, missing, saver_of, unsound
from graph.inspection.effects import Effects
from graph.inspection.fault import Fault
from graph.lap_seal import Sealing
from graph.stores.engine import batched
from state.ports import LedgerRow
from state.run import Scope
from state.value import Value


class Verification(Value):
    """What was looked at, what was found changed or missing, and which bodies were forgotten: those are gaps, no
    faults.

    `unsealed` counts records of an earlier release, which filed no seal: their hashes hold, and anyone can make a hash,
    so nothing here proves who filed them. `edited` are the decisions whose lap or task was written into from outside:
    their records say so.
    """

    thread: str
    records: int
    branches: int
    bodies: int
    attempts: int
    faults: tuple[Fault, ...]
    erased: tuple[str, ...] = ()
    unsealed: int = 0
    edited: tuple[int, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing was found changed or missing."""
        return not self.faults

    @property
    def told(self) -> str:
        """The outcome in a few words. What proves itself alone is not called unchanged."""
        if self.faults:
            return "not what was filed"
        if not self.records:
            return "nothing is filed yet"
        if self.unsealed == self.records:
            return "nothing was found changed, and nothing has a seal that proves it"
        return "nothing was found changed in what has a seal" if self.unsealed else "nothing was changed"

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{escape(fault.told)}</li>" for fault in self.faults)
        notes = f", {self.unsealed} without a seal" if self.unsealed else ""
        notes += f", edited from outside: {', '.join(map(str, self.edited))}" if self.edited else ""
        said = f"{len(self.faults)} faults" if self.faults else self.told
        return (
            f"<p>{self.records} records on {self.branches} branches, {self.bodies} bodies, {self.attempts} attempts"
            f"{notes}: <b>{escape(said)}</b></p><ul>{rows}</ul>"
        )


def verify(app: App, thread: str, *, as_: str) -> Verification:
    """Check all that is stored of a thread. Raises UnknownPrincipal, UnknownThread."""
    scope = app.owned(thread, as_=as_)
    # The thread may be at work: what names records is read before them, and the rows that they name after them.
    before, unreadable = _rows(app, scope)
    seen = checkpoints(saver_of(app), scope, Sealing(app.ports.seal))
    found = filed(app.ports.log, scope)
    faults = [*found.faults, *unsound(found, app.ports.seal, scope), *unreadable]
    faults += [*seen.faults, *missing(found, seen, before)]
    behind = Behind(app, scope)
    for names in batched(tuple(found.records)):
        behind.look({name: found.records[name] for name in names})
    behind.look_at_checkpoints(seen)
    behind.look_for_records(Effects(before, found.records), seen)
    behind.look_at_effects(Effects(_rows(app, scope)[0], found.records), seen)
    parents = {record.parent for record in found.records.values()}
    return Verification(
        thread=thread,
        records=len(found.records),
        branches=sum(name not in parents for name in found.records),
        bodies=len(behind.seen),
        attempts=behind.attempts,
        faults=(*faults, *behind.faults),
        erased=tuple(behind.erased),
        unsealed=sum(record.seal is None for record in found.records.values()),
        edited=tuple(sorted({record.index for record in found.records.values() if record.edited})),
    )


def _rows(app: App, scope: Scope) -> tuple[tuple[LedgerRow, ...], tuple[Fault, ...]]:
    found = app.ports.ledger.examined(scope.tenant, scope.thread)
    rows = tuple(row for row in found if row is not None)
    how = "cannot be read: it was changed after it was written"
    spoilt = Fault(record="", index=None, what="a row of the ledger", how=how)
    return rows, (spoilt,) * (len(found) - len(rows))
