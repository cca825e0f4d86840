"""The ledger beside the records: every effect that a record says was done has its row, and each row its result."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from graph.inspection.bodies import Bodies
from graph.inspection.chain import Checkpoints
from graph.inspection.fault import Fault, fault_of
from graph.stores.filed_effects import DONE, begun
from state.ports import LedgerRow
from state.record import DecisionRecord
from state.tools import Observation
from state.verdict import Allowed


class Effects:
    """The ledger's rows of a thread beside its records."""

    def __init__(self, rows: Sequence[LedgerRow], records: Mapping[str, DecisionRecord]) -> None:
        self._rows, self._records = rows, records
        self._behind: dict[str | None, list[tuple[str, DecisionRecord]]] = {}
        for name, record in records.items():
            self._behind.setdefault(record.parent, []).append((name, record))

    def unfiled(self, seen: Checkpoints) -> Iterator[LedgerRow]:
        """The rows that no record files, and that no checkpoint shows as those of a lap that is or was open."""
        for row in self._rows:
            if not self._filing(row) and (row.claim.parent, row.claim.proposal_ref) not in seen.laps:
                yield row

    def unkept(self) -> Iterator[Fault]:
        """What a record says was begun and the ledger does not: the ledger keeps it from being done again."""
        held = {row.claim.key: row for row in self._rows}
        for name, record in self._records.items():
            for verdict, seen in begun(record):
                how = _unlike(held.get(verdict.bound), record, verdict, seen)
                if how is not None:
                    yield fault_of(name, record, f"the effect of {seen.call_id}", how)

    def unkept_of_open_laps(self, seen: Checkpoints) -> Iterator[Fault]:
        """The same of what no record tells of yet, and a checkpoint shows: its lap is open, or was cut off."""
        held = {row.claim.key for row in self._rows}
        filed = {verdict.bound for record in self._records.values() for verdict, _ in begun(record)}
        for key, call_id in sorted(seen.begun):
            if key not in held | filed:
                how = "has no row in the ledger: it was removed, and a checkpoint shows it"
                yield Fault(record="", index=None, what=f"the effect of {call_id}", how=how)

    def changed(self) -> Iterator[Fault]:
        """The rows that are not as the ledger wrote them: no effect runs on their thread."""
        for row in self._rows:
            if not row.intact:
                what = f"the ledger's row of {row.claim.call_id}"
                how = "is not as it was written: no key of ours made its seal"
                filed = [fault_of(name, record, what, how) for name, record in self._filing(row)]
                yield filed[0] if filed else Fault(record="", index=None, what=what, how=how)

    def results(self, bodies: Bodies) -> Iterator[Fault | str]:
        """What is wrong with the results that the rows name; a text for each that was erased."""
        bodies.fetch(row.result_ref for row in self._rows if row.result_ref)
        for row in self._rows:
            if row.result_ref is None:
                continue
            what = f"the ledger's result of {row.claim.call_id}"
            body = bodies.at(row.result_ref)
            if body is None:
                yield what
            elif (how := self._wrong(row, body.text if body.intact else None)) is not None:
                filed = [fault_of(name, record, what, how) for name, record in self._filing(row)]
                yield filed[0] if filed else Fault(record="", index=None, what=what, how=how)

    def _wrong(self, row: LedgerRow, text: str | None) -> str | None:
        if text is None:
            return "was changed after it was stored"
        try:
            result = Observation.model_validate_json(text)
        except ValidationError:
            return "is none: the row names another body"
        claim = row.claim
        if (result.call_id, result.tool, result.arguments_digest) != (
            claim.call_id,
            claim.tool,
            claim.arguments_digest,
        ):
            return "is that of another call"
        filed = (seen for _, record in self._filing(row) for seen in record.observations)
        other = any(seen.call_id == claim.call_id and seen.outcome in DONE and seen != result for seen in filed)
        return "is not the one that the record files" if other else None

    def _filing(self, row: LedgerRow) -> list[tuple[str, DecisionRecord]]:
        """The records of the lap in which a row was claimed, one of each branch. An edited one may not name it."""
        return [
            (name, record)
            for name, record in self._behind.get(row.claim.parent, ())
            if record.edited or record.proposal_ref == row.claim.proposal_ref
        ]


def _unlike(row: LedgerRow | None, record: DecisionRecord, verdict: Allowed, seen: Observation) -> str | None:
    """How a row differs from the effect that a record says was done."""
    if row is None:
        return "has no row in the ledger: it was removed"
    if row.state != "done" and seen.outcome in DONE:
        return f"was done, and is {row.state} in the ledger"
    claim = row.claim
    held = (claim.parent, claim.proposal_ref, claim.opened_by, claim.tool, claim.arguments_digest)
    if held != (record.parent, record.proposal_ref, verdict.opened_by, seen.tool, seen.arguments_digest):
        return "stands in the ledger as that of another call"
    return None
